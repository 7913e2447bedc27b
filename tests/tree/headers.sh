#!/usr/bin/env bash
# Every header compiles alone. Usage: headers.sh SOURCE_FOLDER GENERATED_FOLDER [NVCC TOOLKIT_INCLUDE_FOLDER]
# Headers of the GPU source are compiled against the vendor that the tests pretend; those of cuda/ against the toolkit,
# and only where there is one.
set -uo pipefail
cd "$1" || exit 2
generated=$2
nvcc=${3:-}
toolkit=${4:-}

check() { # by the host compiler: standard, header, more options
  local standard=$1 header=$2
  shift 2
  echo "#include \"$header\"" | g++ "-std=$standard" -DFMT_HEADER_ONLY "-DASSAY_SOURCE_DIR=\"\"" "-DASSAY_BINARY_DIR=\"\"" \
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

one() {
  case $1 in
    cuda/presence.h | cuda/availability.h) check c++20 "$1" ;;
    cuda/*)
      [ -n "$nvcc" ] || exit 0
      if grep -qE '__device__|"(lanes|vendor)\.h"' "$1"; then check_device "$1"; else check c++20 "$1" -Icuda -isystem "$toolkit"; fi ;;
    hip/presence.h | hip/architectures.h | hip/availability.h | hip/matrix_types.h | hip/matrix_issue_kernels.h | \
      hip/topology.h | hip/devices_by_place.h | hip/card_files.h | hip/rocm_smi.h | hip/telemetry.h) check c++20 "$1" ;;
    hip/*)  # only its compiler and its headers can say, and those are in a folder that is rarely there
      [ -n "${ASSAY_HIP_ROOT:-}" ] || exit 0
      if grep -qE '__device__|"(lanes|vendor)\.h"|hip_runtime\.h' "$1"; then exit 0; fi
      check c++20 "$1" -Ihip -D__HIP_PLATFORM_AMD__ -isystem "$ASSAY_HIP_ROOT/include" ;;
    kernels/gpu/*) check c++17 "$1" -Itests/host_vendor ;;
    tests/host_vendor/* | tests/kernels/gpu_*) check c++20 "$1" -Itests/host_vendor ;;
    core/models/*) check c++20 "$1" ;;
    core/* | kernels/[a-z_]*.h) check c++17 "$1" ;;
    *) check c++20 "$1" ;;
  esac
}
export generated nvcc toolkit
export -f check check_device one
# The SIMD bodies are included by their own translation units only, with the flags of one processor level.
find core results bench reports kernels cli cuda hip tests -name '*.h' -not -path '*/node_modules/*' -not -path 'kernels/cpu/run_*' |
  xargs -P 2 -I{} bash -c 'one {}'
