// Row bodies: one row of a matrix by one team. A row is read several times; it stays in the nearest caches.
// SPDX-License-Identifier: Apache-2.0
#pragma once

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

// Leaves each e^(x - largest) in `terms` for its second use: computing it again, or widening x again, would take longer
// than reading it back from a cache. `terms` may be x or the result where those are float.
template <class Team, class Storage>
static inline PORTABLE Exponentials take_exponentials(const Team& team, const Storage* x, std::int64_t columns,
                                                      float* terms) {
  const float largest = team.max(columns, [=](std::int64_t i) {
    const float value = to_float(x[i]);
    if constexpr (!std::is_same_v<Storage, float>) terms[i] = value;
    return value;
  });
  const float sum = team.sum(columns, [=](std::int64_t i) {
    float value;
    if constexpr (std::is_same_v<Storage, float>) {
      value = x[i];
    } else {
      value = terms[i];
    }
    const float term = exponential(value - largest);
    terms[i] = term;
    return term;
  });
  return {largest, sum};
}

// Probabilities of the first `visible` columns, 0 in the others. A row of -infinity, or one with a NaN or +infinity in
// it, gives NaN. `terms` has room for the columns; where Storage is float it may be y itself.
template <class Team, class Storage>
static inline PORTABLE void softmax_forward(const Team& team, const Storage* x, Storage* y, std::int64_t columns,
                                            std::int64_t visible, float* terms) {
  const float factor = 1.0f / take_exponentials(team, x, visible, terms).sum;
  team.each(visible, [=](std::int64_t i) { y[i] = from_float<Storage>(terms[i] * factor); });
  team.each(columns - visible, [=](std::int64_t i) { y[visible + i] = from_float<Storage>(0.0f); });
}

// dx = y (dy - sum(dy y)); 0 beyond the visible columns.
template <class Team, class Storage>
static inline PORTABLE void softmax_backward(const Team& team, const Storage* dy, const Storage* y, Storage* dx,
                                             std::int64_t columns, std::int64_t visible) {
  const float dot = team.sum(visible, [=](std::int64_t i) { return to_float(dy[i]) * to_float(y[i]); });
  team.each(visible, [=](std::int64_t i) { dx[i] = from_float<Storage>(to_float(y[i]) * (to_float(dy[i]) - dot)); });
  team.each(columns - visible, [=](std::int64_t i) { dx[visible + i] = from_float<Storage>(0.0f); });
}

// The loss -ln p(target) of one row, and the gradient (p - onehot) * factor, factor being 1 / rows. `terms` as above.
template <class Team, class Storage>
static inline PORTABLE float cross_entropy(const Team& team, const Storage* logits, std::int64_t target,
                                           Storage* gradient, std::int64_t columns, float factor, float* terms) {
  const float own = to_float(logits[target]);
  const Exponentials row = take_exponentials(team, logits, columns, terms);
  const float scale = factor / row.sum;
  team.each(columns, [=](std::int64_t i) {
    gradient[i] = from_float<Storage>(terms[i] * scale - (i == target ? factor : 0.0f));
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
  const float squares = team.sum(columns, [=](std::int64_t i) {
    const float value = to_float(x[i]);
    return value * value;
  });
  const float inverse = reciprocal_root(squares / static_cast<float>(columns) + norm_epsilon);
  team.each(columns,
            [=](std::int64_t i) { y[i] = from_float<Storage>(to_float(x[i]) * inverse * to_float(weight[i])); });
  return {0.0f, inverse};
}

// y = weight (x - mean) / sqrt(variance + epsilon) + bias. The variance is taken about the mean, in a second pass: the
// difference of two sums would lose everything where the mean is large.
template <class Team, class Storage>
static inline PORTABLE RowStatistics layer_norm_forward(const Team& team, const Storage* x, const Storage* weight,
                                                        const Storage* bias, Storage* y, std::int64_t columns) {
  const float n = static_cast<float>(columns);
  const float mean = team.sum(columns, [=](std::int64_t i) { return to_float(x[i]); }) / n;
  const float squares = team.sum(columns, [=](std::int64_t i) {
    const float value = to_float(x[i]) - mean;
    return value * value;
  });
  const float inverse = reciprocal_root(squares / n + norm_epsilon);
  team.each(columns, [=](std::int64_t i) {
    y[i] = from_float<Storage>((to_float(x[i]) - mean) * inverse * to_float(weight[i]) + to_float(bias[i]));
  });
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
  const auto g = [=](std::int64_t i) { return to_float(dy[i]) * to_float(weight[i]); };
  const auto product = [=](std::int64_t i) { return g(i) * ((to_float(x[i]) - mean) * inverse); };
  Two totals{0.0f, 0.0f};
  if constexpr (centred) {
    totals = team.sums(columns, product, g);
  } else {
    totals.first = team.sum(columns, product);
  }
  const float along = totals.first / n;
  const float offset = totals.second / n;
  team.each(columns, [=](std::int64_t i) {
    const float h = (to_float(x[i]) - mean) * inverse;
    const float gradient = (g(i) - offset - h * along) * inverse;
    dx[i] = from_float<Storage>(accumulate ? gradient + to_float(dx[i]) : gradient);
  });
}

}  // namespace assay::bodies
