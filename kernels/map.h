// Loops over whole arrays of stored numbers, for bodies that need nothing of an element but its value: a team that
// knows a quicker way through a narrow format takes it. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/convert.h"
#include "kernels/team.h"

namespace assay::bodies {

// Whether a team goes through arrays of bf16 by itself, and all of them are such. That team has
//   map_bf16(n, y, f, x...)   y[i] = f(slot, x[i]...)
//   sum_bf16(n, f, x...)      the sum of f(slot, x[i]...)
//   sums_bf16(n, f, g, x...)  both sums
//   max_bf16(n, x)            the largest x[i]
// where `slot` is a number in [0, n), another one for each i and, for equal n, the same one for the same i.
template <class Team, class = void>
struct KnowsBf16 : std::false_type {};
template <class Team>
struct KnowsBf16<Team, std::enable_if_t<Team::knows_bf16>> : std::true_type {};

template <class Team, class... Storages>
static constexpr bool takes_bf16 = KnowsBf16<Team>::value && (std::is_same_v<Storages, Bf16> && ...);

// y[i] = f(slot, x[i]...) for i in [0, n), in float. What is kept from one loop for a later one belongs at `slot`,
// which is a number in [0, n) like i but not always i itself.
template <class Team, class Storage, class Function, class... Inputs>
static inline PORTABLE void map(const Team& team, std::int64_t n, Storage* y, Function f, const Inputs*... x) {
  if constexpr (takes_bf16<Team, Storage, Inputs...>) {
    team.map_bf16(n, y, f, x...);
  } else {
    team.each(n, [=](std::int64_t i) { y[i] = from_float<Storage>(f(i, to_float(x[i])...)); });
  }
}

// The sum of f(slot, x[i]...).
template <class Team, class Function, class... Inputs>
static inline PORTABLE float sum_over(const Team& team, std::int64_t n, Function f, const Inputs*... x) {
  if constexpr (takes_bf16<Team, Inputs...>) {
    return team.sum_bf16(n, f, x...);
  } else {
    return team.sum(n, [=](std::int64_t i) { return f(i, to_float(x[i])...); });
  }
}

// The sums of f(slot, x[i]...) and g(slot, x[i]...).
template <class Team, class First, class Second, class... Inputs>
static inline PORTABLE Two sums_over(const Team& team, std::int64_t n, First f, Second g, const Inputs*... x) {
  if constexpr (takes_bf16<Team, Inputs...>) {
    return team.sums_bf16(n, f, g, x...);
  } else {
    return team.sums(
        n, [=](std::int64_t i) { return f(i, to_float(x[i])...); },
        [=](std::int64_t i) { return g(i, to_float(x[i])...); });
  }
}

// The largest x[i].
template <class Team, class Storage>
static inline PORTABLE float max_over(const Team& team, std::int64_t n, const Storage* x) {
  if constexpr (takes_bf16<Team, Storage>) {
    return team.max_bf16(n, x);
  } else {
    return team.max(n, [=](std::int64_t i) { return to_float(x[i]); });
  }
}

}  // namespace assay::bodies
