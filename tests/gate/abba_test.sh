#!/usr/bin/env bash
# scripts/abba: the order of the sides, going on after a reboot, and what it refuses. Measures with a stand-in for assay.
# Usage: abba_test.sh SOURCE_FOLDER
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
abba=$1/scripts/abba
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "abba: $*"; exit 1; }

# Leaves a complete run, or an unfinished one where the file `cut` is there, and notes the order.
cat >assay <<'STANDIN'
#!/usr/bin/env bash
while [ "$1" != --out ]; do shift; done
mkdir -p "$2"
ending=complete
if [ -e cut ]; then ending=interrupted; rm cut; fi
printf '{\n "ending": "%s"\n}\n' "$ending" >"$2/run.json"
conditions=few_samples
if [ -e busy ]; then conditions='"few_samples,other_load"'; rm busy; fi
printf 'conditions,status\n%s,ok\n' "$conditions" >"$2/results.csv"
echo "$(cat state 2>/dev/null || echo -) $2" >>order
[ "$ending" = complete ] || exit 130
STANDIN
chmod +x assay
check() { # expected exit code, command
  local expected=$1 code=0
  shift
  "$@" >out 2>&1 || code=$?
  [ "$code" -eq "$expected" ] || { cat out; fail "ended with $code, not $expected: $*"; }
}

check 0 "$abba" --folder kept --runs 3 --to-before 'echo b >state' --to-after 'echo a >state' --assay ./assay -- --profile quick
[ "$(cut -d' ' -f1 order | tr -d '\n')" = baabba ] || fail "the order is $(cut -d' ' -f1 order | tr -d '\n')"
[ "$(cut -d' ' -f2 order | sort | tr '\n' ' ')" = "kept/after/001 kept/after/002 kept/after/003 kept/before/001 kept/before/002 kept/before/003 " ] || fail "the folders"
check 0 "$abba" --folder kept --runs 3 --to-before 'echo b >state' --to-after 'echo a >state' --assay ./assay
[ "$(wc -l <order)" -eq 6 ] || fail "what was there was measured again"

# Over reboots: one state at a time, and the order holds.
rm order
echo b >state
check 3 "$abba" --folder boots --runs 2 --now before --assay ./assay
grep -q "next is a run of the state 'after' (turn 2 of 4)" out || fail "it does not say what comes next"
echo a >state
check 3 "$abba" --folder boots --runs 2 --now after --assay ./assay
check 3 "$abba" --folder boots --runs 2 --now after --assay ./assay # a second call changes nothing
echo b >state
check 0 "$abba" --folder boots --runs 2 --now before --assay ./assay
[ "$(cut -d' ' -f1 order | tr -d '\n')" = baab ] || fail "over reboots the order is $(cut -d' ' -f1 order | tr -d '\n')"

# A run that was cut short is measured again.
rm order
touch cut
check 130 "$abba" --folder cuts --runs 1 --to-before true --to-after true --assay ./assay
check 0 "$abba" --folder cuts --runs 1 --to-before true --to-after true --assay ./assay
[ "$(wc -l <order)" -eq 3 ] || fail "the unfinished run was kept"
check 1 "$abba" --folder bad --runs 1 --to-before false --to-after true --assay ./assay

# One that was disturbed is measured anew.
rm order
touch busy
check 0 "$abba" --folder busy_machine --runs 1 --to-before true --to-after true --assay ./assay
[ "$(wc -l <order)" -eq 3 ] || fail "the disturbed run was kept"
grep -q 'disturbed; once more' out || fail "it does not say why it measures again"
rm order
touch busy
check 0 "$abba" --folder busy_again --runs 1 --again 0 --to-before true --to-after true --assay ./assay
[ "$(wc -l <order)" -eq 2 ] || fail "--again 0 measured again"

check 64 "$abba" --folder x --again no --now before --assay ./assay
check 64 "$abba" --folder x --runs 0 --now before --assay ./assay
check 64 "$abba" --folder x --now sideways --assay ./assay
check 64 "$abba" --runs 3
check 64 "$abba" --folder x --now before --assay ./nowhere
echo "scripts/abba alternates, goes on, and refuses what it must."
