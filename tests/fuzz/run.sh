#!/usr/bin/env bash
# Builds the fuzz targets with clang's libFuzzer and runs each for a few seconds.
# Usage: run.sh SOURCE_FOLDER BUILD_FOLDER [SECONDS]; SECONDS a target, 10 by default.
set -euo pipefail
source=$1 build=$2 seconds=${3:-10}
compiler=$(command -v clang++ || command -v clang++-14 || true)
[ -n "$compiler" ] || { echo "clang++ is not installed"; exit 77; }
cmake -S "$source" -B "$build" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_C_COMPILER="${compiler/clang++/clang}" \
  -DCMAKE_BUILD_TYPE=RelWithDebInfo -DASSAY_FUZZ=ON -DASSAY_GPU=OFF >"$build.log" 2>&1 || { tail -n 20 "$build.log"; exit 1; }
cmake --build "$build" --target fuzzers >>"$build.log" 2>&1 || { grep -E 'error' "$build.log" | head; exit 1; }
for target in "$build"/fuzz/*_fuzz; do
  name=$(basename "$target")
  corpus=$build/corpus/$name
  mkdir -p "$corpus"
  seeds=$source/tests/fuzz/seeds/$name
  [ -d "$seeds" ] || seeds=
  (cd "$corpus/.." && "$target" -max_total_time="$seconds" -timeout=5 -rss_limit_mb=2048 -max_len=65536 "$corpus" ${seeds:+"$seeds"} >"$name.log" 2>&1) || {
    tail -n 30 "$corpus/../$name.log"
    echo "$name found something"
    exit 1
  }
  echo "$name: $(grep -E 'Done|DONE' "$corpus/../$name.log" | tail -n 1)"
done
