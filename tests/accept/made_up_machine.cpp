// Builds the healthy machine, and changes it.
// SPDX-License-Identifier: Apache-2.0
#include "tests/accept/made_up_machine.h"

#include <algorithm>
#include <stdexcept>

namespace assay::made_up {
namespace {

constexpr double gib = 1024.0 * 1024 * 1024;
constexpr std::int64_t mib = 1 << 20;

Fact number(const std::string& name, double value) { return {name, value, "", "", "", "made up"}; }
Fact words(const std::string& name, const std::string& text) { return {name, std::nullopt, "", text, "", "made up"}; }

// An H100 SXM5 80GB as its driver tells of it: 132 units, 80 GB sold, 79.6 GiB reported, 50 MiB of cache, 1,980 MHz,
// 700 W, generation 5 with 16 lanes, 18 links of 25 GB/s.
DeviceInfo card(const std::string& id) {
  DeviceInfo device;
  device.id = id;
  device.backend = "cuda";
  device.vendor = "NVIDIA";
  device.name = "NVIDIA H100 80GB HBM3";
  device.architecture = "sm_90";
  device.memory_total = static_cast<std::int64_t>(79.6 * gib);
  device.memory_available = static_cast<std::int64_t>(79.1 * gib);
  device.compute_units = 132;
  device.clock_hertz = 1.98e9;
  device.caches = {{1, 256 << 10, 132}, {2, 50 * mib, 1}};
  device.driver = "570.86.15";
  device.unique_id = "GPU-5c2e-" + id;
  device.facts = {words("management_library", "libnvidia-ml.so.1 570"),
                  words("virtualisation", "none"),
                  words("mig", "off"),
                  words("ecc", "on"),
                  words("fabric", "registered"),
                  words("row_remap_pending", "no"),
                  words("row_remap_failed", "no"),
                  words("board_serial", "1654321000" + id.substr(5)),
                  number("memory_in_use_bytes", 0.5 * gib),
                  number("other_processes", 0),
                  number("power_limit_watts", 700),
                  number("power_limit_default_watts", 700),
                  number("clock_most_hertz", 1.98e9),
                  number("ecc_uncorrected_since_boot", 0),
                  number("ecc_uncorrected_ever", 0),
                  number("ecc_corrected_ever", 3),
                  number("pcie_generation_most", 5),
                  number("pcie_width", 16),
                  number("nvlink_active", 18),
                  number("nvlink_link_bytes_per_second", 25e9)};
  return device;
}

Row plain(const std::string& device, const std::string& name) {
  Row row;
  row.run = "20261201T120000Z-rented-box-12345678";
  row.device = device;
  row.backend = device.substr(0, device.find(':'));
  row.case_name = name;
  row.family = name.substr(0, name.find('/'));
  row.scope = "alone";
  row.throttle = "none";
  row.clock_hertz = 1.9e9;
  row.power_watts = 600;
  return row;
}

Row timed(const std::string& device, const std::string& name, const Op& op, double seconds, int repetition = 0) {
  Row row = plain(device, name);
  row.op = text(op);
  row.data = "typical";
  row.metric = "seconds";
  row.unit = "s";
  row.value = seconds;
  row.maximum = 1.1 * seconds;
  row.repetition = repetition;
  return row;
}

Row fact(const std::string& device, const std::string& name, const std::string& metric, double value) {
  Row row = plain(device, name);
  row.metric = metric;
  row.value = value;
  row.method = "made up";
  return row;
}

Gemm square(std::int64_t size, Element element) {
  Gemm gemm;
  gemm.m = gemm.n = gemm.k = size;
  const Scaling scaling = element == Element::fp8_e4m3 ? Scaling::tensor : Scaling::none;
  gemm.a = gemm.b = Format{element, scaling};
  gemm.d = Format{Element::bf16, Scaling::none};
  return gemm;
}

Transfer copied(PlaceKind from, PlaceKind to, std::int64_t bytes) {
  Transfer transfer;
  transfer.bytes = bytes;
  transfer.from = Place{from, -1};
  transfer.to = Place{to, -1};
  return transfer;
}

// Rows of copies, at so many bytes a second in one direction.
void add_copies(std::vector<Row>& rows, const std::string& device, const std::string& other) {
  const std::int64_t bytes = 256 * mib;
  const auto at = [&](double rate) { return static_cast<double>(bytes) / rate; };
  const auto add = [&](const std::string& way, PlaceKind from, PlaceKind to, double rate) {
    for (int repetition = 0; repetition < 3; ++repetition)
      rows.push_back(timed(device, "transfer/" + way + "/256MiB", copied(from, to, bytes), at(rate), repetition));
  };
  add("host_to_device/pinned", PlaceKind::host_pinned, PlaceKind::device, 55e9);
  add("device_to_host/pinned", PlaceKind::device, PlaceKind::host_pinned, 55e9);
  add("both_ways/pinned", PlaceKind::host_pinned, PlaceKind::device, 45e9);
  add("host_to_device/node_0", PlaceKind::host_pinned, PlaceKind::device, 55e9);
  add("host_to_device/node_1", PlaceKind::host_pinned, PlaceKind::device, 50e9);
  add("to_device_" + other + "/engine", PlaceKind::device, PlaceKind::device, 380e9);
  add("to_device_" + other + "/kernel", PlaceKind::device, PlaceKind::device, 370e9);
}

void add_card_rows(std::vector<Row>& rows, const std::string& device, const std::string& other) {
  // 730 TFLOP/s in BF16 and 1,400 in FP8, as published for a healthy card; 3.0 of 3.35 TB/s.
  const Gemm bf16 = square(8192, Element::bf16);
  rows.push_back(timed(device, "gemm/bf16/square/8192", bf16, cost(Op(bf16)).flops / 730e12));
  const Gemm fp8 = square(8192, Element::fp8_e4m3);
  rows.push_back(timed(device, "gemm/fp8/square/8192", fp8, cost(Op(fp8)).flops / 1400e12));
  Stream triad;
  triad.count = 6'000'000'000 / 24;
  triad.format = Format{Element::fp64, Scaling::none};
  for (int repetition = 0; repetition < 3; ++repetition)
    rows.push_back(timed(device, "memory/triad/plain/dram", triad, 2e-3, repetition));
  rows.push_back(timed(device, "train/gpt2-124m/b8", square(1024, Element::bf16), 0.05));
  Row launch = plain(device, "launch/kernel");
  launch.metric = "seconds_per_launch";
  launch.value = 3e-6;
  launch.maximum = 4e-6;
  rows.push_back(launch);
  Launch allocate;
  allocate.kind = LaunchKind::allocate;
  allocate.count = 1;
  allocate.bytes = 64 * mib;
  for (int repetition = 0; repetition < 3; ++repetition)
    rows.push_back(timed(device, "launch/allocate/64MiB", allocate, 1e-4, repetition));
  rows.push_back(fact(device, "capacity/integrity", "tested_bytes", 78.0 * gib));
  rows.push_back(fact(device, "capacity/integrity", "wrong_words", 0));
  Row kept = fact(device, "derived/sustained_over_burst/bf16/square/8192", "sustained_over_burst", 0.97);
  rows.push_back(kept);
  // At the limit of power, and there in truth.
  Row capped = timed(device, "gemm/bf16/square/8192/sustained", bf16, cost(Op(bf16)).flops / 700e12);
  capped.phase = "sustained";
  capped.throttle = "power cap";
  capped.conditions = "power_capped";
  capped.power_watts = 695;
  rows.push_back(capped);
  add_copies(rows, device, other);
}

// Sums over cards, as bus rate: 2 and 8 of them (the run's own two stand for a part of the machine).
void add_sums(std::vector<Row>& rows) {
  const auto add = [&](int cards, double bytes, double rate) {
    Row row = fact("cuda:0", "collective/all_reduce/" + std::to_string(cards) + "/x", "bus_bytes_per_second", rate);
    row.bytes = bytes;
    rows.push_back(row);
  };
  add(2, 1e9, 330e9);
  add(8, 256e6, 400e9);
  add(8, 512e6, 450e9);
  add(8, 1e9, 465e9);
}

void add_host_rows(std::vector<Row>& rows) {
  const auto add = [&](const std::string& survey, const std::string& metric, double value) {
    rows.push_back(fact("cpu:0", "host/" + survey, metric, value));
  };
  add("cpu", "cores_online", 28);
  add("cpu", "usable_threads", 26);
  add("memory", "memory_total_bytes", 240e9);
  add("memory", "memory_limit_bytes", 235e9);
  add("shared_memory", "shared_memory_bytes", 64e9);
  add("processes", "processes_limit", 100000);
  add("processes", "locked_memory_limit_bytes", 64e9);
  add("storage", "storage_total_bytes", 2e12);
  add("storage", "storage_read_bytes_per_second", 3e9);
  add("storage", "storage_small_files_per_second", 9000);
  Row system = plain("cpu:0", "host/storage");
  system.metric = "storage_filesystem";
  system.reason = "ext4";
  rows.push_back(system);
}

bool begins_with(const Row& row, const std::string& begins) { return row.case_name.rfind(begins, 0) == 0; }

}  // namespace

DeviceInfo& Rented::card(std::size_t number) { return run.info.devices.at(1 + number); }

void Rented::without_fact(const std::string& name) {
  auto& facts = card().facts;
  facts.erase(std::remove_if(facts.begin(), facts.end(), [&](const Fact& one) { return one.name == name; }),
              facts.end());
}

void Rented::fact(const std::string& name, double value, const std::string& reason) {
  without_fact(name);
  card().facts.push_back({name, value, "", "", reason, "made up"});
}

void Rented::fact(const std::string& name, const std::string& text, const std::string& reason) {
  without_fact(name);
  card().facts.push_back({name, std::nullopt, "", text, reason, "made up"});
}

void Rented::host(const std::string& name, double value) {
  for (Row& one : run.rows) {
    if (one.metric == name) {
      one.value = value;
      return;
    }
  }
  throw std::logic_error("the healthy machine has no " + name);
}

void Rented::slower(const std::string& begins, double factor) {
  bool found = false;
  for (Row& one : run.rows) {
    if (one.device != "cuda:0" || one.metric != "seconds" || !begins_with(one, begins)) continue;
    *one.value *= factor;
    found = true;
  }
  if (!found) throw std::logic_error("the healthy machine has no " + begins);
}

Row& Rented::row(const std::string& begins, const std::string& metric) {
  for (Row& one : run.rows)
    if (one.device == "cuda:0" && one.metric == metric && begins_with(one, begins)) return one;
  throw std::logic_error("the healthy machine has no " + begins);
}

void Rented::without_rows(const std::string& begins) {
  auto& rows = run.rows;
  rows.erase(std::remove_if(rows.begin(), rows.end(), [&](const Row& one) { return begins_with(one, begins); }),
             rows.end());
}

Rented healthy() {
  Rented rented;
  RunInfo& info = rented.run.info;
  info.id = "20261201T120000Z-rented-box-12345678";
  info.program_version = "0.1.0";
  info.commit = "0123abc";
  info.profile = "standard";
  info.host = "rented-box";
  info.kernel = "Linux 6.8.0 x86_64";
  info.distribution = "Ubuntu 24.04";
  info.started_utc = "2026-12-01T12:00:00Z";
  info.ended_utc = "2026-12-01T12:20:00Z";
  info.ending = Ending::complete;
  DeviceInfo processor;
  processor.id = "cpu:0";
  processor.backend = "cpu";
  processor.name = "Made-up Processor";
  info.devices = {processor, made_up::card("cuda:0"), made_up::card("cuda:1")};
  add_host_rows(rented.run.rows);
  add_card_rows(rented.run.rows, "cuda:0", "1");
  add_card_rows(rented.run.rows, "cuda:1", "0");
  add_sums(rented.run.rows);
  assay::Run sibling = rented.run;
  sibling.info.id = "20261130T120000Z-other-box-12345678";
  for (DeviceInfo& device : sibling.info.devices) device.unique_id += "-other";
  rented.fleet = {sibling};
  rented.claim = parse_claim(healthy_claim);
  return rented;
}

}  // namespace assay::made_up
