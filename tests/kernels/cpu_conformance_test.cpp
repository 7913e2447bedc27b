// Every op and format that the CPU plug-in supports, through the plug-in itself, against the op's own formula.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/error.h"
#include "core/loader.h"
#include "tests/kernels/check_op.h"
#include "tests/kernels/conformance_ops.h"

namespace assay {
namespace {

std::unique_ptr<Backend> open_backend() {
  const LoadedPlugin loaded = load_plugin(std::filesystem::path(ASSAY_BINARY_DIR) / "plugins", "cpu");
  if (loaded.plugin == nullptr) {
    throw Error(loaded.reason);
  }
  return loaded.plugin->create_backend();
}

void expect_all(const std::vector<std::string>& ops) {
  const auto backend = open_backend();
  for (const std::string& op : ops) {
    expect_right_on_all_data(*backend, op);
  }
}

TEST(CpuConformance, StreamsOfEveryKindFormatAndStore) { expect_all(conformance::streams()); }
TEST(CpuConformance, PointwiseOpsOfEveryKindAndFormat) { expect_all(conformance::pointwise()); }
TEST(CpuConformance, AdamWWithEveryWeightAndGradient) { expect_all(conformance::optimizers()); }
TEST(CpuConformance, SoftmaxForwardBackwardAndCausal) { expect_all(conformance::softmaxes()); }
TEST(CpuConformance, NormsOfBothKindsAndDirections) { expect_all(conformance::norms()); }
TEST(CpuConformance, ColumnSumsAndCrossEntropy) { expect_all(conformance::columns_and_losses()); }
TEST(CpuConformance, EmbeddingsRopeAndHeadsBothWays) { expect_all(conformance::tokens()); }

TEST(CpuConformance, AttentionOfEveryShapeMaskAndCache) { expect_all(conformance::attentions()); }
TEST(CpuConformance, WhatATrainingStepDoesBesideItsProducts) { expect_all(conformance::training()); }

TEST(CpuConformance, CastsAmongAllFormatsThatAreCast) {
  const auto backend = open_backend();
  int casts = 0;
  for (const std::string& op : conformance::casts()) {
    if (!backend->supports(parse_op(op), 0).yes) {
      continue;
    }
    expect_right_on_all_data(*backend, op);
    ++casts;
  }
  EXPECT_GE(casts, 60);  // 8 formats to each of 8, or 7, and some with a scale
}

TEST(CpuConformance, CopiesByOneThreadAndByAll) {
  const auto backend = open_backend();
  for (const char* bytes : {"1", "63", "64", "10007"}) {
    for (const char* path : {"", " path=kernel"}) {
      expect_right_on_all_data(*backend,
                               std::string("transfer bytes=") + bytes + " from=host_pageable to=host_pageable" + path);
    }
  }
}

TEST(CpuConformance, MatrixProductsOfEachFormat) {
  const auto backend = open_backend();
  for (const char* formats : {"a=fp32 b=fp32 d=fp32", "a=bf16 b=bf16 d=bf16", "a=int8 b=int8 d=int32 accumulate=int32",
                              "a=fp64 b=fp64 d=fp64 accumulate=fp64"}) {
    const std::string text = std::string("gemm m=33 n=17 k=65 ") + formats;
    const Support support = backend->supports(parse_op(text), 0);
    if (support.yes) {
      expect_right_on_all_data(*backend, text);
    } else {
      EXPECT_FALSE(support.reason.empty()) << text;
    }
  }
}

}  // namespace
}  // namespace assay
