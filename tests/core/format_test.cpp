// Names, sizes and limits of the number formats, against what their specifications publish.
// SPDX-License-Identifier: Apache-2.0
#include "core/format.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace assay {
namespace {

TEST(Format, EveryNameReadsBack) {
  for (Element element : elements()) {
    EXPECT_EQ(parse_element(text(element)), element) << text(element);
    for (Scaling scaling :
         {Scaling::none, Scaling::tensor, Scaling::block32_ue8m0, Scaling::block16_e4m3, Scaling::group128}) {
      const Format format{element, scaling};
      EXPECT_EQ(parse_format(text(format)), format) << text(format);
    }
  }
  EXPECT_EQ(text(Format{Element::fp4_e2m1, Scaling::block16_e4m3}), "fp4_e2m1.block16_e4m3");
}

TEST(Format, RefusesNamesThatAreNotItsOwn) {
  EXPECT_EQ(parse_element("float"), std::nullopt);
  EXPECT_EQ(parse_element(""), std::nullopt);
  EXPECT_EQ(parse_format("bf16."), std::nullopt);
  EXPECT_EQ(parse_format("bf16.none"), std::nullopt);
  EXPECT_EQ(parse_format("bf16.tensor.tensor"), std::nullopt);
}

TEST(Format, BytesOfElementsFollowTheBits) {
  EXPECT_EQ(element_bytes(Element::bf16, 3, 5), 30);     // 3 x 5 x 2
  EXPECT_EQ(element_bytes(Element::tf32, 3, 5), 60);     // kept as fp32
  EXPECT_EQ(element_bytes(Element::fp4_e2m1, 3, 5), 9);  // a row of 5 takes 3 bytes
  EXPECT_EQ(element_bytes(Element::fp8_e4m3, 1000, 0), 0);
}

TEST(Format, BytesOfScalesFollowTheBlocks) {
  EXPECT_EQ(scale_bytes({Element::fp8_e4m3, Scaling::none}, 4, 100), 0);
  EXPECT_EQ(scale_bytes({Element::fp8_e4m3, Scaling::tensor}, 4, 100), 4);
  EXPECT_EQ(scale_bytes({Element::fp8_e4m3, Scaling::block32_ue8m0}, 4, 100), 16);  // 4 rows x ceil(100/32) x 1 byte
  EXPECT_EQ(scale_bytes({Element::fp4_e2m1, Scaling::block16_e4m3}, 4, 100), 32);  // 4 x ceil(100/16) x 1, and one fp32
  EXPECT_EQ(scale_bytes({Element::int8, Scaling::group128}, 4, 256), 32);          // 4 x 2 x 4
}

TEST(Format, RefusesSizesThatDoNotFit) {
  EXPECT_THROW(element_bytes(Element::fp64, std::int64_t{1} << 40, std::int64_t{1} << 30), Error);
  EXPECT_THROW(element_bytes(Element::fp64, -1, 4), Error);
  EXPECT_THROW(scale_bytes({Element::int8, Scaling::group128}, std::int64_t{1} << 62, std::int64_t{1} << 20), Error);
}

TEST(Format, LargestValuesAreThePublishedOnes) {
  EXPECT_EQ(largest(Element::fp8_e4m3), 448);         // OCP 8-bit floating point specification, table 1
  EXPECT_EQ(largest(Element::fp8_e5m2), 57344);       // the same
  EXPECT_EQ(largest(Element::fp8_e4m3_fnuz), 240);    // AMD CDNA 3 instruction set, FP8
  EXPECT_EQ(largest(Element::fp8_e5m2_fnuz), 57344);  // the same
  EXPECT_EQ(largest(Element::fp4_e2m1), 6);           // OCP microscaling formats, table 1
  EXPECT_EQ(largest(Element::fp16), 65504);
  EXPECT_EQ(largest(Element::bf16), 3.3895313892515355e38);  // (2 - 2^-7) 2^127
}

TEST(Format, RoundoffIsHalfTheStepAfterOne) {
  EXPECT_EQ(unit_roundoff(Element::bf16), 1.0 / 256);       // 8 significant bits
  EXPECT_EQ(unit_roundoff(Element::fp16), 1.0 / 2048);      // 11
  EXPECT_EQ(unit_roundoff(Element::tf32), 1.0 / 2048);      // 11
  EXPECT_EQ(unit_roundoff(Element::fp32), 1.0 / 16777216);  // 24
  EXPECT_EQ(unit_roundoff(Element::int8), 0);
}

TEST(Format, ExactIntegersReachTwoToTheSignificantBits) {
  EXPECT_EQ(exact_integers_to(Element::bf16), 256);
  EXPECT_EQ(exact_integers_to(Element::fp8_e4m3), 16);
  EXPECT_EQ(exact_integers_to(Element::fp4_e2m1), 4);
  EXPECT_EQ(exact_integers_to(Element::int8), 127);
}

}  // namespace
}  // namespace assay
