// What a tensor holds before it is used: a pure function of (pattern, seed, index), equal to the last bit on every
// device. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/format.h"
#include "core/portable.h"

namespace assay {

enum class Pattern : std::uint8_t {
  exact,     // small integers in a range that depends on the element: sums are exact in the accumulator
  typical,   // normal-like with standard deviation about 1 and full mantissas, from sums of integer hashes
  integer,   // small random integers: tame data, runs fast on power-limited devices; a labelled case of its own
  constant,  // one value everywhere
  probe,     // long mantissas that show which precision executed; see docs/method.md
  zero,
};

std::string text(Pattern pattern);
std::optional<Pattern> parse_pattern(std::string_view name);

// The value at `index` before it is rounded to the element. `magnitude` bounds |value| for exact and integer (an
// integer
// >= 1, chosen by the caller from the accumulation length), and scales typical and constant.
PORTABLE double fill_value(Pattern pattern, std::uint64_t seed, std::int64_t index, double magnitude);

}  // namespace assay
