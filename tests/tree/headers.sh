#!/usr/bin/env bash
# Every header compiles alone. Usage: headers.sh SOURCE_FOLDER GENERATED_FOLDER [NVCC TOOLKIT_INCLUDE_FOLDER]
# Headers of the GPU source are compiled against the vendor that the tests pretend; those of cuda/ and hip/ against the
# vendor's toolkit, and only where there is one.
set -uo pipefail
cd "$1" || exit 2
generated=$2
nvcc=${3:-}
toolkit=${4:-}

check() { # by the host compiler: standard, header, more options
  local standard=$1 header=$2
  shift 2
  echo "#include \"$header\"" | g++ "-std=$standard" "-DASSAY_SOURCE_DIR=\"\"" "-DASSAY_BINARY_DIR=\"\"" \
    "-DASSAY_FAKE_NVML=\"\"" -fopenmp-simd "$@" -I. "-I$generated" -Wall -Wextra -fsyntax-only -x c++ - || { echo "$header does not compile alone"; exit 1; }
}

# by nvcc, for what only a device compiler understands
check_device() {
  local work
  work=$(mktemp -d)
  echo "#include \"$1\"" >"$work/alone.cu"
  "$nvcc" -std=c++17 -arch=sm_80 -I. -Icuda "-I$generated" -ptx -o "$work/alone.ptx" "$work/alone.cu" || echo "$1 does not compile alone" >"$work/bad"
  if [ -e "$work/bad" ]; then cat "$work/bad"; rm -r "$work"; exit 1; fi
  rm -r "$work"
}

# by AMD's compiler, which tests/tree/CMakeLists.txt names with its options
check_amd() {
  echo "#include \"$1\"" | $ASSAY_HIP_COMPILE -I. -Ihip "-I$generated" -Wall -Wextra -fsyntax-only - || { echo "$1 does not compile alone"; exit 1; }
}

one() {
  case $1 in
    cuda/presence.h | cuda/availability.h) check c++20 "$1" ;;
    cuda/*)
      [ -n "$nvcc" ] || exit 0
      if grep -qE '__device__|"(lanes|vendor)\.h"' "$1"; then check_device "$1"; else check c++20 "$1" -Icuda -isystem "$toolkit"; fi ;;
    hip/presence.h | hip/architectures.h | hip/availability.h | hip/matrix_types.h | hip/matrix_issue.h | \
      hip/rocm.h | hip/rocm_smi.h) check c++20 "$1" ;;
    hip/hipblas*) # where the library's own header is
      [ -n "${ASSAY_HIP_COMPILE:-}" ] && echo '#include <hipblaslt/hipblaslt.h>' | $ASSAY_HIP_COMPILE -fsyntax-only - 2>/dev/null || exit 0
      check_amd "$1" ;;
    hip/*) [ -z "${ASSAY_HIP_COMPILE:-}" ] || check_amd "$1" ;;
    gpu/launch_by_address.h) ;; # where kernels have addresses: read with cuda/launching.h and hip/launching.h
    gpu/* | kernels/gpu/*) check c++17 "$1" -Itests/host_vendor ;;
    tests/host_vendor/* | tests/kernels/gpu_*) check c++20 "$1" -Itests/host_vendor ;;
    core/models/*) check c++20 "$1" ;;
    core/* | kernels/[a-z_]*.h) check c++17 "$1" ;;
    *) check c++20 "$1" ;;
  esac
}
export generated nvcc toolkit
export -f check check_device check_amd one
# The SIMD bodies are included by their own translation units only, with the flags of one processor level.
find core results bench reports kernels gpu cli cuda hip tests -name '*.h' -not -path '*/node_modules/*' -not -path 'kernels/cpu/run_*' |
  xargs -P 2 -I{} bash -c 'one {}'
