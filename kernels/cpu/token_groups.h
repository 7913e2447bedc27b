// Finds the rows that bear the same token, so that each row of a table's gradient is summed by one team, in one order.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/cpu/bodies_table.h"

namespace assay::cpu {

class TokenGrouping {
 public:
  // For tokens below `vocabulary`, in `rows` rows.
  TokenGrouping(std::int64_t rows, std::int64_t vocabulary);

  // Groups by first appearance; the result is valid until the next call. Time is in proportion to the rows, not to the
  // vocabulary. Throws Error naming the first token that is not in the vocabulary.
  TokenGroups group(const std::int32_t* tokens);

 private:
  std::vector<std::int32_t> first_;   // by token: its first row, -1 between calls
  std::vector<std::int32_t> next_;    // by row: the next row with the same token, -1 at the end
  std::vector<std::int32_t> tokens_;  // by group
  std::vector<std::int32_t> begins_;  // by group, and the end
  std::vector<std::int32_t> rows_;
};

// Throws Error naming the first of the `count` values that is not in [0, bound), and what it is.
void check_indices(const std::int32_t* values, std::int64_t count, std::int64_t bound, const char* what);

}  // namespace assay::cpu
