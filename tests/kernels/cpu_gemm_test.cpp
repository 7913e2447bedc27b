// Matrix products of the CPU plug-in against the op's own formula.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/cpu/backend.h"
#include "tests/kernels/check_op.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

// Odd sizes, so that every tail is seen; 'extra' is appended to each format's op.
void expect_all_formats(Backend& backend, const std::string& shape, const std::string& extra, Preparation how = {}) {
  const std::vector<std::string> formats = {"a=fp32 b=fp32 d=fp32",
                                            "a=bf16 b=bf16 d=bf16",
                                            "a=bf16 b=bf16 d=fp32",
                                            "a=fp16 b=fp16 d=fp16",
                                            "a=fp16 b=fp16 d=fp32",
                                            "a=fp8_e4m3 b=fp8_e4m3 d=bf16",
                                            "a=fp8_e4m3.tensor b=fp8_e4m3.tensor d=bf16 scales=true",
                                            "a=fp8_e5m2.tensor b=fp8_e4m3.tensor d=fp32 scales=true",
                                            "a=int8 b=int8 d=int32 accumulate=int32",
                                            "a=int8 b=int8 d=fp32 accumulate=int32",
                                            "a=int8 b=int8 d=bf16 accumulate=int32",
                                            "a=fp64 b=fp64 d=fp64 accumulate=fp64"};
  for (const std::string& format : formats) {
    const std::string text = "gemm " + shape + " " + format + (extra.empty() ? "" : " " + extra);
    if (!backend.supports(parse_op(text), 0).yes) {
      continue;  // BF16 needs AVX-512, and integers are not added to; both have tests of their own
    }
    for (const Pattern pattern : {Pattern::exact, Pattern::typical}) {
      expect_right(backend, text, pattern, how);
    }
  }
}

TEST(CpuGemm, IsRightForOddShapesInEveryFormat) {
  const auto backend = cpu::make_backend();
  for (const char* shape : {"m=33 n=17 k=65", "m=1 n=40 k=24", "m=40 n=1 k=24", "m=3 n=5 k=1", "m=64 n=64 k=64"}) {
    expect_all_formats(*backend, shape, "");
  }
}

TEST(CpuGemm, IsRightForEveryTransposition) {
  const auto backend = cpu::make_backend();
  for (const char* extra : {"transpose_a=true", "transpose_b=true", "transpose_a=true transpose_b=true"}) {
    expect_all_formats(*backend, "m=19 n=35 k=21", extra);
  }
}

TEST(CpuGemm, IsRightForBatchesInEveryTransposition) {
  const auto backend = cpu::make_backend();
  for (const char* extra : {"", "transpose_a=true", "transpose_b=true", "transpose_a=true transpose_b=true"}) {
    expect_all_formats(*backend, "batch=3 m=9 n=13 k=7", extra);
  }
}

TEST(CpuGemm, AddsToWhatIsThere) {
  const auto backend = cpu::make_backend();
  expect_all_formats(*backend, "m=17 n=23 k=31", "beta=1");
  expect_all_formats(*backend, "batch=2 m=17 n=23 k=31", "beta=1");
}

TEST(CpuGemm, AddsABiasAndActivates) {
  const auto backend = cpu::make_backend();
  for (const char* extra : {"bias=true", "bias=true activation=relu", "bias=true activation=gelu", "activation=gelu",
                            "beta=1 bias=true activation=relu"}) {
    for (const char* format :
         {"a=fp32 b=fp32 d=fp32", "a=fp64 b=fp64 d=fp64 accumulate=fp64", "a=bf16 b=bf16 d=bf16"}) {
      if (!backend->supports(parse_op(std::string("gemm m=1 n=1 k=1 ") + format), 0).yes) {
        continue;
      }
      for (const char* shape : {"m=14 n=22 k=18", "batch=2 m=14 n=22 k=18"}) {
        const std::string text = std::string("gemm ") + shape + " " + format + " " + extra;
        expect_right(*backend, text, Pattern::exact);
        expect_right(*backend, text, Pattern::typical);
      }
    }
  }
}

TEST(CpuGemm, ScalesTheProductButNotTheBias) {
  const auto backend = cpu::make_backend();
  for (const char* extra :
       {"alpha=0.125", "beta=1 alpha=0.3", "bias=true alpha=0.3", "beta=1 bias=true activation=gelu alpha=0.3"}) {
    for (const char* format :
         {"a=fp32 b=fp32 d=fp32", "a=fp64 b=fp64 d=fp64 accumulate=fp64", "a=bf16 b=bf16 d=bf16"}) {
      if (!backend->supports(parse_op(std::string("gemm m=1 n=1 k=1 ") + format), 0).yes) {
        continue;
      }
      std::string text = std::string("gemm m=14 n=22 k=18 ") + format;
      const std::string all = extra;
      expect_right(*backend, text + " " + all, Pattern::typical);
    }
  }
}

TEST(CpuGemm, IsRightWithTheBestAlgorithmToo) {
  const auto backend = cpu::make_backend();
  Preparation best;
  best.algorithm = Algorithm::best;
  expect_all_formats(*backend, "m=70 n=50 k=90", "", best);
  expect_all_formats(*backend, "m=70 n=50 k=90", "transpose_b=true beta=1", best);
  expect_all_formats(*backend, "batch=2 m=33 n=17 k=65", "", best);
}

TEST(CpuGemm, SeesASecondMatrixThatIsWrittenAnewAlsoWhenItWasPacked) {
  const auto backend = cpu::make_backend();
  Preparation best;
  best.algorithm = Algorithm::best;
  const Work work = single(parse_op("gemm m=1 n=2 k=2 a=fp32 b=fp32 d=fp32"));
  const auto program = backend->prepare(work, 0, best);
  program->fill(Pattern::zero, 1);
  const auto stored = [](std::vector<float> values) {
    std::vector<std::byte> bytes(values.size() * sizeof(float));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
  };
  program->write(0, stored({1, 2}));
  program->write(1, stored({3, 4, 5, 6}));
  program->run(1);
  EXPECT_THAT(program->read(2, 0, 2), ::testing::ElementsAre(13, 16));  // 1*3 + 2*5, 1*4 + 2*6
  program->write(1, stored({1, 0, 0, 1}));
  program->run(1);
  EXPECT_THAT(program->read(2, 0, 2), ::testing::ElementsAre(1, 2));  // times the identity
}

TEST(CpuGemm, NamesLibraryVersionAndImplementation) {
  const auto backend = cpu::make_backend();
  const auto single_precision = backend->prepare(single(parse_op("gemm m=64 n=64 k=64 a=fp32 b=fp32 d=fp32")), 0, {});
  EXPECT_THAT(single_precision->choice().method,
              ::testing::MatchesRegex("(onednn|openblas) [0-9]+\\.[0-9]+\\.[0-9]+ .+"));
  EXPECT_EQ(single_precision->choice().executed, "fp32");
  const auto double_precision =
      backend->prepare(single(parse_op("gemm m=64 n=64 k=64 a=fp64 b=fp64 d=fp64 accumulate=fp64")), 0, {});
  EXPECT_THAT(double_precision->choice().method,
              ::testing::MatchesRegex("openblas [0-9]+\\.[0-9]+\\.[0-9]+ [A-Za-z0-9]+"));
}

TEST(CpuGemm, SaysWhyItCannotDoOtherFormats) {
  const auto backend = cpu::make_backend();
  const auto reason = [&](const std::string& text) {
    const Support support = backend->supports(parse_op(text), 0);
    EXPECT_FALSE(support.yes) << text;
    return support.reason;
  };
  EXPECT_THAT(reason("gemm m=8 n=8 k=8 a=tf32 b=tf32 d=fp32"), HasSubstr("no TF32"));
  EXPECT_THAT(reason("gemm m=8 n=8 k=8 a=fp8_e4m3_fnuz b=fp8_e4m3_fnuz d=fp32"), HasSubstr("fp8_e4m3_fnuz"));
  EXPECT_THAT(reason("gemm m=8 n=8 k=8 a=fp32 b=fp32 d=fp32 scales=true"), HasSubstr("scaled"));
  EXPECT_THAT(reason("gemm m=8 n=8 k=8 a=fp4_e2m1.block16_e4m3 b=fp4_e2m1.block16_e4m3 d=fp32"), HasSubstr("scaled"));
  EXPECT_THAT(reason("gemm m=8 n=8 k=8 a=bf16 b=fp32 d=fp32"), HasSubstr("two formats"));
  EXPECT_THAT(reason("gemm m=8 n=8 k=8 a=fp32 b=fp32 d=fp32 accumulate=fp64"), HasSubstr("added up in fp32"));
  EXPECT_THAT(reason("gemm m=8 n=8 k=8 a=int8 b=int8 d=int32 accumulate=int32 beta=1"), HasSubstr("low bits"));
}

TEST(CpuGemm, KeepsToTheWorkspaceLimitOrSaysThatItCannot) {
  const auto backend = cpu::make_backend();
  Preparation tight;
  tight.workspace_limit = 0;
  tight.algorithm = Algorithm::best;
  const auto program =
      backend->prepare(single(parse_op("gemm m=64 n=64 k=64 a=fp64 b=fp64 d=fp64 accumulate=fp64")), 0, tight);
  EXPECT_EQ(program->choice().workspace, 0);
}

}  // namespace
}  // namespace assay
