// Ops as text: canonical, back again, and refused with a reason.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>

#include "core/error.h"
#include "core/op.h"
#include "tests/core/random_op.h"

namespace assay {
namespace {

using ::testing::HasSubstr;
constexpr Format bf16{Element::bf16, Scaling::none};

std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const BadInput& error) {
    return error.what();
  }
  return "not refused";
}
std::string refusal(const std::string& canonical) {
  return refusal([&] { parse_op(canonical); });
}

std::vector<Format> all_formats() {
  std::vector<Format> formats;
  for (const Element element : elements()) {
    for (const Scaling scaling :
         {Scaling::none, Scaling::tensor, Scaling::block32_ue8m0, Scaling::block16_e4m3, Scaling::group128}) {
      formats.push_back({element, scaling});
    }
  }
  return formats;
}

TEST(OpText, LeavesOutWhatIsAtItsDefault) {
  Gemm gemm;
  gemm.m = gemm.n = gemm.k = 1024;
  gemm.a = gemm.b = gemm.d = bf16;
  EXPECT_EQ(text(Op(gemm)), "gemm m=1024 n=1024 k=1024 a=bf16 b=bf16 d=bf16");
  Stream triad;
  triad.count = 8;
  EXPECT_EQ(text(Op(triad)), "stream count=8");
}

TEST(OpText, WritesEveryFieldInTheOrderOfTheStruct) {
  Gemm gemm{2,
            3,
            4,
            5,
            bf16,
            {Element::fp8_e4m3, Scaling::tensor},
            {Element::fp32, Scaling::none},
            Element::fp16,
            true,
            true,
            1,
            true,
            Activation::gelu,
            0.125};
  EXPECT_EQ(text(Op(gemm)),
            "gemm batch=2 m=3 n=4 k=5 a=bf16 b=fp8_e4m3.tensor accumulate=fp16 transpose_a=true transpose_b=true "
            "beta=1 bias=true activation=gelu alpha=0.125");
  const Transfer transfer{4096, {PlaceKind::host_pinned, 1}, {PlaceKind::device, 0}, CopyPath::kernel, true};
  EXPECT_EQ(text(Op(transfer)), "transfer bytes=4096 from=host_pinned:1 to=device:0 path=kernel both_ways=true");
}

TEST(OpText, ComesBackAsTheSameOp) {
  test::RandomOps random(1, 100000, all_formats());
  for (std::size_t kind = 0; kind < std::variant_size_v<Op>; ++kind) {
    for (int i = 0; i < 200; ++i) {
      const Op op = random.next(kind);
      const std::string canonical = text(op);
      const Op again = parse_op(canonical);
      ASSERT_TRUE(again == op) << canonical;
      ASSERT_EQ(text(again), canonical);
      ASSERT_EQ(hash(again), hash(op)) << canonical;
    }
  }
}

TEST(OpText, TellsDifferentOpsApart) {
  test::RandomOps random(2, 9, all_formats());
  for (std::size_t kind = 0; kind < std::variant_size_v<Op>; ++kind) {
    for (int i = 0; i < 300; ++i) {
      const Op a = random.next(kind);
      const Op b = random.next(kind);
      ASSERT_EQ(a == b, text(a) == text(b)) << text(a) << " and " << text(b);
    }
  }
}

TEST(OpText, HashesDifferentOpsDifferently) {
  std::set<std::size_t> hashes;
  for (std::int64_t m = 1; m <= 20; ++m) {
    for (std::int64_t n = 1; n <= 20; ++n) {
      Gemm gemm;
      gemm.m = m;
      gemm.n = n;
      gemm.k = 1;
      hashes.insert(hash(gemm));
    }
  }
  EXPECT_EQ(hashes.size(), 400U);
}

TEST(OpText, KeepsANumberThatIsNotShort) {
  Gemm gemm;
  gemm.m = gemm.n = gemm.k = 1;
  gemm.alpha = 0.08838834764831845;  // 1 / sqrt(128)
  EXPECT_EQ(text(Op(gemm)), "gemm m=1 n=1 k=1 alpha=0.08838834764831845");
  EXPECT_TRUE(parse_op(text(Op(gemm))) == Op(gemm));
}

TEST(OpText, ReadsFieldsInAnyOrderAndDefaultsThatAreSpelledOut) {
  EXPECT_EQ(text(parse_op("stream store=plain count=7 kind=copy")), "stream kind=copy count=7");
}

TEST(OpText, RefusesWhatItDoesNotKnowAndSuggests) {
  EXPECT_THAT(refusal("gem m=1"), HasSubstr("there is no op 'gem'"));
  EXPECT_THAT(refusal("gem m=1"), HasSubstr("did you mean 'gemm'?"));
  EXPECT_THAT(refusal("gemm m=1 n=1 k=1 acumulate=fp32"), HasSubstr("no field 'acumulate'"));
  EXPECT_THAT(refusal("gemm m=1 n=1 k=1 acumulate=fp32"), HasSubstr("did you mean 'accumulate'?"));
  EXPECT_THAT(refusal(""), HasSubstr("there is no op ''"));
}

TEST(OpText, NamesTheFieldAndWhatWasExpected) {
  EXPECT_THAT(refusal("gemm m=1 n=1"), HasSubstr("k is missing, expected a whole number of at least 1"));
  EXPECT_THAT(refusal("gemm m=1 n=1 k=0"), HasSubstr("k is '0', expected a whole number of at least 1"));
  EXPECT_THAT(refusal("gemm m=-3 n=1 k=1"), HasSubstr("m is '-3'"));
  EXPECT_THAT(refusal("gemm m=1x n=1 k=1"), HasSubstr("m is '1x'"));
  EXPECT_THAT(refusal("gemm m= n=1 k=1"), HasSubstr("m is ''"));
  EXPECT_THAT(refusal("gemm m=99999999999999999999 n=1 k=1"), HasSubstr("m is '99999999999999999999'"));
  EXPECT_THAT(refusal("gemm m=1 n=1 k=1 a=bf17"), HasSubstr("a is 'bf17', expected a format such as"));
  EXPECT_THAT(refusal("gemm m=1 n=1 k=1 beta=2"), HasSubstr("beta is '2', expected a whole number from 0 to 1"));
  EXPECT_THAT(refusal("gemm m=1 n=1 k=1 alpha=inf"), HasSubstr("alpha is 'inf', expected a finite number"));
  EXPECT_THAT(refusal("gemm m=1 n=1 k=1 bias=1"), HasSubstr("bias is '1', expected true or false"));
  EXPECT_THAT(refusal("stream kind=copy count=1 turns=2"), HasSubstr("turns is for kind=read only"));
  EXPECT_THAT(refusal("stream kind=quad count=1"), HasSubstr("expected one of copy, scale, add, triad, read, write"));
  EXPECT_THAT(refusal("transfer bytes=1 from=moon"), HasSubstr("from is 'moon', expected device, host_pinned"));
  EXPECT_THAT(refusal("transfer bytes=1 from=device:-1"), HasSubstr("from is 'device:-1'"));
}

TEST(OpText, RefusesLooseForms) {
  EXPECT_THAT(refusal("gemm m=1 m=1 n=1 k=1"), HasSubstr("m is given twice"));
  EXPECT_THAT(refusal("gemm m=1 n=1 k=1 "), HasSubstr("ends with a space"));
  EXPECT_THAT(refusal("gemm "), HasSubstr("ends with a space"));
  EXPECT_THAT(refusal("gemm  m=1 n=1 k=1"), HasSubstr("name=value"));
  EXPECT_THAT(refusal("gemm m"), HasSubstr("'m' is not of the form name=value"));
  EXPECT_THAT(refusal("gemm =1"), HasSubstr("'=1' is not of the form name=value"));
  EXPECT_THAT(refusal(std::string("gemm m=1\0 n=1 k=1", 17)), HasSubstr("m is '1"));
  EXPECT_THAT(refusal("gemm m=\n1 n=1 k=1"), HasSubstr("The op 'gemm m=?1 n=1 k=1' cannot be read"));
}

TEST(OpText, RefusesSizesBeyond63Bits) {
  // 2^31 x 2^31 elements of 4 bytes are 2^64 bytes.
  EXPECT_THAT(refusal("gemm m=2147483648 n=1 k=2147483648"), HasSubstr("too large"));
  // 2^21 in each direction: 2^44 bytes an operand, but 2^64 flops.
  EXPECT_THAT(refusal("gemm m=2097152 n=2097152 k=2097152"), HasSubstr("flops do not fit into 63 bits"));
  EXPECT_THAT(refusal("rope batch=1 length=1 heads=4611686018427387904 kv_heads=4611686018427387904 head_size=2"),
              HasSubstr("too large"));
  EXPECT_THAT(refusal("chase bytes=64 loads=9223372036854775807"), HasSubstr("bytes do not fit into 63 bits"));
}

TEST(OpText, RefusesFieldsThatDoNotGoTogether) {
  EXPECT_THAT(refusal("gemm m=1 n=1 k=1 accumulate=bf16"), HasSubstr("expected fp32, fp16, fp64 or int32"));
  EXPECT_THAT(refusal("softmax rows=4 columns=4 period=5"), HasSubstr("period is 5, expected at most the columns"));
  EXPECT_THAT(refusal("launch kind=allocate"), HasSubstr("bytes is missing"));
  EXPECT_THAT(refusal("launch bytes=4"), HasSubstr("for kind=allocate only"));
  EXPECT_THAT(refusal("pointwise rows=2 columns=2"), HasSubstr("rows is for swiglu only"));
  EXPECT_THAT(refusal("norm rows=1 columns=1 accumulate=true"), HasSubstr("for direction=backward only"));
  EXPECT_THAT(refusal("rope batch=1 length=1 heads=3 kv_heads=2 head_size=2"), HasSubstr("multiple of kv_heads"));
  EXPECT_THAT(refusal("rope batch=1 length=1 heads=2 kv_heads=2 head_size=3"), HasSubstr("even number"));
  EXPECT_THAT(refusal("chase bytes=4096 stride=12"), HasSubstr("multiple of 8"));
  EXPECT_THAT(refusal("chase bytes=100 stride=64"), HasSubstr("multiple of the stride"));
}

TEST(OpText, ChecksOpsMadeInCodeAlike) {
  EXPECT_THAT(refusal([] { check(Gemm{}); }), HasSubstr("m is 0, expected a whole number of at least 1"));
  Transfer transfer;
  transfer.bytes = 1;
  transfer.to.index = -2;
  EXPECT_THAT(refusal([&] { check(transfer); }), HasSubstr("to is device:-2"));
  Gemm gemm;
  gemm.m = gemm.n = gemm.k = 1;
  EXPECT_EQ(refusal([&] { check(gemm); }), "not refused");
}

TEST(OpText, CutsAHostileLineShort) {
  EXPECT_LT(refusal(std::string(1000000, 'x')).size(), 2000U);
  EXPECT_LT(refusal("gemm m=" + std::string(1000000, '9')).size(), 2000U);
}

}  // namespace
}  // namespace assay
