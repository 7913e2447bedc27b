// Row bodies: one row of a matrix by one team. A row is read several times; it stays in the nearest caches.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/map.h"
#include "kernels/math.h"
#include "kernels/team.h"

namespace assay::bodies {

// Columns that row `row` of a causal softmax may see; all of them where period is 0.
static inline PORTABLE std::int64_t visible_columns(std::int64_t row, std::int64_t columns, std::int64_t period) {
  return period == 0 ? columns : row % period + columns - period + 1;
}

// What a softmax needs to know of a row.
struct Exponentials {
  float largest;
  float sum;  // of e^(x - largest)
};

// Leaves each e^(x - largest) in `terms`, at its slot, for its second use: computing it again would take longer than
// reading it back from a cache. `terms` may be x or the result where those are float.
template <class Team, class Storage>
static inline PORTABLE Exponentials take_exponentials(const Team& team, const Storage* x, std::int64_t columns,
                                                      float* terms) {
  const float largest = max_over(team, columns, x);
  const float sum = sum_over(
      team, columns,
      [=](std::int64_t slot, float value) {
        const float term = exponential_of_negative(value - largest);
        terms[slot] = term;
        return term;
      },
      x);
  return {largest, sum};
}

// Probabilities of the first `visible` columns, 0 in the others. A row of -infinity, or one with a NaN or +infinity in
// it, gives NaN. `terms` has room for the columns; where Storage is float it may be y itself.
template <class Team, class Storage>
static inline PORTABLE void softmax_forward(const Team& team, const Storage* x, Storage* y, std::int64_t columns,
                                            std::int64_t visible, float* terms) {
  const float factor = 1.0f / take_exponentials(team, x, visible, terms).sum;
  map(team, visible, y, [=](std::int64_t slot) { return terms[slot] * factor; });
  team.each(columns - visible, [=](std::int64_t i) { y[visible + i] = from_float<Storage>(0.0f); });
}

// dx = y (dy - sum(dy y)); 0 beyond the visible columns.
template <class Team, class Storage>
static inline PORTABLE void softmax_backward(const Team& team, const Storage* dy, const Storage* y, Storage* dx,
                                             std::int64_t columns, std::int64_t visible) {
  const float dot = sum_over(
      team, visible, [](std::int64_t, float slope, float value) { return slope * value; }, dy, y);
  map(
      team, visible, dx, [=](std::int64_t, float slope, float value) { return value * (slope - dot); }, dy, y);
  team.each(columns - visible, [=](std::int64_t i) { dx[visible + i] = from_float<Storage>(0.0f); });
}

// The loss -ln p(target) of one row, and the gradient (p - onehot) * factor, factor being 1 / rows. `terms` as above.
template <class Team, class Storage>
static inline PORTABLE float cross_entropy(const Team& team, const Storage* logits, std::int64_t target,
                                           Storage* gradient, std::int64_t columns, float factor, float* terms) {
  const float own = to_float(logits[target]);
  const Exponentials row = take_exponentials(team, logits, columns, terms);
  const float scale = factor / row.sum;
  map(team, columns, gradient, [=](std::int64_t slot) { return terms[slot] * scale; });
  team.each(1, [=](std::int64_t) {
    gradient[target] = from_float<Storage>(exponential_of_negative(own - row.largest) * scale - factor);
  });
  return logarithm(row.sum) - (own - row.largest);
}

struct RowStatistics {
  float mean;
  float inverse_deviation;
};

static constexpr float norm_epsilon = 1e-5f;

// y = weight x / sqrt(mean(x^2) + epsilon)
template <class Team, class Storage>
static inline PORTABLE RowStatistics rms_norm_forward(const Team& team, const Storage* x, const Storage* weight,
                                                      Storage* y, std::int64_t columns) {
  const float squares = sum_over(
      team, columns, [](std::int64_t, float value) { return value * value; }, x);
  const float inverse = reciprocal_root(squares / static_cast<float>(columns) + norm_epsilon);
  map(
      team, columns, y, [=](std::int64_t, float value, float w) { return value * inverse * w; }, x, weight);
  return {0.0f, inverse};
}

// y = weight (x - mean) / sqrt(variance + epsilon) + bias. The variance is taken about the mean, in a second pass: the
// difference of two sums would lose everything where the mean is large.
template <class Team, class Storage>
static inline PORTABLE RowStatistics layer_norm_forward(const Team& team, const Storage* x, const Storage* weight,
                                                        const Storage* bias, Storage* y, std::int64_t columns) {
  const float n = static_cast<float>(columns);
  const float sum = sum_over(
      team, columns, [](std::int64_t, float value) { return value; }, x);
  const float mean = sum / n;
  const float squares = sum_over(
      team, columns, [=](std::int64_t, float value) { return (value - mean) * (value - mean); }, x);
  const float inverse = reciprocal_root(squares / n + norm_epsilon);
  map(
      team, columns, y, [=](std::int64_t, float value, float w, float b) { return (value - mean) * inverse * w + b; },
      x, weight, bias);
  return {mean, inverse};
}

// With g = weight dy and h = (x - mean) / deviation: dx = (g - mean(g) - h mean(g h)) / deviation; without mean(g)
// where `centred` is false (rms, whose statistics have mean 0). Added to what is there where `accumulate` is set.
template <bool centred, bool accumulate, class Team, class Storage>
static inline PORTABLE void norm_backward(const Team& team, const Storage* dy, const Storage* x, const Storage* weight,
                                          RowStatistics statistics, Storage* dx, std::int64_t columns) {
  const float n = static_cast<float>(columns);
  const float mean = statistics.mean;
  const float inverse = statistics.inverse_deviation;
  const auto g = [](std::int64_t, float slope, float, float w) { return slope * w; };
  const auto product = [=](std::int64_t, float slope, float value, float w) {
    return slope * w * ((value - mean) * inverse);
  };
  Two totals{0.0f, 0.0f};
  if constexpr (centred) {
    totals = sums_over(team, columns, product, g, dy, x, weight);
  } else {
    totals.first = sum_over(team, columns, product, dy, x, weight);
  }
  const float along = totals.first / n;
  const float offset = totals.second / n;
  const auto gradient = [=](std::int64_t, float slope, float value, float w) {
    const float h = (value - mean) * inverse;
    return (slope * w - offset - h * along) * inverse;
  };
  if constexpr (accumulate) {
    const auto total = [=](std::int64_t slot, float slope, float value, float w, float before) {
      return gradient(slot, slope, value, w) + before;
    };
    map(team, columns, dx, total, dy, x, weight, dx);
  } else {
    map(team, columns, dx, gradient, dy, x, weight);
  }
}

}  // namespace assay::bodies
