#!/usr/bin/env bash
# Runs the steps of the GitHub action and of the GitLab template as their runners would, on made-up runs.
# Usage: ci_steps.sh SOURCE_FOLDER BUILD_FOLDER
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
source=$1 build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "ci_steps: $*"; exit 1; }
export PATH="$build/bin:$PATH"

# The value of an input: what is given, else its default in the file.
input() { # name
  local variable="given_${1//-/_}"
  if [ -n "${!variable+x}" ]; then
    printf '%s' "${!variable}"
  else
    awk -v name="  $1:" '$0 == name {inside = 1; next} inside && /^  [a-z-]+:$/ {exit} inside && sub(/^    default: /, "") {gsub(/^"|"$/, ""); print; exit}' "$action"
  fi
}

action=$source/.github/actions/gate/action.yml
run_action() { # expected exit code, then in given_*: the inputs
  local expected=$1 code=0 assignment variable name
  local environment=()
  while read -r assignment; do
    variable=${assignment%%:*}
    name=$(sed -E 's/.*inputs\.([a-z-]+) .*/\1/' <<<"$assignment")
    environment+=("$variable=$(input "$name")")
  done < <(awk '/^      env:$/ {inside = 1; next} /^      run:/ {exit} inside' "$action" | sed 's/^ *//')
  [ ${#environment[@]} -ge 8 ] || fail "the action's env was not understood"
  awk '/^      run: \|$/ {inside = 1; next} inside {sub(/^        /, ""); print}' "$action" >"$work/step.sh"
  (cd "$work" && env "${environment[@]}" GITHUB_STEP_SUMMARY="$work/summary.md" GITHUB_OUTPUT="$work/output" \
    bash --noprofile --norc -eo pipefail step.sh >"$work/log" 2>&1) || code=$?
  [ "$code" -eq "$expected" ] || { cat "$work/log"; fail "the action ended with $code, not $expected"; }
}

"$build/tests/gate_write_sides" "$work/slow" 0.05 8 0
"$build/tests/gate_write_sides" "$work/same" 0 8 0
"$build/tests/gate_write_sides" "$work/few" 0 2 0

given_before=slow/before given_after=slow/after given_assay=assay
run_action 1
grep -q '^::error title=' "$work/log" || fail "no annotation"
grep -q '| SLOWER |' "$work/summary.md" || fail "no job summary"
grep -qx 'outcome=failed' "$work/output" || fail "no outcome"
for file in report.html report.json junit.xml metrics.txt benchmark-before.json benchmark-after.json; do
  [ -s "$work/assay-gate/$file" ] || fail "no $file"
done
given_before=same/before given_after=same/after
run_action 0
given_before=few/before given_after=few/after
run_action 2
grep -qx 'outcome=no-verdict' "$work/output" || fail "no outcome without a verdict"
given_inconclusive=pass
run_action 0
given_before='' given_history=kept given_after=same/before given_no_baseline=record
run_action 0
[ -s "$work/kept/history.jsonl" ] || fail "no history"

# GitLab: each item of the script is a command; a folded one is joined by spaces. Its variables are the job's.
template=$source/docs/ci/gitlab.yml
awk '/^  script:$/ {inside = 1; next} inside && /^  [a-z]/ {exit} inside {
  if (sub(/^    - /, "")) {if (line != "") print line; line = ($0 == ">-") ? "" : $0} else {sub(/^ */, ""); line = line (line == "" ? "" : " ") $0}}
  END {print line}' "$template" >"$work/job.sh"
[ "$(wc -l <"$work/job.sh")" -eq 2 ] || fail "the template's script was not understood"
defaults=()
while IFS= read -r line; do defaults+=("$line"); done < <(
  awk '/^  variables:$/ {inside = 1; next} inside && /^  [a-z]/ {exit} inside {sub(/^    /, ""); sub(/: /, "="); gsub(/"/, ""); print}' "$template")
run_gitlab() { # expected exit code, before, after, more variables
  local expected=$1 code=0
  (cd "$work" && env "${defaults[@]}" ASSAY_BEFORE="$2" ASSAY_AFTER="$3" "${@:4}" bash -e job.sh >"$work/log" 2>&1) || code=$?
  [ "$code" -eq "$expected" ] || { cat "$work/log"; fail "the template ended with $code, not $expected"; }
}
run_gitlab 1 slow/before slow/after
run_gitlab 0 same/before same/after ASSAY_SUBJECT=driver
run_gitlab 2 few/before few/after

# Its readers, where they are installed.
if command -v xmllint >/dev/null; then xmllint --noout "$work/assay-gate/junit.xml" || fail "junit.xml is no XML"; fi
read_by_compare() {
  local compare python
  compare=$(dpkg -L libbenchmark-tools 2>/dev/null | grep '/compare\.py$') || return 0
  for python in python3 /usr/bin/python3; do
    "$python" -c 'import scipy, numpy' 2>/dev/null || continue
    "$python" "$compare" --no-color benchmarks "$work/assay-gate/benchmark-before.json" "$work/assay-gate/benchmark-after.json" \
      >"$work/compared" || { cat "$work/compared"; fail "compare.py does not read them"; }
    grep -q 'gemm/bf16/square/1024_pvalue' "$work/compared" || fail "compare.py found no repetitions"
    echo "Google Benchmark's compare.py reads the files."
    return
  done
}
given_before=slow/before given_after=slow/after given_no_baseline=fail
unset given_history given_inconclusive
run_action 1
read_by_compare
echo "The action and the template do what they say."
