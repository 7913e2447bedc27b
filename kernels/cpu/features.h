// What this processor can execute, as the processor and the operating system say.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace assay::cpu {

struct Features {
  std::string vendor;  // "GenuineIntel", "AuthenticAMD", "aarch64"
  std::string level;   // "x86-64-v2", "x86-64-v3", "x86-64-v4", "x86-64", "aarch64"
  bool avx2_fma = false;
  bool avx512 = false;  // F, BW, CD, DQ and VL together
  bool avx512_fp16 = false;
  bool avx512_bf16 = false;
  bool avx512_vnni = false;
  bool avx_vnni = false;
  bool amx_bf16 = false;
  bool amx_int8 = false;
};

// Registers count only where the operating system saves them.
Features detect_features();

// As people call the maker: "Intel".
std::string maker_name(const Features& features);

}  // namespace assay::cpu
