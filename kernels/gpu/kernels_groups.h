// Finds the rows that bear the same token, so that each row of a table's gradient is summed in one order.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace assay::gpu {

// Groups by first appearance: group g has the token tokens[g] and rows[begins[g] .. begins[g + 1]), ascending.
struct TokenGroups {
  std::vector<std::int32_t> tokens;
  std::vector<std::int32_t> begins;
  std::vector<std::int32_t> rows;
};

// Every token is in [0, vocabulary).
TokenGroups group_tokens(const std::vector<std::int32_t>& tokens, std::int64_t vocabulary);

}  // namespace assay::gpu
