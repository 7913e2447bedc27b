// What this processor can execute: CPUID and XGETBV, with nothing in between that would have to know the newest names.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/features.h"

#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace assay::cpu {

#if defined(__x86_64__)
namespace {

struct Registers {
  unsigned a = 0, b = 0, c = 0, d = 0;
};

Registers cpuid(unsigned leaf, unsigned subleaf) {
  Registers r;
  if (__get_cpuid_count(leaf, subleaf, &r.a, &r.b, &r.c, &r.d) == 0) {
    return {};
  }
  return r;
}

bool bit(unsigned word, unsigned place) { return ((word >> place) & 1U) != 0; }

// Which register files the operating system saves (XCR0).
std::uint64_t saved_registers() {
  unsigned low = 0;
  unsigned high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (static_cast<std::uint64_t>(high) << 32U) | low;
}

std::string vendor_name() {
  const Registers r = cpuid(0, 0);
  std::string name(12, ' ');
  std::memcpy(name.data(), &r.b, 4);
  std::memcpy(name.data() + 4, &r.d, 4);
  std::memcpy(name.data() + 8, &r.c, 4);
  return name;
}

}  // namespace

// Bit numbers are those of Intel's Software Developer's Manual, volume 2A, CPUID.
Features detect_features() {
  Features f;
  f.vendor = vendor_name();
  const Registers one = cpuid(1, 0);
  const Registers seven = cpuid(7, 0);
  const Registers seven_one = cpuid(7, 1);
  const Registers extended = cpuid(0x80000001U, 0);
  const bool v2 = bit(one.c, 0) && bit(one.c, 9) && bit(one.c, 13) && bit(one.c, 19) && bit(one.c, 20) &&
                  bit(one.c, 23) && bit(extended.c, 0);
  const std::uint64_t saved = bit(one.c, 27) ? saved_registers() : 0;
  const bool ymm = (saved & 0x6U) == 0x6U;
  const bool zmm = ymm && (saved & 0xE0U) == 0xE0U;
  const bool tiles = (saved & 0x60000U) == 0x60000U;
  const bool bmi_lzcnt = bit(seven.b, 3) && bit(seven.b, 8) && bit(extended.c, 5);
  const bool movbe_f16c = bit(one.c, 22) && bit(one.c, 29);
  f.avx2_fma = v2 && ymm && bit(one.c, 28) && bit(seven.b, 5) && bit(one.c, 12) && bmi_lzcnt && movbe_f16c;
  f.avx512 = f.avx2_fma && zmm && bit(seven.b, 16) && bit(seven.b, 17) && bit(seven.b, 28) && bit(seven.b, 30) &&
             bit(seven.b, 31);
  f.avx512_vnni = f.avx512 && bit(seven.c, 11);
  f.avx512_fp16 = f.avx512 && bit(seven.d, 23);
  f.avx512_bf16 = f.avx512 && bit(seven_one.a, 5);
  f.avx_vnni = f.avx2_fma && bit(seven_one.a, 4);
  f.amx_bf16 = tiles && bit(seven.d, 24) && bit(seven.d, 22);
  f.amx_int8 = tiles && bit(seven.d, 24) && bit(seven.d, 25);
  f.level = f.avx512 ? "x86-64-v4" : f.avx2_fma ? "x86-64-v3" : v2 ? "x86-64-v2" : "x86-64";
  return f;
}
#else
Features detect_features() {
  Features f;
#if defined(__aarch64__)
  f.level = "aarch64";
#else
  f.level = "other";
#endif
  f.vendor = f.level;
  return f;
}
#endif

std::string maker_name(const Features& features) {
  if (features.vendor == "GenuineIntel") {
    return "Intel";
  }
  return features.vendor == "AuthenticAMD" ? "AMD" : features.vendor;
}

}  // namespace assay::cpu
