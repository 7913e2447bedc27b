// Bodies of the ops between the gradients of a training step and its weights.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/element.h"
#include "kernels/map.h"

namespace assay::bodies {

// Elements whose squares are added in float; the sums of such blocks are added in double and in their order, so that
// the result depends on nothing else.
static constexpr std::int64_t square_block = 16384;

template <class Team, class Storage>
static inline PORTABLE float sum_of_squares(const Team& team, const Storage* x, std::int64_t count) {
  return sum_over(
      team, count, [](std::int64_t, float value) { return value * value; }, x);
}

// The magnitude of a number; infinity stands for whatever is not finite.
static inline PORTABLE float finite_magnitude(float x) {
  const std::uint32_t magnitude = bits_of(x) & 0x7fffffffu;
  return float_of(magnitude > 0x7f800000u ? 0x7f800000u : magnitude);
}

// The least power of two that `most` can be divided by to be at most `top`; 1 where it is zero or infinite.
static inline PORTABLE float power_of_two_scale(float most, float top) {
  if (!(most > 0.0f) || most > 3.4028234e38f) return 1.0f;
  const float ratio = most / top;
  const std::uint32_t bits = bits_of(ratio);
  const std::uint32_t exponent = bits >> 23;
  if (exponent == 0) return float_of(1u << 23);  // less than any normal number: the smallest one will do
  return float_of((exponent + ((bits & 0x007fffffu) != 0 ? 1u : 0u)) << 23);
}

// What AdamControl is asked for, in float.
struct ControlSettings {
  float rate;
  float clip;
  float warmup;
  float interval;
};

// The scalars of the next step; core/ops/training.h says what each is.
static inline PORTABLE void control_step(const ControlSettings& settings, float total, float* scalars) {
  const bool finite = (bits_of(total) & 0x7f800000u) != 0x7f800000u;
  const float loss_scale = scalars[5];
  if (finite) {
    scalars[7] += 1.0f;
    const bool warming = scalars[7] < settings.warmup;
    scalars[0] = warming ? settings.rate * scalars[7] / settings.warmup : settings.rate;
    scalars[1] = 0.9f * scalars[1] + 0.1f;
    scalars[2] = 0.95f * scalars[2] + 0.05f;
    const float norm = sqrtf(total) / loss_scale;
    const bool clipped = settings.clip > 0.0f && norm > settings.clip;
    scalars[3] = (clipped ? settings.clip / norm : 1.0f) / loss_scale;
  }
  scalars[4] = finite ? 0.0f : 1.0f;
  if (!(settings.interval > 0.0f)) return;
  scalars[6] = finite ? scalars[6] + 1.0f : 0.0f;
  if (!finite) {
    const float half = 0.5f * loss_scale;
    scalars[5] = half > 1.0f ? half : 1.0f;
  } else if (scalars[6] >= settings.interval) {
    scalars[6] = 0.0f;
    scalars[5] = loss_scale < 16777216.0f ? 2.0f * loss_scale : loss_scale;
  }
}

static constexpr std::int64_t moment_group = 128;

// One group of AdamW with moments of 8 bits. `firsts` and `roots` have room for a group.
struct NarrowMoments {
  Fp8E4m3* first;
  float* first_scale;
  Fp8E4m3* second;
  float* second_scale;
};
template <class Team, class Gradient, class Weight>
static inline PORTABLE void adam_group(const Team& team, const AdamStep& step, const Gradient* gradient, float* master,
                                       const NarrowMoments& moments, Weight* weight, std::int64_t count, float* firsts,
                                       float* roots) {
  const float first_scale = *moments.first_scale;
  const float second_scale = *moments.second_scale;
  const Fp8E4m3* const first = moments.first;
  const Fp8E4m3* const second = moments.second;
  team.each(count, [=](std::int64_t i) {
    const float root = to_float(second[i]) * second_scale;
    const AdamState after =
        adam_update(step, to_float(gradient[i]), {master[i], to_float(first[i]) * first_scale, root * root});
    master[i] = after.master;
    firsts[i] = after.first;
    roots[i] = sqrtf(after.second);
    if constexpr (!std::is_same_v<Weight, float>) weight[i] = from_float<Weight>(after.master);
  });
  const float most_first = team.max(count, [=](std::int64_t i) { return finite_magnitude(firsts[i]); });
  const float most_root = team.max(count, [=](std::int64_t i) { return roots[i]; });
  const float new_first = most_first > 0.0f ? most_first / 448.0f : 1.0f;
  const float new_second = most_root > 0.0f ? most_root / 448.0f : 1.0f;
  Fp8E4m3* const to_first = moments.first;
  Fp8E4m3* const to_second = moments.second;
  team.each(count, [=](std::int64_t i) {
    to_first[i] = from_float<Fp8E4m3>(firsts[i] / new_first);
    const float root = roots[i] / new_second;
    const float kept = root < 0.001953125f ? 0.001953125f : root;  // 2^-9, the smallest e4m3
    to_second[i] = from_float<Fp8E4m3>(roots[i] > 0.0f ? kept : 0.0f);
  });
  team.each(1, [=](std::int64_t) {
    *moments.first_scale = new_first;
    *moments.second_scale = new_second;
  });
}

}  // namespace assay::bodies
