#!/usr/bin/env bash
# All sources are formatted by .clang-format. Usage: format.sh SOURCE_FOLDER
cd "$1" || exit 2
command -v clang-format >/dev/null || { echo "clang-format is not installed"; exit 77; }
find core results bench reports kernels gpu cli cuda hip tests \( -name '*.h' -o -name '*.cpp' -o -name '*.cu' \) -not -path '*/node_modules/*' -print0 |
  xargs -0 clang-format --dry-run --Werror
