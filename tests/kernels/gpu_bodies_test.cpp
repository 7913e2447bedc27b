// The GPU's own kernels, run by whatever vendor this was built for, against the core's expectations.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "core/error.h"
#include "tests/kernels/gpu_bodies_runner.h"

namespace assay {
namespace {

const std::vector<std::string> common = {"fp32", "bf16", "fp16"};

// One element, less than a chunk, a tail, and more than a block's tile.
const std::vector<std::string> counts = {"1", "7", "33", "4097", "20011"};

TEST(GpuStreams, AllKindsAndFormats) {
  for (const std::string format : {"fp64", "fp32", "bf16", "fp16"}) {
    for (const std::string kind : {"copy", "scale", "add", "triad", "read", "write"}) {
      for (const std::string& count : counts) {
        expect_right("stream kind=" + kind + " count=" + count + " format=" + format);
        expect_right("stream kind=" + kind + " count=" + count + " format=" + format, Pattern::exact);
      }
    }
  }
}

TEST(GpuStreams, StoresPastTheCachesAreTheSame) {
  for (const std::string kind : {"copy", "scale", "add", "triad", "write"}) {
    expect_right("stream kind=" + kind + " count=20011 format=fp32 store=nontemporal");
    expect_right("stream kind=" + kind + " count=4099 format=bf16 store=nontemporal");
  }
}

TEST(GpuStreams, AnyBlockSizeReadsEverything) {
  for (const unsigned threads : block_sizes()) {
    expect_right("stream kind=read count=20011 format=fp32", Pattern::exact, threads);
    expect_right("stream kind=triad count=20011 format=fp64", Pattern::typical, threads);
  }
}

TEST(GpuPointwise, AllKindsAndFormats) {
  for (const std::string& format : common) {
    for (const std::string& count : counts) {
      for (const std::string kind : {"gelu", "gelu_backward", "add"}) {
        expect_right("pointwise kind=" + kind + " columns=" + count + " format=" + format);
      }
    }
    for (const std::string kind : {"swiglu", "swiglu_backward"}) {
      for (const std::string shape : {"rows=1 columns=1", "rows=5 columns=7", "rows=3 columns=64",
                                      "rows=2 columns=4097", "rows=301 columns=24", "rows=2 columns=6000"}) {
        expect_right("pointwise kind=" + kind + " " + shape + " format=" + format);
      }
    }
  }
}

TEST(GpuAdamW, EveryPairOfFormats) {
  for (const std::string& weight : common) {
    for (const std::string& gradient : common) {
      for (const std::string& count : counts) {
        expect_right("adamw count=" + count + " weight=" + weight + " gradient=" + gradient);
      }
    }
  }
}

// Scalar 4 is the flag: a step whose gradients overflowed leaves everything, and rounds the weight again.
TEST(GpuAdamW, ASkippedStepChangesNothingButTheWeight) {
  const Op op = parse_op("adamw count=101 weight=bf16 gradient=fp16");
  DeviceValues before = filled(op, Pattern::typical);
  before[0][4] = 1;
  before[1][50] = std::numeric_limits<double>::infinity();
  const DeviceValues after = run_on_device(op, before);
  EXPECT_EQ(after[2], before[2]);
  EXPECT_EQ(after[3], before[3]);
  EXPECT_EQ(after[4], before[4]);
  for (std::size_t i = 0; i < 101; ++i) EXPECT_EQ(after[5][i], rounded(Element::bf16, before[2][i]));
}

const std::vector<std::string> castable = {"fp32",     "bf16",          "fp16",          "fp8_e4m3",
                                           "fp8_e5m2", "fp8_e4m3_fnuz", "fp8_e5m2_fnuz", "int8"};

TEST(GpuCasts, EveryPairOfFormats) {
  for (const std::string& from : castable) {
    for (const std::string& to : castable) {
      for (const std::string count : {"1", "7", "1035"}) {
        expect_right("cast count=" + count + " from=" + from + " to=" + to);
        expect_right("cast count=" + count + " from=" + from + " to=" + to + ".tensor");
      }
    }
  }
}

// All finite fp16 numbers: each rounds as core/number.h rounds, ties and the ends of the ranges among them.
TEST(GpuCasts, RoundAsTheCoreEncodes) {
  std::vector<double> all;
  for (std::uint64_t bits = 0; bits < 65536; bits += 3) {
    const double value = decode(Element::fp16, bits);
    if (std::isfinite(value)) all.push_back(value);
  }
  for (const std::string& to : castable) {
    const Op op = parse_op("cast count=" + std::to_string(all.size()) + " from=fp32 to=" + to);
    const Element element = *parse_element(to);
    const auto got = run_on_device(op, {all, std::vector<double>(all.size(), 0.0)})[1];
    for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(got[i], rounded(element, all[i])) << all[i] << " to " << to;
  }
}

// Odd rows, one column, rows that begin anywhere, and more rows than blocks.
const std::vector<std::string> shapes = {"rows=1 columns=1",    "rows=3 columns=7",    "rows=5 columns=64",
                                         "rows=2 columns=4097", "rows=3 columns=4096", "rows=301 columns=40"};

void expect_rows(const std::string& op, const std::string& tail = "", Pattern pattern = Pattern::typical) {
  for (const std::string& format : common) {
    for (const std::string& shape : shapes) expect_right(op + " " + shape + " format=" + format + tail, pattern);
  }
}

TEST(GpuSoftmax, ForwardAndBackward) {
  expect_rows("softmax");
  expect_rows("softmax direction=backward");
}

TEST(GpuSoftmax, CausalRowsSeeWhatIsBeforeThem) {
  for (const std::string direction : {"", " direction=backward"}) {
    for (const std::string& format : common) {
      expect_right("softmax" + direction + " rows=14 columns=7 format=" + format + " period=7");
      expect_right("softmax" + direction + " rows=9 columns=64 format=" + format + " period=3");
      expect_right("softmax" + direction + " rows=128 columns=64 format=" + format + " period=64");
    }
  }
}

// 48 KiB hold less than 12288 floats, and less than 24576 pairs of bf16; these rows are read where they are.
TEST(GpuSoftmax, LongRowsToo) {
  for (const std::string& format : common) {
    expect_right("softmax rows=2 columns=12289 format=" + format);
    expect_right("softmax rows=2 columns=16384 format=" + format);
    expect_right("softmax rows=3 columns=16384 format=" + format + " period=16384");
    expect_right("softmax direction=backward rows=2 columns=16385 format=" + format);
    expect_right("softmax direction=backward rows=3 columns=16384 format=" + format + " period=16384");
    expect_right("cross_entropy rows=2 columns=12289 format=" + format);
    expect_right("cross_entropy rows=2 columns=16384 format=" + format);
  }
}

TEST(GpuSoftmax, LargeLogitsStayFinite) {
  const Op op = parse_op("softmax rows=2 columns=4 format=fp32");
  const auto y = run_on_device(op, {{1000, 1000, 800, -1000, -1000, -1000, -1000, -1000}, std::vector<double>(8)})[1];
  EXPECT_EQ(y, (std::vector<double>{0.5, 0.5, 0, 0, 0.25, 0.25, 0.25, 0.25}));
}

TEST(GpuCrossEntropy, GivesLossAndGradient) { expect_rows("cross_entropy"); }

TEST(GpuNorm, BothKindsForward) {
  expect_rows("norm kind=rms");
  expect_rows("norm kind=layer");
  for (const std::string& format : common) {
    expect_right("norm kind=rms rows=2 columns=30000 format=" + format);
    expect_right("norm kind=layer rows=2 columns=30001 format=" + format);
  }
}

TEST(GpuNorm, BothKindsBackwardWithAndWithoutAResidual) {
  for (const std::string kind : {"rms", "layer"}) {
    for (const std::string accumulate : {"", " accumulate=true"}) {
      expect_rows("norm kind=" + kind + " direction=backward", accumulate);
      expect_right("norm kind=" + kind + " direction=backward rows=2 columns=16384 format=fp32" + accumulate);
      expect_right("norm kind=" + kind + " direction=backward rows=2 columns=16389 format=bf16" + accumulate);
    }
  }
}

TEST(GpuRows, AnyBlockSize) {
  for (const unsigned threads : block_sizes()) {
    for (const std::string shape : {"rows=3 columns=257", "rows=2 columns=1024"}) {
      expect_right("softmax " + shape + " format=bf16", Pattern::typical, threads);
      expect_right("softmax direction=backward " + shape + " format=fp32", Pattern::typical, threads);
      expect_right("cross_entropy " + shape + " format=fp16", Pattern::typical, threads);
      expect_right("norm kind=layer " + shape + " format=bf16", Pattern::typical, threads);
      expect_right("norm kind=layer direction=backward " + shape + " format=fp32 accumulate=true", Pattern::typical,
                   threads);
    }
  }
}

const std::vector<std::string> tall = {"rows=1 columns=1",     "rows=31 columns=7",   "rows=33 columns=64",
                                       "rows=1000 columns=65", "rows=4101 columns=8", "rows=2 columns=4097"};

TEST(GpuColumns, SumsAndGradientsOfNormWeights) {
  for (const std::string& format : common) {
    for (const std::string& shape : tall) {
      expect_right("column_sum " + shape + " format=" + format);
      expect_right("norm_weights kind=rms " + shape + " format=" + format);
      expect_right("norm_weights kind=layer " + shape + " format=" + format);
    }
  }
}

TEST(GpuEmbedding, ForwardAndBackwardWithRepeatedTokens) {
  for (const std::string& format : common) {
    // Far more rows than tokens: most of them come many times.
    for (const std::string shape : {"rows=1 vocabulary=1 columns=1", "rows=50 vocabulary=7 columns=33",
                                    "rows=301 vocabulary=5 columns=64", "rows=4 vocabulary=1000 columns=4096"}) {
      expect_right("embedding " + shape + " format=" + format);
      expect_right("embedding direction=backward " + shape + " format=" + format);
    }
  }
}

// One token in every row: 1 + 4 times 2 = 9.
TEST(GpuEmbedding, AddsEveryRowOfAToken) {
  const Op op = parse_op("embedding direction=backward rows=4 vocabulary=3 columns=2 format=bf16");
  const auto after = run_on_device(op, {{1, 1, 1, 1}, std::vector<double>(8, 2.0), std::vector<double>(6, 1.0)});
  EXPECT_EQ(after[2], (std::vector<double>{1, 1, 9, 9, 1, 1}));
}

TEST(GpuEmbedding, ATokenFromOutsideIsNamed) {
  const Op op = parse_op("embedding rows=2 vocabulary=3 columns=2 format=fp32");
  try {
    run_on_device(op, {{1, 3}, std::vector<double>(6, 1.0), std::vector<double>(4, 0.0)});
    FAIL() << "nobody minded the token";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("token 3 in row 1 is not in 0 .. 2"), std::string::npos) << error.what();
  }
}

TEST(GpuCrossEntropy, ATargetFromOutsideIsNamed) {
  const Op op = parse_op("cross_entropy rows=2 columns=4 format=fp32");
  EXPECT_THROW(run_on_device(op, {std::vector<double>(8, 1.0), {0, -1}, {0, 0}, std::vector<double>(8, 0.0)}), Error);
}

TEST(GpuRope, BothWaysAndWithoutTurning) {
  for (const std::string& format : common) {
    for (const std::string direction : {"", " direction=backward"}) {
      for (const std::string rest :
           {"batch=1 length=1 heads=1 kv_heads=1 head_size=2", "batch=2 length=5 heads=4 kv_heads=2 head_size=6",
            "batch=2 length=3 heads=6 kv_heads=2 head_size=64"}) {
        expect_right("rope" + direction + " " + rest + " format=" + format);
        expect_right("rope" + direction + " " + rest + " format=" + format + " rotate=false");
      }
      expect_right("rope" + direction + " batch=1 length=3 heads=2 kv_heads=1 head_size=5 format=" + format +
                   " rotate=false");
    }
  }
}

TEST(GpuHeads, MoveThereAndBack) {
  for (const std::string& format : common) {
    for (const std::string direction : {"", " direction=backward"}) {
      for (const std::string rest : {"batch=1 length=1 heads=1 head_size=1", "batch=2 length=5 heads=3 head_size=7",
                                     "batch=2 length=9 heads=4 head_size=64"}) {
        expect_right("heads" + direction + " " + rest + " format=" + format, Pattern::exact);
      }
    }
  }
}

// What each thread adds up there does not depend on how many threads a block has.
TEST(GpuKernels, GiveTheSameBitsForEveryBlockSize) {
  for (const std::string text : {
           "column_sum rows=300 columns=72 format=bf16",
           "norm_weights kind=layer rows=300 columns=65 format=fp32",
           "embedding direction=backward rows=200 vocabulary=9 columns=40 format=bf16",
           "adamw count=3001 weight=bf16 gradient=bf16",
           "pointwise kind=swiglu_backward rows=7 columns=136 format=fp16",
           "rope batch=1 length=3 heads=4 kv_heads=2 head_size=32 format=fp32",
       }) {
    const Op op = parse_op(text);
    const DeviceValues before = filled(op, Pattern::typical);
    const DeviceValues usual = run_on_device(op, before);
    for (const unsigned threads : block_sizes()) {
      EXPECT_EQ(run_on_device(op, before, threads), usual) << text << ", blocks of " << threads;
    }
  }
}

TEST(GpuKernels, GiveTheSameBitsAgain) {
  const Op op = parse_op("stream kind=read count=20011 format=fp32");
  const DeviceValues before = filled(op, Pattern::typical);
  EXPECT_EQ(run_on_device(op, before), run_on_device(op, before, 0, 3));
}

TEST(GpuKernels, RefuseFormatsInASentence) {
  for (const std::string text : {"pointwise kind=gelu columns=8 format=fp64", "softmax rows=1 columns=8 format=int8",
                                 "cast count=8 from=fp64 to=fp32", "stream kind=copy count=8 format=int8",
                                 "cast count=32 from=bf16 to=fp8_e4m3.block32_ue8m0"}) {
    const Support support = gpu::body_support(parse_op(text), 0);
    EXPECT_FALSE(support.yes) << text;
    EXPECT_NE(support.reason.find("they take"), std::string::npos) << support.reason;
  }
  EXPECT_FALSE(gpu::body_support(parse_op("gemm m=8 n=8 k=8 a=fp32 b=fp32 d=fp32"), 0).yes);
}

// Tokens are grouped before the work runs, so no step of it may write them.
TEST(GpuKernels, RefuseIndicesThatTheWorkWrites) {
  gpu::BodySetup setup;
  setup.kernel.constant = {false, true, false};
  const Op op = parse_op("embedding rows=2 vocabulary=3 columns=2 format=fp32");
  EXPECT_THROW(gpu::make_body_kernel(op, {nullptr, nullptr, nullptr}, setup), Unsupported);
}

}  // namespace
}  // namespace assay
