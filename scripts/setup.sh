# Sourced by scripts/evaluate and scripts/test: finds or installs what the build needs, on Debian and its kin.
# shellcheck shell=bash

# What `evaluate` needs. The measuring libraries are opened at run time, so only their rows go missing without them.
build_packages=(g++ cmake ninja-build libbenchmark-dev nlohmann-json3-dev libcli11-dev libfmt-dev libfccp-dev
  libkainjow-mustache-dev zlib1g-dev libdnnl-dev libopenblas0-openmp ca-certificates)
# What the tests need on top.
test_packages=(libgtest-dev libgmock-dev clang libclang-rt-14-dev libomp-14-dev clang-format chromium fonts-dejavu-core binutils util-linux)

say() { printf '%s\n' "$*" >&2; }

installed() { [ "$(dpkg-query -W -f='${db:Status-Abbrev}' "$1" 2>/dev/null)" = "ii " ]; }

# ensure_packages PACKAGE...: installs what is missing as root; else prints the one command that is needed and stops.
ensure_packages() {
  if ! command -v dpkg-query >/dev/null 2>&1; then
    say "This is not a Debian-like system, so nothing was installed; the build says what it misses."
    return 0
  fi
  local missing=() package
  for package in "$@"; do installed "$package" || missing+=("$package"); done
  # Node.js may have come from elsewhere than Debian; only its absence matters.
  command -v npm >/dev/null 2>&1 || missing+=(nodejs npm)
  [ ${#missing[@]} -eq 0 ] && return 0
  if [ "$(id -u)" -ne 0 ]; then
    say "Some packages are missing. Have an administrator run this, then start again:"
    say ""
    say "  apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
    exit 64
  fi
  say "Installing: ${missing[*]}"
  local log
  log=$(mktemp)
  if ! { apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    say "The packages above could not be installed (whole log: $log)."
    exit 70
  fi
  rm -f "$log"
}

# configure_and_build PRESET [cmake options...]: quiet when it works, the last lines when it does not.
configure_and_build() {
  local preset=$1 log
  shift
  log="build/$preset.log"
  mkdir -p build
  if ! cmake --preset "$preset" "$@" >"$log" 2>&1; then
    tail -n 30 "$log" >&2
    say "Configuring failed (whole log: $PWD/$log)."
    exit 70
  fi
  grep -E '^-- [✓✗]' "$log" | sed 's/^-- /  /' >&2 || true
  if ! cmake --build --preset "$preset" >>"$log" 2>&1; then
    grep -E 'error|warning|FAILED' "$log" | head -n 20 >&2
    tail -n 20 "$log" >&2
    say "Building failed (whole log: $PWD/$log)."
    exit 70
  fi
}

# True where a GPU that a plug-in could use can be seen, usable or not.
gpu_visible() {
  local node vendor
  for node in /dev/nvidia[0-9]* /dev/dxg /dev/kfd; do [ -e "$node" ] && return 0; done
  for vendor in /sys/bus/pci/devices/*/vendor; do
    case "$(cat "$vendor" 2>/dev/null)" in 0x10de | 0x1002)
      case "$(cat "${vendor%vendor}class" 2>/dev/null)" in 0x03* | 0x12*) return 0 ;; esac ;;
    esac
  done
  return 1
}

# Fills gpu_options with what cmake needs to compile kernels for this machine's GPUs and no others: for all
# architectures it takes minutes of a rented hour.
choose_gpu_options() {
  gpu_options=(-DASSAY_GPU=ON -DASSAY_CUDA_ARCHITECTURES= -DASSAY_HIP_ARCHITECTURES=)
  if ! gpu_visible; then
    say "No GPU is visible here, so only the processor's plug-in is built."
    gpu_options=(-DASSAY_GPU=OFF)
    return 0
  fi
  local found
  found=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | tr -d '. ' | grep -E '^[0-9]+$' | sort -un | paste -sd ';') || true
  [ -z "$found" ] || gpu_options=(-DASSAY_GPU=ON "-DASSAY_CUDA_ARCHITECTURES=$found")
  found=$(amd_architectures)
  [ -z "$found" ] || gpu_options+=("-DASSAY_HIP_ARCHITECTURES=$found")
}

# The architectures of AMD's cards here as the kernel driver knows them, "gfx90a;gfx942". It writes 9.4.2 as 90402, and
# names count on in letters from 9.
amd_architectures() {
  local node version
  for node in /sys/class/kfd/kfd/topology/nodes/*/properties; do
    version=$(sed -n 's/^gfx_target_version //p' "$node" 2>/dev/null) || true
    if [ "${version:-0}" -gt 0 ]; then
      printf 'gfx%d%x%x\n' $((version / 10000)) $((version / 100 % 100)) $((version % 100))
    fi
  done | sort -u | paste -sd ';'
}

# True where AMD's own ROCm is installed; then the build uses it and nothing else.
rocm_here() {
  local folder
  for folder in "${ROCM_PATH:-}" "${HIP_PATH:-}" /opt/rocm; do
    if [ -n "$folder" ] && [ -r "$folder/include/hip/hip_runtime.h" ]; then return 0; fi
  done
  return 1
}

# Fills hip_options with what cmake needs to compile AMD's plug-in where nobody installed a ROCm, and hip_missing with
# what could not be had, in a sentence. Compiling for three architectures meets both widths of wavefronts and both kinds
# of matrix instructions; the others are the same source and would cost two minutes more.
choose_hip_options() {
  hip_options=(-DASSAY_HIP_SYSROOT= "-DASSAY_HIP_ARCHITECTURES=gfx90a;gfx942;gfx1100")
  hip_missing=""
  if rocm_here; then return 0; fi
  if bash scripts/hip-sysroot.sh build/hip-sysroot; then
    hip_options[0]="-DASSAY_HIP_SYSROOT=$PWD/build/hip-sysroot"
    return 0
  fi
  say ""
  say "!! AMD's newer headers and libraries could not be had; trying the HIP packages of this release instead."
  hip_missing="AMD's libraries (hipBLASLt, hipBLAS, MIOpen, RCCL, ROCm SMI) could not be fetched, so nothing was linked against them"
  if ! command -v hipcc >/dev/null && [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
    DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends hipcc libamdhip64-dev >/dev/null 2>&1 || true
  fi
  if ! command -v hipcc >/dev/null; then
    hip_missing+=", and without hipcc AMD's plug-in was not compiled at all"
    say "!! There is no hipcc either: AMD's plug-in is not compiled here."
  fi
}
