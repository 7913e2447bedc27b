#!/usr/bin/env bash
# The rules of the house, by grep: who may include whom, who may spell a vendor's name, what a file looks like.
# Usage: rules.sh SOURCE_FOLDER. Prints each breach and exits 1 where there is one.
set -uo pipefail
cd "$1" || exit 2
breaches=0
breach() {
  printf '%s\n' "$1"
  breaches=$((breaches + 1))
}

# A folder may include only what is listed for it (and itself).
declare -A may=(
  [core]="core"
  [results]="results core"
  [bench]="bench results core"
  [reports]="reports results core"
  [kernels]="kernels gpu core"
  [gpu]="gpu core"
  [cuda]="cuda gpu core"
  [hip]="hip gpu core"
  [cli]="cli bench reports results core cuda hip"
)
for folder in "${!may[@]}"; do
  while IFS=: read -r file line include; do
    target=${include#*\"}
    target=${target%%/*}
    case " ${may[$folder]} core/generated " in
      *" $target "*) ;;
      *) breach "$file:$line: $folder/ may not include $target/" ;;
    esac
  done < <(grep -rnE '^#include "[a-z_]+/' --include='*.h' --include='*.cpp' --include='*.cu' "$folder")
done

# Only cuda/ and hip/ spell a vendor's name in code (comments may). Exceptions: the device compilers' own macros, the
# names of environment variables worth recording, and what a processor calls itself.
exceptions='^(core/portable\.h|bench/run_info\.cpp|bench/environment\.cpp|kernels/cpu/(openblas|features)\.(cpp|h)):'
vendors='nvidia|\bamd\b|cuda|\brocm|\bhip[A-Z_]|cublas|cudnn|\bnccl|nvml|miopen|\brccl'
while IFS= read -r hit; do breach "$hit: a vendor's name outside cuda/ and hip/"; done < <(
  grep -rnE -i "$vendors" --include='*.h' --include='*.cpp' core results bench reports kernels gpu |
    grep -vE "$exceptions" | grep -vE '^[^:]+:[0-9]+: *//' | sed -E 's@ //.*$@@' | grep -iE "^[^:]+:[0-9]+:.*($vendors)" | cut -c1-120)

# One macro of ours; others only where a comment in this list says why.
macros='^(core/portable\.h|kernels/cpu/bodies[^:]*)|CSV_IO_NO_THREAD|_GNU_SOURCE'
while IFS= read -r hit; do breach "$hit: a macro"; done < <(
  grep -rnE '^ *# *define' --include='*.h' --include='*.cpp' core results bench reports kernels gpu cli cuda hip | grep -vE "$macros")

# Every source file says what it is on its first line, and its licence soon after; none is very long.
while IFS= read -r file; do
  head -n 1 "$file" | grep -qE '^// [^ ]' || breach "$file:1: the first line does not say what the file is"
  head -n 4 "$file" | grep -q 'SPDX-License-Identifier: Apache-2.0' || breach "$file: no SPDX line at the top"
  lines=$(wc -l <"$file")
  [ "$lines" -le 420 ] || breach "$file: $lines lines; is it one subject?"
done < <(find core results bench reports kernels gpu cli cuda hip tests \( -name '*.h' -o -name '*.cpp' -o -name '*.cu' \) -not -path '*/node_modules/*')

# A lock file names packages and hashes, no hosts.
while IFS= read -r file; do
  grep -nE '"resolved"' "$file" && breach "$file: download addresses in a lock file"
done < <(find reports tests -name package-lock.json -not -path '*/node_modules/*')

[ "$breaches" -eq 0 ] && echo "The tree keeps its rules." && exit 0
echo "$breaches breaches."
exit 1
