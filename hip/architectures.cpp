// AMD's architectures as numbers.
// SPDX-License-Identifier: Apache-2.0
#include "hip/architectures.h"

#include <cctype>

namespace vendor {

int architecture_number(const std::string& name) {
  if (name.rfind("gfx", 0) != 0) return 0;
  const std::string digits = name.substr(3, name.find(':') - 3);
  if (digits.size() < 3) return 0;
  int result = 0;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const auto c = static_cast<unsigned char>(digits[i]);
    if (std::isxdigit(c) == 0) return 0;
    result = 10 * result + (std::isdigit(c) != 0 ? c - '0' : std::tolower(c) - 'a' + 10);
  }
  return result;
}

std::string architecture_text(int architecture) {
  const int last = architecture % 100;
  // Only gfx9 has letters: 9, then two digits of which the second may count past 9.
  if (architecture >= 910 && architecture < 916) return std::string("gfx90") + static_cast<char>('a' + last - 10);
  return "gfx" + std::to_string(architecture);
}

Fp8Dialect fp8_dialect(int architecture) {
  if (architecture >= 940 && architecture < 950) return Fp8Dialect::fnuz;
  if (architecture == 950 || architecture >= 1200) return Fp8Dialect::ocp;
  return Fp8Dialect::none;
}

}  // namespace vendor
