// Who does a body's loops. A team is a thread block on a GPU, the lanes of a vector unit on a CPU; this one is a loop.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/portable.h"

namespace assay::bodies {

// Two sums from one pass.
struct Two {
  float first;
  float second;
};

// What every team offers. The functions are called once for each i in [0, n), in any order and at the same time, and
// must not depend on each other:
//   each(n, f)     f(i)
//   sum(n, f)      the sum of f(i), float; 0 where n is 0
//   sums(n, f, g)  both sums, of f(i) and g(i)
//   max(n, f)      the largest f(i), -infinity where n is 0; NaNs may be passed over
// Every lane of the team calls each of them with equal arguments and gets the same answer. When `each` returns, its
// writes are visible to the whole team. A call with the same n gives the same i to the same lane.
struct SerialTeam {
  template <class Function>
  PORTABLE void each(std::int64_t n, Function f) const {
    for (std::int64_t i = 0; i < n; ++i) f(i);
  }

  template <class Function>
  PORTABLE float sum(std::int64_t n, Function f) const {
    float total = 0;
    for (std::int64_t i = 0; i < n; ++i) total += f(i);
    return total;
  }

  template <class First, class Second>
  PORTABLE Two sums(std::int64_t n, First f, Second g) const {
    return {sum(n, f), sum(n, g)};
  }

  template <class Function>
  PORTABLE float max(std::int64_t n, Function f) const {
    float largest = -__builtin_inff();
    for (std::int64_t i = 0; i < n; ++i) {
      const float value = f(i);
      largest = value > largest ? value : largest;
    }
    return largest;
  }
};

}  // namespace assay::bodies
