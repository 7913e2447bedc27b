// Element bodies: one output element from the same element of each input.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/math.h"

namespace assay::bodies {

// The tanh form: x/2 (1 + tanh u) with u = sqrt(2/pi) (x + 0.044715 x^3), which is x / (1 + e^-2u) and cancels nowhere;
// e^-2u is taken as a power of 2.
static inline PORTABLE float gelu(float x) {
  constexpr float linear = -2.302208198f;  // -2 sqrt(2/pi) / ln 2
  constexpr float cubic = linear * 0.044715f;
  return x / (1.0f + power_of_two(x * (linear + cubic * (x * x))));
}

// dy gelu'(x). Beyond 12 the slope is 0 or 1 to the last bit, and x^2 could overflow.
static inline PORTABLE float gelu_backward(float dy, float x) {
  const float high = x > 12.0f ? 12.0f : x;
  const float t = high < -12.0f ? -12.0f : high;
  const float twice_u = 1.5957691216057308f * (t + 0.044715f * t * t * t);
  const float slope_of_twice_u = 1.5957691216057308f * (1.0f + 3.0f * 0.044715f * t * t);
  const float s = sigmoid(twice_u);
  return dy * (s + t * s * (1.0f - s) * slope_of_twice_u);
}

static inline PORTABLE float swiglu(float gate, float up) { return gate * sigmoid(gate) * up; }

struct SwigluGradient {
  float gate;
  float up;
};
static inline PORTABLE SwigluGradient swiglu_backward(float dy, float gate, float up) {
  const float s = sigmoid(gate);
  return {dy * up * (s * (1.0f + gate * (1.0f - s))), dy * (gate * s)};
}

// The scalars of one AdamW step in the order of the operand, and what follows from them.
struct AdamStep {
  float rate;
  float first_correction;   // 1 / (1 - beta1^t)
  float second_correction;  // 1 / (1 - beta2^t)
  float gradient_scale;
};
static inline PORTABLE AdamStep adam_step(const float* scalars) {
  return {scalars[0], 1.0f / scalars[1], 1.0f / scalars[2], scalars[3]};
}
// A step whose gradients overflowed changes nothing; asked once, since a branch in the loop would keep it from being
// vectorised.
static inline PORTABLE bool adam_skips(const float* scalars) { return scalars[4] != 0.0f; }

struct AdamState {
  float master;
  float first;
  float second;
};
// Constants as core/ops/pointwise.h names them: beta1 0.9, beta2 0.95, epsilon 1e-8, decay 0.1.
static inline PORTABLE AdamState adam_update(const AdamStep& step, float gradient, AdamState before) {
  const float g = gradient * step.gradient_scale;
  const float first = 0.9f * before.first + 0.1f * g;
  const float second = 0.95f * before.second + 0.05f * g * g;
  const float direction = first * step.first_correction / (sqrtf(second * step.second_correction) + 1e-8f);
  return {before.master - step.rate * (direction + 0.1f * before.master), first, second};
}

}  // namespace assay::bodies
