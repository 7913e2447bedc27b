// Finds the rows that bear the same token.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/token_groups.h"

#include <string>

#include "core/error.h"

namespace assay::cpu {

TokenGrouping::TokenGrouping(std::int64_t rows, std::int64_t vocabulary)
    : first_(static_cast<std::size_t>(vocabulary), -1),
      next_(static_cast<std::size_t>(rows)),
      tokens_(static_cast<std::size_t>(rows)),
      begins_(static_cast<std::size_t>(rows) + 1),
      rows_(static_cast<std::size_t>(rows)) {}

TokenGroups TokenGrouping::group(const std::int32_t* tokens) {
  const auto count = static_cast<std::int32_t>(rows_.size());
  check_indices(tokens, count, static_cast<std::int64_t>(first_.size()), "token");
  const auto at = [](auto& values, std::int32_t index) -> auto& { return values[static_cast<std::size_t>(index)]; };
  // Backwards, so that each chain is ascending.
  for (std::int32_t row = count - 1; row >= 0; --row) {
    at(next_, row) = at(first_, tokens[row]);
    at(first_, tokens[row]) = row;
  }
  std::int32_t groups = 0;
  std::int32_t placed = 0;
  for (std::int32_t row = 0; row < count; ++row) {
    if (at(first_, tokens[row]) != row) continue;
    at(tokens_, groups) = tokens[row];
    at(begins_, groups) = placed;
    for (std::int32_t same = row; same >= 0; same = at(next_, same)) at(rows_, placed++) = same;
    ++groups;
  }
  at(begins_, groups) = placed;
  for (std::int32_t group = 0; group < groups; ++group) at(first_, at(tokens_, group)) = -1;
  return {tokens_.data(), begins_.data(), rows_.data(), groups};
}

void check_indices(const std::int32_t* values, std::int64_t count, std::int64_t bound, const char* what) {
  for (std::int64_t i = 0; i < count; ++i) {
    if (values[i] < 0 || values[i] >= bound) {
      throw Error(std::string(what) + " " + std::to_string(values[i]) + " in row " + std::to_string(i) +
                  " is not in 0 .. " + std::to_string(bound - 1) + ": fill the operand with indices below " +
                  std::to_string(bound));
    }
  }
}

}  // namespace assay::cpu
