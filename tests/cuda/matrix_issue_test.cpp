// Issue-rate kernels: which there are, what their operands hold, and what their sums must be, by the layouts of the PTX
// ISA written down once more here.
// SPDX-License-Identifier: Apache-2.0
#include "cuda/matrix_issue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>

#include "core/error.h"
#include "core/number.h"
#include "cuda/matrix_issue_data.h"
#include "cuda/matrix_issue_proof.h"
#include "cuda/tcgen05_descriptor.h"
#include "cuda/wgmma_descriptor.h"

namespace vendor {
namespace {

using assay::Element;
using assay::Issue;
using assay::Scaling;
using assay::Unit;
using testing::HasSubstr;

constexpr std::uint32_t seed = 7;

Issue issue_of(Element element, Element accumulate, Scaling scaling = Scaling::none) {
  Issue issue;
  issue.operands = {element, scaling};
  issue.accumulate = accumulate;
  issue.unit = Unit::matrix;
  return issue;
}

std::string first_instruction(const Issue& issue, int architecture) {
  const auto kernels = matrix_issue_kernels(issue, architecture);
  return kernels.empty() ? "" : kernels.front().instruction;
}

TEST(MatrixIssue, EachArchitectureTakesItsOwnInstruction) {
  const Issue fp16 = issue_of(Element::fp16, Element::fp32);
  EXPECT_EQ(first_instruction(fp16, 75), "mma.sync m16n8k8.row.col.f32.f16.f16.f32");
  EXPECT_EQ(first_instruction(fp16, 80), "mma.sync m16n8k16.row.col.f32.f16.f16.f32");
  EXPECT_THAT(first_instruction(fp16, 90), HasSubstr("wgmma m64n256k16.f32.f16.f16"));
  EXPECT_THAT(first_instruction(fp16, 100), HasSubstr("tcgen05.mma kind::f16"));
  EXPECT_THAT(first_instruction(fp16, 103), HasSubstr("tcgen05.mma kind::f16"));
  EXPECT_EQ(first_instruction(fp16, 120), "mma.sync m16n8k16.row.col.f32.f16.f16.f32");
}

TEST(MatrixIssue, FormatsAppearWithTheirArchitecture) {
  const auto has = [](const Issue& issue, int architecture) { return !first_instruction(issue, architecture).empty(); };
  const Issue bf16 = issue_of(Element::bf16, Element::fp32);
  const Issue fp8 = issue_of(Element::fp8_e4m3, Element::fp32);
  const Issue fp64 = issue_of(Element::fp64, Element::fp64);
  const Issue mxfp8 = issue_of(Element::fp8_e4m3, Element::fp32, Scaling::block32_ue8m0);
  const Issue nvfp4 = issue_of(Element::fp4_e2m1, Element::fp32, Scaling::block16_e4m3);
  EXPECT_FALSE(has(bf16, 75));
  EXPECT_TRUE(has(bf16, 80));
  EXPECT_FALSE(has(fp8, 86));
  EXPECT_TRUE(has(fp8, 89));
  EXPECT_FALSE(has(fp64, 75));
  EXPECT_TRUE(has(fp64, 80));
  EXPECT_FALSE(has(mxfp8, 90));
  EXPECT_TRUE(has(mxfp8, 100));
  EXPECT_TRUE(has(mxfp8, 120));
  EXPECT_FALSE(has(nvfp4, 90));
  EXPECT_THAT(first_instruction(nvfp4, 100), HasSubstr("mxf4nvf4"));
  EXPECT_THAT(first_instruction(nvfp4, 120), HasSubstr("mxf4nvf4"));
  EXPECT_TRUE(has(issue_of(Element::fp8_e4m3, Element::fp32, Scaling::tensor), 90));
  EXPECT_FALSE(has(issue_of(Element::fp32, Element::fp32), 90));
}

TEST(MatrixIssue, TheDeeperFp4ProductIsTriedOnItsOwnArchitectureAlone) {
  const auto has_96 = [](int architecture) {
    for (const IssueKernel& kernel :
         matrix_issue_kernels(issue_of(Element::fp4_e2m1, Element::fp32, Scaling::block16_e4m3), architecture)) {
      if (kernel.shape.k == 96) return true;
    }
    return false;
  };
  EXPECT_FALSE(has_96(100));
  EXPECT_TRUE(has_96(103));
}

TEST(MatrixIssue, AMissingFormatIsExplained) {
  const auto support = matrix_issue_possible(issue_of(Element::fp8_e4m3, Element::fp32), 80);
  EXPECT_FALSE(support.yes);
  EXPECT_THAT(support.reason, HasSubstr("sm_80"));
  EXPECT_THAT(support.reason, HasSubstr("fp8_e4m3"));
}

TEST(MatrixIssue, ATurnIsCountedInMultiplyAdds) {
  // 8 warps of 8 accumulators, each added to and subtracted from: 8 x 8 x 2 products of 16 x 8 x 16.
  const IssueKernel ampere = matrix_issue_kernels(issue_of(Element::bf16, Element::fp32), 80).front();
  EXPECT_EQ(ampere.multiply_adds_a_turn, 262144.0);
  // Four slices, each added and subtracted: 8 products of 64 x 256 x 16.
  const IssueKernel hopper = matrix_issue_kernels(issue_of(Element::bf16, Element::fp32), 90).front();
  EXPECT_EQ(hopper.multiply_adds_a_turn, 2097152.0);
  const IssueKernel blackwell = matrix_issue_kernels(issue_of(Element::bf16, Element::fp32), 100).front();
  EXPECT_EQ(blackwell.multiply_adds_a_turn, 4194304.0);
}

TEST(IssueData, IsVariedFiniteAndOfTheRightSize) {
  for (const Element element : {Element::bf16, Element::fp16, Element::tf32, Element::fp8_e4m3, Element::fp8_e5m2}) {
    const unsigned width = element_bits(element);
    std::set<double> values;
    double largest = 0;
    double smallest = 100;
    for (std::uint64_t index = 0; index < 200; ++index) {
      const std::uint32_t word = typical_word(element, seed, index);
      for (unsigned at = 0; at < 32; at += width) {
        const std::uint64_t mask = (std::uint64_t{1} << width) - 1;
        const double value = assay::decode(element, (word >> at) & mask);
        values.insert(value);
        largest = std::max(largest, std::fabs(value));
        smallest = std::min(smallest, std::fabs(value));
      }
    }
    EXPECT_LT(largest, 2) << assay::text(element);
    EXPECT_GE(smallest, 0.25) << assay::text(element);
    // E5M2 has 4 mantissas, 3 exponents and 2 signs here: 24 values.
    EXPECT_GE(values.size(), 24U) << assay::text(element);
  }
}

TEST(IssueData, Tf32HoldsNothingThatTheUnitWouldCut) {
  for (std::uint64_t index = 0; index < 100; ++index) EXPECT_EQ(typical_word(Element::tf32, seed, index) & 0x1FFFU, 0U);
}

TEST(IssueData, NeighboursInAWordDiffer) {
  int equal = 0;
  for (std::uint64_t index = 0; index < 100; ++index) {
    const std::uint32_t word = typical_word(Element::bf16, seed, index);
    if ((word & 0xFFFFU) == word >> 16U) ++equal;
  }
  EXPECT_LE(equal, 3);
}

TEST(IssueData, NegatedWordsHoldTheNegatedNumbers) {
  for (const Element element : {Element::bf16, Element::fp16, Element::tf32, Element::fp8_e4m3, Element::fp8_e5m2,
                                Element::int8, Element::fp4_e2m1}) {
    const unsigned width = element_bits(element);
    const std::uint64_t mask = (std::uint64_t{1} << width) - 1;
    for (std::uint64_t index = 0; index < 50; ++index) {
      const std::uint32_t word = typical_word(element, seed, index);
      const std::uint32_t negated = negated_word(element, word);
      for (unsigned at = 0; at < 32; at += width) {
        EXPECT_EQ(assay::decode(element, (negated >> at) & mask), -assay::decode(element, (word >> at) & mask));
      }
    }
  }
}

TEST(SharedLayout, ExchangesPiecesOf16BytesByTheRow) {
  EXPECT_EQ(swizzled_offset(0, 0), 0U);
  EXPECT_EQ(swizzled_offset(1, 0), 144U);         // row 1 of 128 bytes, piece 0 exchanged with 1
  EXPECT_EQ(swizzled_offset(7, 3), 896U + 115U);  // piece 7
  EXPECT_EQ(swizzled_offset(8, 0), 1024U);
  std::set<std::uint32_t> seen;
  for (std::uint32_t row = 0; row < 16; ++row) {
    for (std::uint32_t byte = 0; byte < 128; ++byte) seen.insert(swizzled_offset(row, byte));
  }
  EXPECT_EQ(seen.size(), 2048U);
}

TEST(SharedDescriptor, HasTheFieldsOfThePtxIsa) {
  // Start 0x400 and the stride of 1024 without their low four bits are 0x40 each, the leading offset 1.
  EXPECT_EQ(wgmma_descriptor({0x400}), 0x4000004000010040U);                  // swizzle 1 at bit 62
  EXPECT_EQ(tcgen05_shared_descriptor({0x400}), 0x4000404000010040U);         // 2 at bit 61, and the constant at bit 46
  EXPECT_EQ(wgmma_descriptor({0x420}) - wgmma_descriptor({0x400}), 2U);       // 32 bytes along K
  EXPECT_EQ(wgmma_descriptor({0x40000 + 0x400}), wgmma_descriptor({0x400}));  // 18 bits count
}

TEST(InstructionDescriptor, HasTheFieldsOfThePtxIsa) {
  // FP32 sums 1 << 4, BF16 1 << 7 and 1 << 10, N 256 / 8 << 17, M 128 / 16 << 24.
  EXPECT_EQ(tcgen05_instruction({Tcgen05Sum::fp32, Tcgen05Element::bf16, 128, 256, false}), 0x08400490U);
  EXPECT_EQ(tcgen05_instruction({Tcgen05Sum::fp32, Tcgen05Element::bf16, 128, 256, true}), 0x08402490U);
  // TF32 is 2: 2 << 7 and 2 << 10.
  EXPECT_EQ(tcgen05_instruction({Tcgen05Sum::fp32, Tcgen05Element::tf32, 128, 256, false}), 0x08400910U);
  // INT32 sums 2 << 4, signed bytes 1.
  EXPECT_EQ(tcgen05_instruction({Tcgen05Sum::int32, Tcgen05Element::int8, 128, 128, false}), 0x082004A0U);
  EXPECT_EQ(tcgen05_instruction({Tcgen05Sum::fp16, Tcgen05Element::fp16, 64, 8, false}), 0x04020000U);
}

TEST(InstructionDescriptor, OfBlockScaledKindsHasTheFieldsOfThePtxIsa) {
  // E4M3 0, N 256 / 8 << 17, UE8M0 1 << 23, M 128 / 128 << 27.
  EXPECT_EQ(tcgen05_scaled_instruction({Tcgen05Element::e4m3, Tcgen05Scale::ue8m0, 128, 256, false, false}),
            0x08C00000U);
  // E2M1 1 << 7 and 1 << 10, E4M3 scales 0, and K of 96 in the highest bit.
  const Tcgen05ScaledInstruction nvfp4{Tcgen05Element::packed_e2m1, Tcgen05Scale::e4m3, 128, 256, false, false};
  EXPECT_EQ(tcgen05_scaled_instruction(nvfp4), 0x08400480U);
  EXPECT_EQ(tcgen05_scaled_instruction({Tcgen05Element::packed_e2m1, Tcgen05Scale::e4m3, 128, 256, true, true}),
            0x88402480U);
}

// "Matrix fragments for mma" of the PTX ISA: row and K of element i of a lane's A, K of element i of its B (whose
// column is lane / 4).
struct Fragments {
  int a_elements;
  int b_elements;
  std::function<int(int lane, int i)> a_row;
  std::function<int(int lane, int i)> a_k;
  std::function<int(int lane, int i)> b_k;
};

Fragments of_16_bits() {
  return {8, 4, [](int lane, int i) { return lane / 4 + ((i < 2 || (i >= 4 && i < 6)) ? 0 : 8); },
          [](int lane, int i) { return lane % 4 * 2 + (i & 1) + (i >= 4 ? 8 : 0); },
          [](int lane, int i) { return lane % 4 * 2 + (i & 1) + (i >= 2 ? 8 : 0); }};
}
Fragments of_8_bits() {
  return {16, 8, [](int lane, int i) { return lane / 4 + ((i < 4 || (i >= 8 && i < 12)) ? 0 : 8); },
          [](int lane, int i) { return lane % 4 * 4 + (i & 3) + (i >= 8 ? 16 : 0); },
          [](int lane, int i) { return lane % 4 * 4 + (i & 3) + (i >= 4 ? 16 : 0); }};
}
Fragments of_tf32() {
  return {4, 2, [](int lane, int i) { return lane / 4 + (i == 0 || i == 2 ? 0 : 8); },
          [](int lane, int i) { return lane % 4 + (i >= 2 ? 4 : 0); },
          [](int lane, int i) { return lane % 4 + (i == 1 ? 4 : 0); }};
}
Fragments of_fp64_16() {
  return {8, 4, [](int lane, int i) { return lane / 4 + (i % 2 == 0 ? 0 : 8); },
          [](int lane, int i) { return (i % 2 == 0 ? i * 2 : i * 2 - 2) + lane % 4; },
          [](int lane, int i) { return lane % 4 + i * 4; }};
}
Fragments of_fp64_8() {
  return {1, 1, [](int lane, int) { return lane / 4; }, [](int lane, int) { return lane % 4; },
          [](int lane, int) { return lane % 4; }};
}

double element_of(const IssueShape& shape, int first_word, int lane, int i) {
  if (shape.element == Element::fp64) {
    return typical_double(seed, static_cast<std::uint64_t>(first_word + i) * 32 + static_cast<std::uint64_t>(lane));
  }
  const int each = static_cast<int>(32 / element_bits(shape.element));
  const std::uint32_t word = typical_word(
      shape.element, seed, static_cast<std::uint64_t>(first_word + i / each) * 32 + static_cast<std::uint64_t>(lane));
  const unsigned width = element_bits(shape.element);
  return assay::decode(shape.element,
                       (word >> (static_cast<unsigned>(i % each) * width)) & ((std::uint64_t{1} << width) - 1));
}

void expect_sums_by_fragments(const IssueKernel& kernel, const Fragments& fragments) {
  const IssueShape& shape = kernel.shape;
  for (int chain = 0; chain < shape.chains; ++chain) {
    std::vector<double> a(static_cast<std::size_t>(shape.m * shape.k), 0);
    std::vector<double> b(static_cast<std::size_t>(8 * shape.k), 0);
    for (int lane = 0; lane < 32; ++lane) {
      for (int i = 0; i < fragments.a_elements; ++i) {
        a[static_cast<std::size_t>(fragments.a_row(lane, i) * shape.k + fragments.a_k(lane, i))] =
            element_of(shape, chain % 2 * shape.a_words, lane, i);
      }
      for (int i = 0; i < fragments.b_elements; ++i) {
        b[static_cast<std::size_t>(lane / 4 * shape.k + fragments.b_k(lane, i))] =
            element_of(shape, 32 + chain / 2 % 2 * shape.b_words, lane, i);
      }
    }
    for (int row = 0; row < shape.m; ++row) {
      for (int column = 0; column < 8; ++column) {
        double sum = 0;
        for (int at = 0; at < shape.k; ++at) {
          sum += a[static_cast<std::size_t>(row * shape.k + at)] * b[static_cast<std::size_t>(column * shape.k + at)];
        }
        EXPECT_NEAR(expected_sum(shape, seed, 3, chain, row, column).value, sum, 1e-9);
      }
    }
  }
}

TEST(IssueProof, SumsAreThoseOfThePtxFragments) {
  const auto first = [](Element element, Element accumulate, int architecture) {
    return matrix_issue_kernels(issue_of(element, accumulate), architecture).front();
  };
  expect_sums_by_fragments(first(Element::bf16, Element::fp32, 80), of_16_bits());
  expect_sums_by_fragments(first(Element::fp16, Element::fp16, 80), of_16_bits());
  expect_sums_by_fragments(first(Element::int8, Element::int32, 80), of_8_bits());
  expect_sums_by_fragments(first(Element::fp8_e4m3, Element::fp32, 89), of_8_bits());
  expect_sums_by_fragments(first(Element::tf32, Element::fp32, 80), of_tf32());
  expect_sums_by_fragments(first(Element::fp64, Element::fp64, 90), of_fp64_16());
  expect_sums_by_fragments(first(Element::fp64, Element::fp64, 80), of_fp64_8());
}

TEST(IssueProof, EveryOutputWordHasItsOwnPlace) {
  for (const int architecture : {75, 80, 90, 100, 103, 120}) {
    for (const Issue& issue : {issue_of(Element::fp16, Element::fp32), issue_of(Element::fp16, Element::fp16),
                               issue_of(Element::int8, Element::int32), issue_of(Element::fp64, Element::fp64)}) {
      for (const IssueKernel& kernel : matrix_issue_kernels(issue, architecture)) {
        std::set<std::array<int, 4>> seen;
        const std::size_t words = kernel.words_out / (issue.operands.element == Element::fp64 ? 2 : 1);
        const bool warps_repeat = kernel.shape.family == IssueFamily::mma;  // each warp sums the same
        const std::size_t distinct = warps_repeat ? words / (kernel.threads / 32) : words;
        for (std::size_t word = 0; word < distinct; ++word) {
          for (int half = 0; half < sums_a_word(kernel.shape); ++half) {
            const SumPlace at = place_of_sum(kernel.shape, word, half);
            EXPECT_TRUE(at.row < kernel.shape.m && at.column < kernel.shape.n);
            seen.insert({at.chain, at.row, at.column, 0});
          }
        }
        EXPECT_EQ(seen.size(), static_cast<std::size_t>(kernel.shape.m * kernel.shape.n * kernel.shape.chains))
            << kernel.instruction;
      }
    }
  }
}

// An output as a right kernel would store it.
std::vector<std::uint32_t> right_output(const IssueKernel& kernel, int turns) {
  std::vector<std::uint32_t> out(kernel.words_out);
  for (std::size_t word = 0; word < out.size(); ++word) {
    const SumPlace at = place_of_sum(kernel.shape, word, 0);
    const double value = expected_sum(kernel.shape, seed, turns, at.chain, at.row, at.column).value;
    out[word] = static_cast<std::uint32_t>(assay::encode(kernel.shape.sum, value));
  }
  return out;
}

TEST(IssueProof, FindsOneWrongSumAndNoOther) {
  const IssueKernel kernel = matrix_issue_kernels(issue_of(Element::bf16, Element::fp32), 80).front();
  std::vector<std::uint32_t> out = right_output(kernel, 1);
  EXPECT_EQ(wrong_sum(kernel, seed, 1, out, 1), std::nullopt);
  out[100] ^= 0x80000000U;  // the other sign
  const auto wrong = wrong_sum(kernel, seed, 1, out, 1);
  ASSERT_TRUE(wrong.has_value());
  EXPECT_THAT(*wrong, HasSubstr("should be"));
  out[100] = 0x7FC00000U;  // NaN
  EXPECT_TRUE(wrong_sum(kernel, seed, 1, out, 1).has_value());
}

TEST(IssueProof, IntegersAddUpOverTheTurns) {
  const IssueKernel hopper = matrix_issue_kernels(issue_of(Element::int8, Element::int32), 90).front();
  const double once = expected_sum(hopper.shape, seed, 0, 0, 3, 5).value;
  const double twice = expected_sum(hopper.shape, seed, 1, 0, 3, 5).value;
  const double thrice = expected_sum(hopper.shape, seed, 2, 0, 3, 5).value;
  EXPECT_NE(twice, once);
  EXPECT_EQ(thrice - twice, twice - once);
}

}  // namespace
}  // namespace vendor
