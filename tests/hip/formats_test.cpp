// Names of architectures, the two dialects of FP8, and where the sums of matrix instructions lie.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <utility>

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

}  // namespace
}  // namespace vendor
