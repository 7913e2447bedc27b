// Names of architectures, the two dialects of FP8, and where the sums of matrix instructions lie.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "core/issue_data.h"
#include "core/number.h"
#include "hip/architectures.h"
#include "hip/matrix_issue.h"
#include "hip/matrix_types.h"

namespace vendor {
namespace {

using assay::Element;
using testing::HasSubstr;

assay::Gemm gemm(Element operands, Element result, Element accumulate = Element::fp32) {
  assay::Gemm gemm;
  gemm.m = gemm.n = gemm.k = 256;
  gemm.a.element = gemm.b.element = operands;
  gemm.d.element = result;
  gemm.accumulate = accumulate;
  return gemm;
}

TEST(Architectures, NamesBecomeNumbersAndNamesAgain) {
  EXPECT_EQ(architecture_number("gfx942:sramecc+:xnack-"), 942);
  EXPECT_EQ(architecture_number("gfx90a"), 910);  // 9, 0, and a counts as 10
  EXPECT_EQ(architecture_number("gfx1100"), 1100);
  EXPECT_EQ(architecture_number("sm_90"), 0);
  EXPECT_EQ(architecture_number("gfx9-4-generic"), 0);
  for (const char* name : {"gfx906", "gfx908", "gfx90a", "gfx942", "gfx950", "gfx1030", "gfx1100", "gfx1201"}) {
    EXPECT_EQ(architecture_text(architecture_number(name)), name);
  }
}

TEST(Architectures, EachSpeaksOneDialectOfFp8) {
  EXPECT_EQ(fp8_dialect(910), Fp8Dialect::none);
  EXPECT_EQ(fp8_dialect(942), Fp8Dialect::fnuz);
  EXPECT_EQ(fp8_dialect(950), Fp8Dialect::ocp);
  EXPECT_EQ(fp8_dialect(1100), Fp8Dialect::none);
  EXPECT_EQ(fp8_dialect(1201), Fp8Dialect::ocp);
}

TEST(HipMatrixTypes, TheDialectsOfFp8AreNeverTakenForEachOther) {
  EXPECT_TRUE(formats_possible(gemm(Element::fp8_e4m3_fnuz, Element::bf16), 942).yes);
  EXPECT_THAT(formats_possible(gemm(Element::fp8_e4m3, Element::bf16), 942).reason, HasSubstr("FNUZ"));
  EXPECT_TRUE(formats_possible(gemm(Element::fp8_e4m3, Element::bf16), 950).yes);
  EXPECT_THAT(formats_possible(gemm(Element::fp8_e4m3_fnuz, Element::bf16), 950).reason, HasSubstr("OCP"));
  EXPECT_THAT(formats_possible(gemm(Element::fp8_e4m3, Element::bf16), 910).reason, HasSubstr("gfx90a has no FP8"));
}

TEST(HipMatrixTypes, Xf32IsOnMi300Alone) {
  EXPECT_TRUE(formats_possible(gemm(Element::tf32, Element::fp32), 942).yes);
  EXPECT_FALSE(formats_possible(gemm(Element::tf32, Element::fp32), 950).yes);
  EXPECT_FALSE(formats_possible(gemm(Element::tf32, Element::fp32), 910).yes);
}

// Every element of D is one lane's, and one only.
void expect_all_places(const IssueShape& shape) {
  std::set<std::pair<int, int>> places;
  for (int lane = 0; lane < shape.lanes; ++lane) {
    for (int sum = 0; sum < shape.sums; ++sum) places.insert({row_of_sum(shape, lane, sum), lane % shape.size});
  }
  EXPECT_EQ(places.size(), static_cast<std::size_t>(shape.size) * static_cast<std::size_t>(shape.size));
  EXPECT_EQ(places.rbegin()->first, shape.size - 1);
}

TEST(HipIssueShape, SumsCoverTheWholeResult) {
  IssueShape shape;  // MFMA 32 x 32
  expect_all_places(shape);
  EXPECT_EQ(row_of_sum(shape, 33, 5), 13);  // the second four rows (5 / 4 * 8), the upper lanes (+ 4), then 5 mod 4
  shape.size = 16;
  shape.sums = 4;  // FP64
  expect_all_places(shape);
  shape.lanes = 32;
  shape.sums = 8;  // RDNA3: even rows in the lower lanes, odd ones in the upper
  expect_all_places(shape);
  EXPECT_EQ(row_of_sum(shape, 16, 3), 7);
  shape.split = true;  // RDNA4: the upper eight rows in the upper lanes
  expect_all_places(shape);
  EXPECT_EQ(row_of_sum(shape, 16, 3), 11);
}

// What a wavefront of RDNA3 leaves when it sums FP16 in FP16: the lower half of a register each. By the manual's
// layout: lane 16 g + c holds column c, and its i-th sum is of row 2 i + g.
TEST(HipIssueShape, HalvesAreReadFromTheirRegistersAndScalesCount) {
  IssueKernel kernel;
  kernel.shape = {Element::fp16, Element::fp16, 32, 16, 16, 8, 1, 8};
  kernel.words_out = 32 * 4 * 8;
  std::vector<std::uint32_t> out;
  for (int lane = 0; lane < 32; ++lane) {
    for (int chain = 0; chain < 4; ++chain) {
      for (int i = 0; i < 8; ++i) {
        double sum = 0;
        for (int word = 0; word < 8; ++word) {
          const auto a = assay::typical_word(Element::fp16, 7, issue_index(chain % 2, 2 * i + lane / 16, 0, word));
          const auto b = assay::typical_word(Element::fp16, 7, issue_index(2 + chain / 2, lane % 16, 0, word));
          for (const unsigned at : {0U, 16U}) {
            sum += assay::decode(Element::fp16, a >> at & 0xFFFFU) * assay::decode(Element::fp16, b >> at & 0xFFFFU);
          }
        }
        out.push_back(0xBEEF0000U | static_cast<std::uint32_t>(assay::encode(Element::fp16, sum)));
      }
    }
  }
  EXPECT_EQ(wrong_sum(kernel, 7, 1, out, 1), std::nullopt);
  kernel.shape.scale = 2;
  EXPECT_NE(wrong_sum(kernel, 7, 1, out, 1), std::nullopt) << "a unit that leaves scales out is found";
  kernel.shape.scale = 1;
  std::swap(out[0], out[1]);  // two rows of one lane
  EXPECT_NE(wrong_sum(kernel, 7, 1, out, 1), std::nullopt);
}

}  // namespace
}  // namespace vendor
