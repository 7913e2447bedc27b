#!/usr/bin/env bash
# The kernels that measure issue rates hold the matrix instructions meant, on each architecture they were built for.
# Usage: instructions.sh OBJECT COMPILER ARCHITECTURE... Takes the code out of the object with the compiler's own tools.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
object=$1
tools=$(dirname "$(readlink -f "$2")")
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# By AMD's instruction set manuals (MI100, CDNA2 to CDNA4, RDNA3, RDNA4): what each generation has of what is measured.
meant() {
  case $1 in
    gfx908) echo v_mfma_f32_32x32x8f16 v_mfma_f32_32x32x4bf16 v_mfma_f32_32x32x2f32 v_mfma_i32_32x32x8i8 ;;
    gfx90a) echo v_mfma_f32_32x32x8f16 v_mfma_f32_32x32x8bf16_1k v_mfma_f32_32x32x2f32 v_mfma_i32_32x32x8i8 v_mfma_f64_16x16x4f64 ;;
    gfx942) echo v_mfma_f32_32x32x8_f16 v_mfma_f32_32x32x8_bf16 v_mfma_f32_32x32x2_f32 v_mfma_f32_32x32x4_xf32 v_mfma_i32_32x32x16_i8 \
      v_mfma_f32_32x32x16_fp8_fp8 v_mfma_f32_32x32x16_bf8_bf8 v_mfma_f64_16x16x4_f64 ;;
    gfx950) echo v_mfma_f32_32x32x8_f16 v_mfma_f32_32x32x8_bf16 v_mfma_f32_32x32x2_f32 v_mfma_i32_32x32x16_i8 v_mfma_f64_16x16x4_f64 \
      v_mfma_f32_32x32x16_fp8_fp8 v_mfma_f32_32x32x16_bf8_bf8 v_mfma_f32_32x32x16_f16 v_mfma_f32_32x32x16_bf16 v_mfma_i32_32x32x32_i8 \
      v_mfma_scale_f32_32x32x64_f8f6f4 v_mfma_scale_f32_32x32x64_f8f6f4 ;; # MXFP8 and MXFP4
    gfx1100) echo v_wmma_f32_16x16x16_f16 v_wmma_f16_16x16x16_f16 v_wmma_f32_16x16x16_bf16 v_wmma_i32_16x16x16_iu8 ;;
    gfx1201) echo v_wmma_f32_16x16x16_f16 v_wmma_f32_16x16x16_bf16 v_wmma_i32_16x16x16_iu8 v_wmma_f32_16x16x16_fp8_fp8 v_wmma_f32_16x16x16_bf8_bf8 ;;
    *) ;; # no matrix units
  esac
}

objcopy --dump-section ".hip_fatbin=$work/all" "$object" /dev/null
wrong=0
for architecture in "$@"; do
  target=$("$tools/clang-offload-bundler" --list --type=o --input="$work/all" | grep -E -- "--$architecture(:|$)")
  "$tools/clang-offload-bundler" --unbundle --type=o --input="$work/all" --targets="$target" --output="$work/code"
  "$tools/llvm-objdump" -d --no-show-raw-insn "$work/code" >"$work/text"
  # In each kernel that multiplies: four products to begin with and eight in the loop, all by one instruction.
  awk '/^[0-9a-f]+ <.*>:$/ { kernel = $2 } /^[ \t]+v_s?(w?mma|mfma)/ { print kernel, $1 }' "$work/text" | sort | uniq -c >"$work/found"
  while read -r count kernel instruction; do
    if [ "$count" -ne 12 ]; then
      echo "$architecture: $instruction occurs $count times in $kernel, and 12 were meant"
      wrong=1
    fi
  done <"$work/found"
  if ! diff <(meant "$architecture" | tr ' ' '\n' | grep . | sort) <(awk '{ print $3 }' "$work/found" | sort) >"$work/difference"; then
    echo "$architecture: < is missing or > was not meant:"
    cat "$work/difference"
    wrong=1
  fi
done
if [ "$wrong" -eq 0 ]; then echo "As meant on $*."; fi
exit "$wrong"
