#!/usr/bin/env bash
# Runs each fuzz target for a few seconds, from its seeds and from what earlier runs have found.
# Usage: run.sh FOLDER_OF_TARGETS [SECONDS]; SECONDS a target, 10 by default.
set -euo pipefail
targets=$1 seconds=${2:-10}
seeds=$(cd "$(dirname "$0")" && pwd)/seeds
ran=0
for target in "$targets"/*_fuzz; do
  name=$(basename "$target")
  corpus=$targets/corpus/$name
  mkdir -p "$corpus"
  from=$seeds/$name
  [ -d "$from" ] || from=
  (cd "$corpus/.." && "$target" -max_total_time="$seconds" -timeout=5 -rss_limit_mb=2048 -max_len=65536 "$corpus" ${from:+"$from"} >"$name.log" 2>&1) || {
    tail -n 30 "$corpus/../$name.log"
    echo "$name found something"
    exit 1
  }
  echo "$name: $(grep -E 'Done|DONE' "$corpus/../$name.log" | tail -n 1)"
  ran=$((ran + 1))
done
[ "$ran" -gt 0 ] || { echo "no fuzz target is in $targets"; exit 1; }
