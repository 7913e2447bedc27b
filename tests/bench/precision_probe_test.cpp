// Does the probe tell which precision multiplied and added? Products are computed here in every way a machine might.
// SPDX-License-Identifier: Apache-2.0
#include "bench/precision_probe.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "core/fill.h"
#include "core/number.h"

namespace assay {
namespace {

using Sum = std::function<double(const std::vector<double>& products)>;

double in_fp32(const std::vector<double>& products) {
  float sum = 0;
  for (const double product : products) sum = static_cast<float>(sum + product);
  return sum;
}

// Sixteen partial sums, as a vector unit keeps them.
double in_fp32_lanes(const std::vector<double>& products) {
  std::vector<double> lanes(16, 0.0);
  for (std::size_t i = 0; i < products.size(); ++i) lanes[i % 16] = static_cast<float>(lanes[i % 16] + products[i]);
  return in_fp32(lanes);
}

double in_fp64(const std::vector<double>& products) {
  double sum = 0;
  for (const double product : products) sum += product;
  return sum;
}

double in_element(Element element, const std::vector<double>& products) {
  double sum = 0;
  for (const double product : products) sum = rounded(element, sum + product);
  return sum;
}

// 13 bits behind the point of the running sum, the rest cut off.
double in_14_bits(const std::vector<double>& products) {
  double sum = 0;
  for (const double product : products) {
    sum += product;
    int exponent = 0;
    const double fraction = std::frexp(sum, &exponent);
    sum = std::ldexp(std::trunc(std::ldexp(fraction, 14)), exponent - 14);
  }
  return sum;
}

// Sixteen outputs of a product over `length`, inputs stored in `stored`, multiplied in `multiplied`.
std::vector<ProbedOutput> outputs(Element stored, Element multiplied, Element kept, int length, const Sum& sum) {
  std::vector<ProbedOutput> all;
  for (std::int64_t output = 0; output < 16; ++output) {
    ProbedOutput one;
    std::vector<double> products;
    for (std::int64_t i = 0; i < length; ++i) {
      one.a.push_back(rounded(stored, fill_value(Pattern::probe, 1, output * length + i, 1)));
      one.b.push_back(rounded(stored, fill_value(Pattern::probe, 2, output * length + i, 1)));
      products.push_back(rounded(multiplied, one.a.back()) * rounded(multiplied, one.b.back()));
    }
    one.result = rounded(kept, sum(products));
    all.push_back(one);
  }
  return all;
}

class ProbeLength : public ::testing::TestWithParam<int> {};

TEST_P(ProbeLength, TellsFp32FromTf32AndBf16) {
  const int length = GetParam();
  for (const Element multiplied : {Element::fp32, Element::tf32, Element::bf16}) {
    for (const Sum& sum : {Sum(in_fp32), Sum(in_fp32_lanes)}) {
      const Precision precision = judge_precision(outputs(Element::fp32, multiplied, Element::fp32, length, sum),
                                                  Element::fp32, Element::fp32, Element::fp32, Element::fp32);
      EXPECT_EQ(precision.executed, text(multiplied));
      EXPECT_EQ(precision.accumulated, "fp32") << precision.proof;
      EXPECT_EQ(precision.lower_than_asked, multiplied != Element::fp32);
    }
  }
}

TEST_P(ProbeLength, TellsBf16InputsFromThoseCutToFp8) {
  const int length = GetParam();
  for (const Element multiplied : {Element::bf16, Element::fp8_e4m3}) {
    const Precision precision =
        judge_precision(outputs(Element::bf16, multiplied, Element::bf16, length, in_fp32_lanes), Element::bf16,
                        Element::bf16, Element::bf16, Element::fp32);
    EXPECT_EQ(precision.executed, text(multiplied));
    EXPECT_EQ(precision.accumulated, "fp32") << precision.proof;
    EXPECT_EQ(precision.lower_than_asked, multiplied != Element::bf16);
  }
}

TEST_P(ProbeLength, TellsFp64FromFp32) {
  const int length = GetParam();
  const auto judged = [&](Element multiplied, const Sum& sum) {
    return judge_precision(outputs(Element::fp64, multiplied, Element::fp64, length, sum), Element::fp64, Element::fp64,
                           Element::fp64, Element::fp64);
  };
  EXPECT_EQ(judged(Element::fp64, in_fp64).executed, "fp64");
  EXPECT_EQ(judged(Element::fp64, in_fp64).accumulated, "fp64");
  EXPECT_FALSE(judged(Element::fp64, in_fp64).lower_than_asked);
  EXPECT_EQ(judged(Element::fp32, in_fp64).executed, "fp32");
  EXPECT_TRUE(judged(Element::fp32, in_fp64).lower_than_asked);
  EXPECT_EQ(judged(Element::fp64, in_fp32).accumulated, "fp32");
  EXPECT_TRUE(judged(Element::fp64, in_fp32).lower_than_asked);
}

INSTANTIATE_TEST_SUITE_P(Lengths, ProbeLength, ::testing::Values(64, 256, 1024, 4096, 14336));

TEST(Probe, FindsSumsThatWereKeptTooShort) {
  const auto judged = [](const Sum& sum, Element kept) {
    return judge_precision(outputs(Element::fp16, Element::fp16, kept, 4096, sum), Element::fp16, Element::fp16, kept,
                           Element::fp32);
  };
  const auto in_fp16 = [](const std::vector<double>& products) { return in_element(Element::fp16, products); };
  const auto in_bf16 = [](const std::vector<double>& products) { return in_element(Element::bf16, products); };
  EXPECT_EQ(judged(in_fp32, Element::fp16).accumulated, "fp32");
  EXPECT_FALSE(judged(in_fp32, Element::fp16).lower_than_asked);
  EXPECT_EQ(judged(in_fp16, Element::fp16).accumulated, "fp16");
  EXPECT_TRUE(judged(in_fp16, Element::fp16).lower_than_asked);
  EXPECT_EQ(judged(in_bf16, Element::fp32).accumulated, "bf16");
  EXPECT_TRUE(judged(in_bf16, Element::fp32).lower_than_asked);
}

TEST(Probe, NamesTheFourteenBitsOfFp8UnitsWithoutHoldingThemAgainstTheNumber) {
  const Precision precision =
      judge_precision(outputs(Element::fp8_e4m3, Element::fp8_e4m3, Element::bf16, 4096, in_14_bits), Element::fp8_e4m3,
                      Element::fp8_e4m3, Element::bf16, Element::fp32);
  EXPECT_EQ(precision.executed, "fp8_e4m3");
  EXPECT_EQ(precision.accumulated, "14_bits") << precision.proof;
  EXPECT_FALSE(precision.lower_than_asked);
}

TEST(Probe, AdmitsWhereNothingCanBeTold) {
  auto nonsense = outputs(Element::fp32, Element::fp32, Element::fp32, 256, in_fp32);
  for (ProbedOutput& output : nonsense) output.result *= 1.37;
  const Precision precision = judge_precision(nonsense, Element::fp32, Element::fp32, Element::fp32, Element::fp32);
  EXPECT_EQ(precision.executed, "");
  EXPECT_NE(precision.proof.find("not told apart"), std::string::npos) << precision.proof;
}

}  // namespace
}  // namespace assay
