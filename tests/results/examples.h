// A row and a run with every field set, for tests of results.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "results/run.h"

namespace assay {

inline Row full_row() {
  Row row;
  row.run = "20261130T120000Z-4f1a";
  row.rank = 3;
  row.number = 17;
  row.case_name = "gemm/bf16/square/2048";
  row.family = "gemm";
  row.backend = "cpu";
  row.device = "cpu:0";
  row.device_name = "Xeon \"Gold\", 2 cores";  // a comma and quotes, as makers like them
  row.device_id = "0000";
  row.scope = "alone";
  row.op = "gemm(b=1,m=2048,n=2048,k=2048)";
  row.precision = "bf16";
  row.executed = "bf16";
  row.accumulated = "fp32";
  row.precision_proof = "exact";
  row.data = "typical";
  row.cache = "hot";
  row.phase = "burst";
  row.variant = "default";
  row.method = "onednn 2.6.3";
  row.process = "2";
  row.repetition = 1;
  row.metric = "seconds";
  row.unit = "s";
  row.value = 0.1;
  row.lower = 0.0999999999999999;
  row.upper = 1.0 / 3.0;
  row.better = "lower";
  row.minimum = 5e-324;  // the least positive double
  row.quartile1 = 0.1;
  row.quartile3 = 0.2;
  row.maximum = 1.7976931348623157e308;  // the largest double
  row.samples = 20;
  row.executions = 4000000000;
  row.stop = "steady";
  row.flops = 17179869184.0;
  row.bytes = 0.0;
  row.clock_hertz = 2.97e9;
  row.power_watts = 350.5;
  row.temperature_celsius = -1.5;
  row.throttle = "none";
  row.conditions = "other_load,few_samples";
  row.status = Status::mistrusted;
  row.reason = "grün ist es nicht";
  row.started_utc = "2026-11-30T12:00:00Z";
  row.elapsed_seconds = 0.5;
  return row;
}

inline RunInfo full_info() {
  RunInfo info;
  info.id = "20261130T120000Z-4f1a";
  info.program_version = "0.1.0";
  info.commit = "0123abc";
  info.build_type = "Release";
  info.compiler = "GNU 12.2.0";
  info.profile = "quick";
  info.filter = "^gemm/";
  info.asked = "{}";
  info.command = "assay run --filter ^gemm/";
  info.labels = {{"vendor", "A & B"}, {"price", "2.50 \"a\" hour"}};
  info.environment = {{"OMP_NUM_THREADS", "2"}};
  info.host = "box";
  info.kernel = "6.1.0";
  info.distribution = "Debian 12";
  info.started_utc = "2026-11-30T12:00:00Z";
  info.ended_utc = "2026-11-30T12:01:00Z";
  DeviceInfo device;
  device.id = "cpu:0";
  device.backend = "cpu";
  device.name = "Xeon";
  device.vendor = "Intel";
  device.architecture = "x86-64-v4";
  device.memory_total = 25769803776;
  device.memory_available = 0;  // known to be none: not the same as absent
  device.compute_units = 2;
  device.clock_hertz = 2.3e9;
  device.caches = {{1, 49152, 2}, {3, 272629760, 1}};
  device.driver = "6.1";
  device.runtime = "libgomp";
  device.unique_id = "abc";
  device.facts = {{"huge_pages", std::nullopt, "", "madvise", "", "/sys/kernel/mm"}};
  info.devices = {device};
  info.facts = {{"cpu_quota_cores", 2.5, "cores", "", "", "/sys/fs/cgroup/cpu.max"},
                {"memory_limit_bytes", std::nullopt, "bytes", "", "no control group sets a limit", ""}};
  info.planned = {"cpu:0 gemm/bf16/square/2048", "cpu:0 gemm/fp32/square/2048"};
  info.budget_seconds = 600;
  info.ending = Ending::budget;
  info.ending_reason = "10 minutes were over";
  return info;
}

}  // namespace assay
