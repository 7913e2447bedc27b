// Runs made up in memory, so that every price and verdict can be worked out by hand.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/op.h"
#include "results/run.h"

namespace assay {

constexpr double gib = 1024.0 * 1024.0 * 1024.0;

inline Run made_up_run(double memory_bytes = 0) {
  Run run;
  run.path = "some/run";
  run.info.id = "made-up";
  run.info.ending = Ending::complete;
  DeviceInfo device;
  device.id = "cpu:0";
  device.backend = "cpu";
  device.name = "Made-up Processor";
  device.compute_units = 2;
  if (memory_bytes > 0) device.memory_available = static_cast<std::int64_t>(memory_bytes);
  run.info.devices.push_back(device);
  return run;
}

inline Row made_up_row(const std::string& case_name, const Op& op, double seconds) {
  Row row;
  row.case_name = case_name;
  row.family = family(op);
  row.device = "cpu:0";
  row.backend = "cpu";
  row.scope = "alone";
  row.op = text(op);
  row.data = "typical";
  row.metric = "seconds";
  row.unit = "s";
  row.value = seconds;
  return row;
}

inline Gemm made_up_gemm(std::int64_t m, std::int64_t n, std::int64_t k, Element element = Element::bf16) {
  Gemm gemm;
  gemm.m = m;
  gemm.n = n;
  gemm.k = k;
  gemm.a = gemm.b = gemm.d = Format{element, Scaling::none};
  return gemm;
}

// A triad over `bytes` in all: three arrays of fp64.
inline Stream made_up_triad(std::int64_t bytes) {
  Stream stream;
  stream.count = bytes / 24;
  stream.format = Format{Element::fp64, Scaling::none};
  return stream;
}

// Squares at exactly 1 TFLOP/s and a triad of 2.4 GB at exactly 100 GB/s.
inline Run measured_run(double memory_bytes = 64 * gib) {
  Run run = made_up_run(memory_bytes);
  for (const std::int64_t size : {512, 1024, 2048, 4096}) {
    const Gemm gemm = made_up_gemm(size, size, size);
    run.rows.push_back(made_up_row("gemm/bf16/square/" + std::to_string(size), gemm, cost(Op(gemm)).flops / 1e12));
  }
  run.rows.push_back(made_up_row("memory/triad/plain/dram", made_up_triad(2'400'000'000), 0.024));
  return run;
}

}  // namespace assay
