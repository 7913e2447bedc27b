// Every op and format that the CPU plug-in supports, through the plug-in itself, against the op's own formula.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/error.h"
#include "core/loader.h"
#include "tests/kernels/check_op.h"

namespace assay {
namespace {

std::unique_ptr<Backend> open_backend() {
  const LoadedPlugin loaded = load_plugin(std::filesystem::path(ASSAY_BINARY_DIR) / "plugins", "cpu");
  if (loaded.plugin == nullptr) {
    throw Error(loaded.reason);
  }
  return loaded.plugin->create_backend();
}

const std::vector<std::string> float_formats = {"fp32", "bf16", "fp16"};

// Exact data shows a wrong index at once, typical data a wrong rounding.
void expect_op(Backend& backend, const std::string& op) {
  expect_right(backend, op, Pattern::exact);
  expect_right(backend, op, Pattern::typical);
}

TEST(CpuConformance, StreamsOfEveryKindFormatAndStore) {
  const auto backend = open_backend();
  for (const char* kind : {"copy", "scale", "add", "triad", "read", "write"}) {
    for (const char* format : {"fp32", "fp64", "bf16", "fp16"}) {
      for (const char* store : {"plain", "nontemporal"}) {
        for (const char* count : {"1", "63", "5001"}) {  // one, less than a line, and a tail over several threads
          expect_op(*backend,
                    std::string("stream kind=") + kind + " count=" + count + " format=" + format + " store=" + store);
        }
      }
    }
  }
}

TEST(CpuConformance, PointwiseOpsOfEveryKindAndFormat) {
  const auto backend = open_backend();
  for (const char* kind : {"gelu", "gelu_backward", "add"}) {
    for (const std::string& format : float_formats) {
      for (const char* columns : {"1", "67", "5003"}) {
        expect_op(*backend, std::string("pointwise kind=") + kind + " columns=" + columns + " format=" + format);
      }
    }
  }
  for (const char* kind : {"swiglu", "swiglu_backward"}) {
    for (const std::string& format : float_formats) {
      for (const char* shape : {"rows=1 columns=1", "rows=7 columns=67", "rows=65 columns=33"}) {
        expect_op(*backend, std::string("pointwise kind=") + kind + " " + shape + " format=" + format);
      }
    }
  }
}

TEST(CpuConformance, CastsAmongAllFormatsThatAreCast) {
  const auto backend = open_backend();
  const std::vector<std::string> formats = {"fp32",          "bf16",          "fp16", "fp8_e4m3",        "fp8_e5m2",
                                            "fp8_e4m3_fnuz", "fp8_e5m2_fnuz", "int8", "fp8_e4m3.tensor", "int8.tensor"};
  int casts = 0;
  for (const std::string& from : formats) {
    for (const std::string& to : formats) {
      const std::string text = "cast count=4099 from=" + from + " to=" + to;
      const bool scaled_source = from.find(".tensor") != std::string::npos;
      if (scaled_source || !backend->supports(parse_op(text), 0).yes) {
        continue;
      }
      expect_op(*backend, text);
      ++casts;
    }
  }
  EXPECT_GE(casts, 60);  // 8 formats to each of 8, or 7, and some with a scale
}

TEST(CpuConformance, AdamWWithEveryWeightAndGradient) {
  const auto backend = open_backend();
  for (const std::string& weight : float_formats) {
    for (const std::string& gradient : float_formats) {
      expect_op(*backend, "adamw count=4099 weight=" + weight + " gradient=" + gradient);
    }
  }
}

TEST(CpuConformance, SoftmaxForwardBackwardAndCausal) {
  const auto backend = open_backend();
  for (const std::string& format : float_formats) {
    for (const char* direction : {"", "direction=backward "}) {
      for (const char* shape :
           {"rows=1 columns=1", "rows=5 columns=67", "rows=12 columns=300", "rows=14 columns=9 period=7"}) {
        const std::string shaped(shape);
        const auto split = shaped.find(" period");
        expect_op(*backend, std::string("softmax ") + direction + shaped.substr(0, split) + " format=" + format +
                                (split == std::string::npos ? "" : shaped.substr(split)));
      }
    }
  }
}

TEST(CpuConformance, NormsOfBothKindsAndDirections) {
  const auto backend = open_backend();
  for (const std::string& format : float_formats) {
    for (const char* kind : {"rms", "layer"}) {
      for (const char* shape : {"rows=1 columns=1", "rows=9 columns=67", "rows=5 columns=1030"}) {
        const std::string end = std::string(shape) + " format=" + format;
        expect_op(*backend, std::string("norm kind=") + kind + " " + end);
        expect_op(*backend, std::string("norm kind=") + kind + " direction=backward " + end);
        expect_op(*backend, std::string("norm kind=") + kind + " direction=backward " + end + " accumulate=true");
        expect_op(*backend, std::string("norm_weights kind=") + kind + " " + end);
      }
    }
  }
}

TEST(CpuConformance, ColumnSumsAndCrossEntropy) {
  const auto backend = open_backend();
  for (const std::string& format : float_formats) {
    for (const char* shape : {"rows=1 columns=1", "rows=300 columns=67", "rows=5 columns=1030"}) {
      expect_op(*backend, std::string("column_sum ") + shape + " format=" + format);
      expect_op(*backend, std::string("cross_entropy ") + shape + " format=" + format);
    }
  }
}

TEST(CpuConformance, EmbeddingsRopeAndHeadsBothWays) {
  const auto backend = open_backend();
  for (const std::string& format : float_formats) {
    for (const char* direction : {"", "direction=backward "}) {
      expect_op(*backend, std::string("embedding ") + direction + "rows=40 vocabulary=11 columns=37 format=" + format);
      expect_op(*backend,
                std::string("rope ") + direction + "batch=2 length=5 heads=4 kv_heads=2 head_size=6 format=" + format);
      expect_op(*backend, std::string("rope ") + direction +
                              "batch=2 length=5 heads=3 kv_heads=3 head_size=8 format=" + format + " rotate=false");
      expect_op(*backend, std::string("heads ") + direction + "batch=2 length=5 heads=3 head_size=7 format=" + format);
    }
  }
}

TEST(CpuConformance, CopiesByOneThreadAndByAll) {
  const auto backend = open_backend();
  for (const char* bytes : {"1", "63", "64", "10007"}) {
    for (const char* path : {"", " path=kernel"}) {
      expect_op(*backend, std::string("transfer bytes=") + bytes + " from=host_pageable to=host_pageable" + path);
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
      expect_op(*backend, text);
    } else {
      EXPECT_FALSE(support.reason.empty()) << text;
    }
  }
}

}  // namespace
}  // namespace assay
