// A team that does everything in an unusual order, to find bodies whose result depends on it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "kernels/team.h"

namespace assay::bodies {

// Visits the indices in a shuffled order, another one at each call, and adds in a tree of an odd number of lanes.
struct ShufflingTeam {
  static constexpr std::size_t lanes = 13;

  template <class Function>
  void each(std::int64_t n, Function f) const {
    for (const std::int64_t i : shuffled(n)) f(i);
  }

  template <class Function>
  float sum(std::int64_t n, Function f) const {
    std::array<float, lanes> partial{};
    std::size_t lane = 0;
    for (const std::int64_t i : shuffled(n)) partial[lane++ % lanes] += f(i);
    for (std::size_t active = lanes; active > 1; active = (active + 1) / 2) {
      for (std::size_t low = 0; low < active / 2; ++low) partial[low] += partial[active - 1 - low];
    }
    return partial[0];
  }

  template <class First, class Second>
  Two sums(std::int64_t n, First f, Second g) const {
    const float second = sum(n, g);
    return {sum(n, f), second};
  }

  template <class Function>
  float max(std::int64_t n, Function f) const {
    float largest = -__builtin_inff();
    for (const std::int64_t i : shuffled(n)) largest = std::max(largest, f(i));
    return largest;
  }

 private:
  static std::vector<std::int64_t> shuffled(std::int64_t n) {
    static std::uint32_t calls = 0;
    std::vector<std::int64_t> order(static_cast<std::size_t>(std::max<std::int64_t>(n, 0)));
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), std::mt19937(++calls));
    return order;
  }
};

}  // namespace assay::bodies
