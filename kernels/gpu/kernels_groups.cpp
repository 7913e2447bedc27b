// Finds the rows that bear the same token.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/kernels_groups.h"

#include <string>

#include "core/error.h"
#include "kernels/gpu/kernels_prepared.h"

namespace assay::gpu {

TokenGroups group_tokens(const std::vector<std::int32_t>& tokens, std::int64_t vocabulary) {
  // Group of each token, in the order in which tokens come; then the rows are dealt out as by a counting sort.
  std::vector<std::int32_t> group_of(static_cast<std::size_t>(vocabulary), -1);
  const auto group = [&](std::int32_t token) -> std::int32_t& { return group_of[static_cast<std::size_t>(token)]; };
  TokenGroups groups;
  std::vector<std::int32_t> sizes;
  for (const std::int32_t token : tokens) {
    if (group(token) < 0) {
      group(token) = static_cast<std::int32_t>(sizes.size());
      groups.tokens.push_back(token);
      sizes.push_back(0);
    }
    ++sizes[static_cast<std::size_t>(group(token))];
  }
  groups.begins.push_back(0);
  for (const std::int32_t size : sizes) groups.begins.push_back(groups.begins.back() + size);
  std::vector<std::int32_t> next = groups.begins;
  groups.rows.resize(tokens.size());
  for (std::size_t row = 0; row < tokens.size(); ++row) {
    std::int32_t& place = next[static_cast<std::size_t>(group(tokens[row]))];
    groups.rows[static_cast<std::size_t>(place)] = static_cast<std::int32_t>(row);
    ++place;
  }
  return groups;
}

std::vector<std::int32_t> check_indices(const std::int32_t* values, std::int64_t count, std::int64_t bound,
                                        const char* what, vendor::Stream stream) {
  std::vector<std::int32_t> all(static_cast<std::size_t>(count));
  vendor::copy(all.data(), values, count * static_cast<std::int64_t>(sizeof(std::int32_t)), stream);
  vendor::synchronise(stream);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i] < 0 || all[i] >= bound) {
      throw Error(std::string(what) + " " + std::to_string(all[i]) + " in row " + std::to_string(i) +
                  " is not in 0 .. " + std::to_string(bound - 1) + ": fill the operand with indices below " +
                  std::to_string(bound));
    }
  }
  return all;
}

}  // namespace assay::gpu
