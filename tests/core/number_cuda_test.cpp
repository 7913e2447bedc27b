// The CUDA toolkit's own host conversions as the judge of ours, over every 8- and 16-bit pattern and many values.
// SPDX-License-Identifier: Apache-2.0
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp8.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "core/number.h"

namespace assay {
namespace {

// Values of every size an element meets: ties, neighbours of ties, subnormals, overflow.
std::vector<double> interesting_values(Element element) {
  std::vector<double> values{0.0, -0.0, 1e-320, -1e-40, 1e300, -1e300, INFINITY, -INFINITY};
  const std::uint64_t top = largest_finite_bits(float_layout(element));
  for (std::uint64_t pattern = 0; pattern <= top; ++pattern) {
    const double value = decode(element, pattern);
    const double step = pattern < top ? decode(element, pattern + 1) - value : value - decode(element, pattern - 1);
    const double middle = value + step / 2;
    for (double v : {value, middle, std::nextafter(middle, 0), std::nextafter(middle, 1e308), value + step * 0.9}) {
      values.push_back(v);
      values.push_back(-v);
    }
  }
  return values;
}

void agrees(Element element, const std::function<std::uint64_t(double)>& judge) {
  for (double value : interesting_values(element)) {
    ASSERT_EQ(encode(element, value), judge(value)) << text(element) << " of " << value;
  }
}

TEST(NumberAgainstCuda, HalfPrecision) {
  agrees(Element::fp16, [](double v) { return __half_raw(__double2half(v)).x; });
}

TEST(NumberAgainstCuda, Bfloat16) {
  agrees(Element::bf16, [](double v) { return __nv_bfloat16_raw(__double2bfloat16(v)).x; });
}

TEST(NumberAgainstCuda, Fp8) {
  agrees(Element::fp8_e4m3, [](double v) { return __nv_cvt_double_to_fp8(v, __NV_SATFINITE, __NV_E4M3); });
  agrees(Element::fp8_e5m2, [](double v) { return __nv_cvt_double_to_fp8(v, __NV_SATFINITE, __NV_E5M2); });
}

TEST(NumberAgainstCuda, Fp4) {
  agrees(Element::fp4_e2m1, [](double v) { return __nv_cvt_double_to_fp4(v, __NV_E2M1, cudaRoundNearest); });
}

TEST(NumberAgainstCuda, NaNStaysNaN) {
  EXPECT_EQ(encode(Element::fp8_e4m3, NAN), __nv_cvt_double_to_fp8(NAN, __NV_SATFINITE, __NV_E4M3));
  EXPECT_EQ(encode(Element::fp8_e5m2, NAN), __nv_cvt_double_to_fp8(NAN, __NV_SATFINITE, __NV_E5M2));
  EXPECT_EQ(encode(Element::fp4_e2m1, NAN), __nv_cvt_double_to_fp4(NAN, __NV_E2M1, cudaRoundNearest));
}

TEST(NumberAgainstCuda, BlockScalesRoundUp) {
  for (double value : {1.0, 1.01, 0.75, 3.0, 1e-30, 1e30, 6e-39}) {
    EXPECT_EQ(encode(Element::ue8m0, value),
              __nv_cvt_float_to_e8m0(static_cast<float>(value), __NV_SATFINITE, cudaRoundPosInf))
        << value;
  }
}

TEST(NumberAgainstCuda, EveryPatternDecodesAlike) {
  for (std::uint64_t pattern = 0; pattern < 65536; ++pattern) {
    __half_raw half{};
    half.x = static_cast<unsigned short>(pattern);
    __nv_bfloat16_raw brain{};
    brain.x = static_cast<unsigned short>(pattern);
    const float half_value = __half2float(__half(half));
    const float brain_value = __bfloat162float(__nv_bfloat16(brain));
    if (!std::isnan(half_value)) {
      ASSERT_EQ(decode(Element::fp16, pattern), static_cast<double>(half_value));
    }
    if (!std::isnan(brain_value)) {
      ASSERT_EQ(decode(Element::bf16, pattern), static_cast<double>(brain_value));
    }
    ASSERT_EQ(std::isnan(half_value), std::isnan(decode(Element::fp16, pattern)));
  }
  for (std::uint64_t pattern = 0; pattern < 256; ++pattern) {
    for (auto [element, kind] : {std::pair{Element::fp8_e4m3, __NV_E4M3}, std::pair{Element::fp8_e5m2, __NV_E5M2}}) {
      const float value = __half2float(__half(__nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(pattern), kind)));
      if (!std::isnan(value)) {
        ASSERT_EQ(decode(element, pattern), static_cast<double>(value)) << pattern;
      }
      ASSERT_EQ(std::isnan(value), std::isnan(decode(element, pattern)));
    }
  }
}

}  // namespace
}  // namespace assay
