#!/usr/bin/env bash
# Proves the gate on this machine's processor: gates of one state against itself raise nothing, and a slowdown that is
# planted is found. Not part of the tests: it takes a quiet machine for about half an hour.
# Usage: tests/gate/on_this_machine.sh BUILD_FOLDER [WORK_FOLDER]; GATES=20 RUNS=8 FACTOR=1.10 FILTER=REGEX
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
build=$(readlink -f "${1:?usage: tests/gate/on_this_machine.sh BUILD_FOLDER [WORK_FOLDER]}")
work=${2:-$(mktemp -d)}
gates=${GATES:-20} runs=${RUNS:-8} factor=${FACTOR:-1.10}
filter=${FILTER:-'^(gemm/fp32/square/(256|512|1024)|latency/(16KiB|64KiB)|memory/triad/plain/(16KiB|64KiB)|launch/barrier)$'}
assay=$build/bin/assay
slowed=$build/test-plugins/slowed
[ -x "$assay" ] && [ -e "$slowed/assay_cpu.so" ] || { echo "build the targets assay, assay_plugin_cpu and assay_plugin_slowed first"; exit 64; }
mkdir -p "$work"
echo "Runs are kept in $work; call again with it as WORK_FOLDER to go on."

measure() { # folder, plug-ins or nothing
  grep -qs '"ending": *"complete"' "$1/run.json" && return
  local code plugins=() try
  [ -z "${2:-}" ] || plugins=(--plugins "$2")
  for try in 1 2 3; do # a disturbed run is measured anew: for its conditions, never for its values
    code=0
    ASSAY_PLANTED=$factor "$assay" "${plugins[@]}" run --filter "$filter" --device cpu --quiet --force --out "$1" || code=$?
    [ "$code" -le 1 ] || exit "$code"
    grep -Eq '(,|")(other_load|other_process)[,"]' "$1/results.csv" || break
  done
}

# Both states and the slowed one in turn, so that drift is no difference: A B P, P B A, ...
for ((gate = 1; gate <= gates; gate++)); do
  for ((run = 1; run <= runs; run++)); do
    order=(before after planted)
    [ $((run % 2)) -eq 1 ] || order=(planted after before)
    for side in "${order[@]}"; do
      mkdir -p "$work/$gate/$side"
      if [ "$side" = planted ]; then measure "$work/$gate/$side/$run" "$slowed"; else measure "$work/$gate/$side/$run"; fi
    done
  done
  echo "$gate of $gates gates measured"
done

judge() { # gate, side, more options: prints exit code and summary
  local gate=$1 side=$2 code=0
  shift 2
  "$assay" gate --before "$work/$gate/before" --after "$work/$gate/$side" "$@" --force --out "$work/$gate/$side.md" \
    >"$work/$gate/$side.txt" || code=$?
  printf '%s %s\n' "$code" "$(grep -m 1 '^.*The gate ' "$work/$gate/$side.md" | sed 's/^[^T]*//')"
}

alarms=0 judged=0 found=0 refused=0
for ((gate = 1; gate <= gates; gate++)); do
  same=$(judge "$gate" after)
  slow=$(judge "$gate" planted --planted)
  unmarked=$(judge "$gate" planted)
  echo "gate $gate: same state: $same"
  echo "gate $gate: planted: $slow"
  [[ $same != 1* ]] || alarms=$((alarms + 1))
  [[ $same != *OK* ]] || judged=$((judged + 1))
  [[ $slow != 1* ]] || found=$((found + 1))
  [[ $unmarked != 2* ]] || refused=$((refused + 1)) # without --planted such rows count for nothing
done
wanted=$((gates * 19 / 20))
echo "same state: $alarms of $gates gates called something slower (wanted: 0); $judged of them called something OK"
echo "planted $factor: found by $found of $gates (wanted: $wanted at least)"
echo "planted rows refused without --planted: $refused of $gates (wanted: all)"
[ "$alarms" -eq 0 ] && [ "$found" -ge "$wanted" ] && [ "$refused" -eq "$gates" ] && [ "$judged" -ge "$wanted" ]
