# Sourced by scripts/evaluate and scripts/test: finds or installs what the build needs, on Debian and its kin.
# shellcheck shell=bash

# What `evaluate` needs. The measuring libraries are opened at run time, so only their rows go missing without them.
build_packages=(g++ cmake ninja-build libbenchmark-dev nlohmann-json3-dev libcli11-dev libfmt-dev libfccp-dev
  libkainjow-mustache-dev libtomlplusplus-dev zlib1g-dev libdnnl-dev libopenblas0-openmp ca-certificates)
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
  gpu_options=(-DASSAY_GPU=ON -DASSAY_CUDA_ARCHITECTURES=)
  if ! gpu_visible; then
    say "No GPU is visible here, so only the processor's plug-in is built."
    gpu_options=(-DASSAY_GPU=OFF)
    return 0
  fi
  local found
  found=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | tr -d '. ' | grep -E '^[0-9]+$' | sort -un | paste -sd ';') || true
  [ -z "$found" ] || gpu_options=(-DASSAY_GPU=ON "-DASSAY_CUDA_ARCHITECTURES=$found")
}
