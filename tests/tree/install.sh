#!/usr/bin/env bash
# Installs into an empty folder, moves it, and runs it as a plain user with an empty environment.
# Usage: install.sh BUILD_FOLDER
set -euo pipefail
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "install: $*"; exit 1; }

cmake --install "$build" --prefix "$work/first" >/dev/null
mv "$work/first" "$work/moved"
chmod -R a+rX "$work"
program=$work/moved/bin/assay

# Nothing outside the tree but libc and the compiler's runtime. AMD's plug-in alone is linked to the runtime of the machine
# that it is for, and stays behind, with a sentence, where there is none.
for file in "$program" "$work"/moved/lib/assay/*.so*; do
  [ -L "$file" ] && continue
  while read -r name arrow path _; do
    case "$name" in
      linux-vdso.so.1 | /lib64/ld-linux-* | libc.so.6 | libm.so.6 | libdl.so.2 | libpthread.so.0 | librt.so.1) ;;
      libstdc++.so.6 | libgcc_s.so.1 | libgomp.so.1) ;;
      libamdhip64.so.*) [ "$(basename "$file")" = assay_hip.so ] || fail "$(basename "$file") needs $name" ;;
      *) case "$path" in "$work"/*) ;; *) fail "$(basename "$file") needs $name $arrow $path" ;; esac ;;
    esac
  done < <(ldd "$file")
  newest=$(objdump -T "$file" | grep -oE 'GLIBC_2\.[0-9]+' | sort -uV | tail -n 1)
  [ "$(printf '%s\nGLIBC_2.35\n' "$newest" | sort -V | tail -n 1)" = GLIBC_2.35 ] || fail "$(basename "$file") needs $newest"
done

as_user() { # runs as a plain user with an empty environment
  if [ "$(id -u)" -eq 0 ]; then
    setpriv --reuid=65534 --regid=65534 --clear-groups env -i "$@"
  else
    env -i "$@"
  fi
}
home=$work/home
mkdir "$home" && chmod 777 "$home"
cd "$home"
as_user "$program" --version >/dev/null || fail "--version fails"
# Into files, not pipes: grep -q would close the pipe early, and the program would rightly die of it.
as_user "$program" list models >models.txt || fail "list models fails"
grep -q llama-3-8b models.txt || fail "list models does not know llama-3-8b"
as_user "$program" list devices >devices.txt || fail "list devices fails"
grep -q '^cpu:0' devices.txt || fail "no device found by the installed plug-ins"
as_user "$program" run --filter '^launch/' --device cpu --out run >out.txt 2>&1 || { cat out.txt; fail "run fails"; }
as_user "$program" report run --model gpt2 --out report.html >out.txt 2>&1 || [ $? -le 2 ] || { cat out.txt; fail "report fails"; }
[ -s report.html ] || fail "no report.html"
echo "The installed tree works for a plain user with an empty environment."
