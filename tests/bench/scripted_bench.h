// A scripted machine with what measuring needs from it, and a small product to measure.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "bench/measure.h"
#include "tests/bench/scripted_backend.h"

namespace assay {

inline Format plain(Element element) { return Format{element, Scaling::none}; }

inline Gemm small_product() {
  Gemm gemm;
  gemm.m = 16;
  gemm.n = 24;
  gemm.k = 128;
  gemm.a = gemm.b = gemm.d = plain(Element::fp32);
  return gemm;
}

inline Case case_of(const Op& op) {
  Case item;
  item.name = "gemm/fp32/test";
  item.family = "gemm";
  item.work = single(op);
  item.precision = "fp32";
  item.cache = "hot";
  item.variant = "default";
  return item;
}

// A scripted machine and what measuring needs from it.
struct Bench {
  Script script;
  ScriptedBackend backend{script};
  double load = 0;

  Measured measured(const Case& item) {
    DeviceInfo device;
    device.id = "fake:0";
    device.backend = "fake";
    device.name = "Fake 9000";
    device.unique_id = "F-1";
    MeasureContext context{.backend = backend,
                           .device = device,
                           .limits = {},
                           .clock = [this] { return script.now; },
                           .other_load = [this] { return load; },
                           .storage_folder = ""};
    return measure(item, context);
  }
  Row row(const Case& item, const std::string& metric) {
    for (const Row& row : measured(item).rows) {
      if (row.metric == metric) return row;
    }
    ADD_FAILURE() << "no row " << metric;
    return {};
  }
  Row only(const Case& item) {
    const Measured all = measured(item);
    EXPECT_EQ(all.rows.size(), 1U);
    EXPECT_TRUE(all.samples.empty());
    return all.rows.at(0);
  }
};

// Two steps, the first's result read by the second.
inline Case whole_step() {
  Norm norm;
  norm.rows = 8;
  norm.columns = 16;
  norm.format = plain(Element::fp32);
  Case item = case_of(Op(norm));
  Gemm second = small_product();
  second.m = 8;
  second.n = 12;
  second.k = 16;
  const Work other = single(Op(second));
  item.work.tensors.push_back(other.tensors[1]);
  item.work.tensors.push_back(other.tensors[2]);
  item.work.steps[0].phase = "forward";
  item.work.steps.push_back({Op(second), {2, 4, 5}, 0, "backward"});
  item.work.name = "two steps";
  item.twin = item.work;
  item.family = "train";
  item.whole_step = true;
  return item;
}

}  // namespace assay
