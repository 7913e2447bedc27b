// Our matrix products against the libraries called directly.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "core/error.h"
#include "core/op.h"
#include "tests/comparison/direct_gemm.h"
#include "tests/comparison/pairs.h"
#include "tests/comparison/sections.h"

namespace assay::comparison {
namespace {

constexpr double bar = 0.97;

struct Kind {
  const char* formats;
  Element input;
  Element output;
};

}  // namespace

int compare_gemm(const Setup& setup) {
  Table table("GFLOP/s");
  table.title("square matrix products against the library itself", "ours", "library");
  for (const Kind& kind : {Kind{"a=fp32 b=fp32 d=fp32", Element::fp32, Element::fp32},
                           Kind{"a=bf16 b=bf16 d=bf16", Element::bf16, Element::bf16},
                           Kind{"a=int8 b=int8 d=int32 accumulate=int32", Element::int8, Element::int32},
                           Kind{"a=fp64 b=fp64 d=fp64 accumulate=fp64", Element::fp64, Element::fp64}}) {
    for (const std::int64_t size : {256, 512, 1024, 2048}) {
      const std::string n = std::to_string(size);
      const std::string op = "gemm m=" + n + " n=" + n + " k=" + n + " " + kind.formats;
      try {
        const auto ours = prepare_op(setup, op);
        const std::shared_ptr<DirectGemm> theirs = kind.input == Element::fp64
                                                       ? openblas_gemm(kind.input, size, setup.threads)
                                                       : onednn_gemm(kind.input, kind.output, size, setup.threads);
        const Pair pair = in_turns([&](int executions) { return ours->run(executions).front(); },
                                   timed([&] { theirs->run(); }), setup.pairs);
        const double flops = 2.0 * static_cast<double>(size * size * size);
        table.line(text(kind.input) + " " + n + "  " + ours->choice().method, flops / pair.ours * 1e-9,
                   flops / pair.theirs * 1e-9, pair.ratio, bar);
      } catch (const Unsupported& error) {
        std::printf("%s: skipped, %s\n", op.c_str(), error.what());
      }
    }
  }
  return table.below();
}

}  // namespace assay::comparison
