#!/usr/bin/env bash
# Every header compiles alone. Usage: headers.sh SOURCE_FOLDER GENERATED_FOLDER
set -uo pipefail
cd "$1" || exit 2
# The SIMD bodies are included by their own translation units only, with the flags of one processor level.
find core results bench reports kernels cli cuda hip tests -name '*.h' -not -path '*/node_modules/*' -not -path 'kernels/cpu/run_*' |
  xargs -P 2 -I{} sh -c '
    standard=c++20
    case {} in core/models/*) ;; core/*|kernels/[a-z_]*.h) standard=c++17 ;; esac
    echo "#include \"{}\"" | g++ -std=$standard -DFMT_HEADER_ONLY "-DASSAY_SOURCE_DIR=\"\"" "-DASSAY_BINARY_DIR=\"\"" -I. -I"$0" -Wall -Wextra -fsyntax-only -x c++ - || { echo "{} does not compile alone"; exit 1; }' "$2"
