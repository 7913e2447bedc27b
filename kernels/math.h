// Exponential and friends without a branch and without a call, so that loops over them vectorise on every processor.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <math.h>

#include "kernels/convert.h"

// Error bounds are proven by dense sweeps in tests/kernels/math_test.cpp. NaN goes in and out; infinities give limits.
namespace assay::bodies {

// Adding 1.5 * 2^23 rounds to a whole number, which is then in the low bits; the 127 more make it the exponent of a
// float: shifted to its place, 2^n, which is 0 for n = -127 and infinity for n = 128. The other bits are shifted out.
static constexpr float whole_magic = 12582912.0f + 127.0f;
static inline PORTABLE float power_of_whole(float shifted) { return float_of(bits_of(shifted) << 23); }

// e^x from -88 to 89. The polynomial 1 + r + r^2 (c2 + c3 r + c4 r^2 + c5 r^3) is minimax over |r| <= ln(2) / 2, off by
// 1.05e-7; the split of ln 2 is that of expf in the Cephes library.
static inline PORTABLE float exponential_within(float x) {
  const float shifted = x * 1.44269504088896341f + whole_magic;
  const float whole = shifted - whole_magic;
  const float r = (x - whole * 0.693359375f) + whole * 2.12194440e-4f;
  float p = 8.312501250574873e-3f;
  p = p * r + 4.189033150418802e-2f;
  p = p * r + 1.666711538906644e-1f;
  p = p * r + 4.999923030974401e-1f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  return p * power_of_whole(shifted);
}

// e^x, within 2.5e-7 of the true value, relatively, from -87.3 to 88.3; infinite above 88.38, 0 below -87.7 and within
// 2e-38 between.
static inline PORTABLE float exponential(float x) {
  const float high = x > 89.0f ? 89.0f : x;
  return exponential_within(high < -88.0f ? -88.0f : high);
}

// The same for x that is never above 0, or is NaN.
static inline PORTABLE float exponential_of_negative(float x) { return exponential_within(x < -88.0f ? -88.0f : x); }

// 2^x, within 2e-7 relatively from -126 to 127.5; infinite from 128, 0 below -127 and within 2e-38 between. The
// polynomial 1 + r (c1 + ... + c5 r^4) is minimax over |r| <= 1/2, off by 9.2e-8.
static inline PORTABLE float power_of_two(float x) {
  const float high = x > 128.0f ? 128.0f : x;
  const float clamped = high < -127.0f ? -127.0f : high;
  const float shifted = clamped + whole_magic;
  const float r = clamped - (shifted - whole_magic);
  float p = 1.326474794e-3f;
  p = p * r + 9.671512368e-3f;
  p = p * r + 5.550733679e-2f;
  p = p * r + 2.402224209e-1f;
  p = p * r + 6.931469776e-1f;
  p = p * r + 1.0f;
  return p * power_of_whole(shifted);
}

// 1 / (1 + e^-x), within 3.5e-7 relatively above -87.3, and below 2e-38 beneath.
static inline PORTABLE float sigmoid(float x) { return 1.0f / (1.0f + exponential(-x)); }

// tanh x, within 3e-7 relatively. The polynomial near 0 is that of tanhf in the Cephes library.
static inline PORTABLE float hyperbolic_tangent(float x) {
  const float magnitude = float_of(bits_of(x) & 0x7fffffffu);
  const float square = x * x;
  float p = -5.70498872745e-3f;
  p = p * square + 2.06390887954e-2f;
  p = p * square - 5.37397155531e-2f;
  p = p * square + 1.33314422036e-1f;
  p = p * square - 3.33332819422e-1f;
  const float near_zero = p * square * magnitude + magnitude;
  const float far = 1.0f - 2.0f / (exponential(2.0f * magnitude) + 1.0f);
  const float result = magnitude < 0.625f ? near_zero : far;
  return float_of(bits_of(result) | (bits_of(x) & 0x80000000u));
}

// ln x, within 2e-7 of the true value relatively, near 1 too; ln 0 is -infinity, NaN below 0.
// The polynomial is that of logf in the Cephes library.
static inline PORTABLE float logarithm(float x) {
  const bool tiny = x < 1.17549435e-38f;
  const float scaled = tiny ? x * 8388608.0f : x;  // 2^23 makes subnormal numbers normal
  // Counting from sqrt(1/2) puts the mantissa between sqrt(1/2) and sqrt(2).
  const std::uint32_t root_half = 0x3f3504f3u;
  const std::uint32_t offset = bits_of(scaled) - root_half;
  const std::int32_t exponent = static_cast<std::int32_t>(offset) >> 23;
  const float whole = static_cast<float>(exponent) - (tiny ? 23.0f : 0.0f);
  const float m = float_of((offset & 0x007fffffu) + root_half) - 1.0f;
  float p = 7.0376836292e-2f;
  p = p * m - 1.1514610310e-1f;
  p = p * m + 1.1676998740e-1f;
  p = p * m - 1.2420140846e-1f;
  p = p * m + 1.4249322787e-1f;
  p = p * m - 1.6668057665e-1f;
  p = p * m + 2.0000714765e-1f;
  p = p * m - 2.4999993993e-1f;
  p = p * m + 3.3333331174e-1f;
  const float square = m * m;
  const float tail = p * m * square - whole * 2.12194440e-4f - 0.5f * square;
  float result = (m + tail) + whole * 0.693359375f;
  result = x == 0.0f ? float_of(0xff800000u) : result;
  result = x < 0.0f ? float_of(0x7fc00000u) : result;
  return x < float_of(0x7f800000u) ? result : x;  // infinity and NaN stay
}

// 1 / sqrt(x), within 1.2e-7 relatively: a square root and a division, each correctly rounded.
static inline PORTABLE float reciprocal_root(float x) { return 1.0f / sqrtf(x); }

}  // namespace assay::bodies
