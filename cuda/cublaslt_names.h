// What the library calls an algorithm, in words for a row.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace vendor {

// What the library says about an algorithm; 0 where it says nothing.
struct AlgorithmNumbers {
  std::int32_t id = 0;
  std::uint32_t tile = 0;
  std::uint32_t stages = 0;
  std::int32_t split_k = 0;
  std::uint32_t cluster = 0;
};

// "algo 21 tile 128x256 stages 64x3 splitk 2": stages are K extent by number. What has no name is given by number.
std::string algorithm_text(const AlgorithmNumbers& numbers);

}  // namespace vendor
