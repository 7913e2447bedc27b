#!/usr/bin/env bash
# Makes a folder of AMD's headers, libraries and device code to compile and link the HIP plug-in against on Debian 12,
# where there is no ROCm. Usage: scripts/hip-sysroot.sh [folder], by default build/hip-sysroot. Quiet when it is there.
# SPDX-License-Identifier: Apache-2.0
#
# Nothing is installed but a compiler, and nothing of AMD's enters the tree: packages of newer releases are fetched from
# the system's own mirror by an apt of its own (which checks the signatures) and unpacked. They cannot be loaded here,
# since they want a newer C library; compiling and linking against them is the proof that names and types are right.
set -euo pipefail
cd "$(dirname "$0")/.."

root=${1:-build/hip-sysroot}
compiler_packages=(clang-19 lld-19 clang-tools-19 llvm-19 libdrm-dev) # clang-tools-19 holds clang-offload-bundler
library_packages=(libamdhip64-dev libamdhip64-6 libhipblas-dev libhipblas2 libhipblas-common-dev libhipblaslt-dev
  libhipblaslt1 libmiopen-dev libmiopen1 librccl-dev librccl1 librocm-smi-dev librocm-smi64-1)
# clang-19 reads device code of LLVM 17, not the one of LLVM 21 that goes with the libraries.
device_code_packages=(rocm-device-libs-17)
recipe="sid ${library_packages[*]} trixie ${device_code_packages[*]} 1" # another recipe makes another folder

say() { printf '%s\n' "$*" >&2; }
give_up() {
  say "$*"
  exit 70
}

[ "$(cat "$root/recipe" 2>/dev/null || true)" = "$recipe" ] && command -v clang++-19 >/dev/null && exit 0

command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || give_up "This is no Debian-like system: install ROCm and build with it."
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
[ -r "$keyring" ] || give_up "There is no $keyring to check what would be downloaded (package debian-archive-keyring)."
# What this system itself is installed from, but for the security updates, which other releases have elsewhere.
find_mirror() {
  apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2>/dev/null | grep -v security | grep debian | sort -u | head -n 1
}
mirror=$(find_mirror || true)
if [ -z "$mirror" ] && [ "$(id -u)" -eq 0 ]; then
  apt-get -qq update >/dev/null 2>&1 || true
  mirror=$(find_mirror || true)
fi
[ -n "$mirror" ] || give_up "apt knows no Debian mirror here (has apt-get update been run?)."

missing=()
for package in "${compiler_packages[@]}"; do
  [ "$(dpkg-query -W -f='${db:Status-Abbrev}' "$package" 2>/dev/null || true)" = "ii " ] || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
  [ "$(id -u)" -eq 0 ] || give_up "Have an administrator run: apt-get install -y --no-install-recommends ${missing[*]}"
  say "Installing: ${missing[*]}"
  install() { DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "${missing[@]}" >/dev/null 2>&1; }
  install || { apt-get -qq update >/dev/null 2>&1 && install; } ||
    give_up "These packages could not be installed: ${missing[*]}"
fi

say "Unpacking AMD's headers and libraries into $root (330 MB to download) ..."
mkdir -p "$(dirname "$root")"
work=$(mktemp -d "$(dirname "$root")/hip-sysroot.XXXXXX")
trap 'rm -rf "$work"' EXIT
work=$(readlink -f "$work")
log=$work/log

# fetch SUITE PACKAGE...: into $work/SUITE/debs, by an apt that knows that suite alone and takes nothing for installed.
fetch() {
  local suite=$1 base=$work/$1
  shift
  mkdir -p "$base"/{lists/partial,cache/archives/partial,debs}
  : >"$base/status"
  printf 'deb [signed-by=%s] %s %s main\n' "$keyring" "$mirror" "$suite" >"$base/sources.list"
  local options=(-o "Dir::Etc::sourcelist=$base/sources.list" -o Dir::Etc::sourceparts=- -o Dir::Etc::preferencesparts=-
    -o "Dir::State::lists=$base/lists" -o "Dir::State::status=$base/status" -o "Dir::Cache=$base/cache"
    -o APT::Sandbox::User=root -o Acquire::Languages=none -o Acquire::Check-Valid-Until=false) # mirrors may stand still
  apt-get -qq "${options[@]}" update >>"$log" 2>&1 || return 1
  (cd "$base/debs" && apt-get -qq "${options[@]}" download "$@") >>"$log" 2>&1
}

# Kernels of AMD's own libraries and documentation are most of the bytes and needed by nobody who only links.
unpack() {
  local package
  for package in "$work"/*/debs/*.deb; do
    dpkg-deb --fsys-tarfile "$package" | tar x -C "$work/root" --exclude='*/hipblaslt/library/*' \
      --exclude='*/rocblas/*/library/*' --exclude='./usr/share/doc/*' --exclude='./usr/share/miopen/*'
  done
}

mkdir -p "$work/root"
if ! fetch sid "${library_packages[@]}" || ! fetch trixie "${device_code_packages[@]}" || ! unpack; then
  tail -n 5 "$log" >&2
  give_up "AMD's packages could not be fetched from this system's mirror: the HIP plug-in cannot be compiled here."
fi
printf '%s\n' "$recipe" >"$work/root/recipe"
rm -rf "$root"
mv "$work/root" "$root"
