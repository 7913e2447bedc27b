// Every rule is quiet on a healthy machine and speaks where something was changed for it to find.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>

#include "reports/accept/accept.h"
#include "tests/accept/made_up_machine.h"

namespace assay {
namespace {

using made_up::healthy;
using made_up::Rented;

// The worst that a rule says of any subject.
Outcome outcome_of(const Rented& rented, const std::string& rule) {
  const Acceptance accepted = accept(rented.run, rented.fleet, rented.claim);
  for (const Judged& one : accepted.judged)  // worst first
    if (one.rule->id == rule) return one.outcome;
  return Outcome::does_not_apply;
}

struct Change {
  Outcome outcome;
  std::function<void(Rented&)> make;
};

void claim(Rented& rented, const std::string& text) { rented.claim = parse_claim(text); }

// Makes a row of the first card bear a condition.
std::function<void(Rented&)> bearing(const std::string& condition) {
  return [condition](Rented& rented) { rented.row("gemm/bf16").conditions = condition; };
}

// Adds a row of the first card that is not ok.
std::function<void(Rented&)> with(Status status, const std::string& name, const std::string& reason) {
  return [=](Rented& rented) {
    Row row = rented.row("gemm/bf16");
    row.case_name = name;
    row.status = status;
    row.value.reset();
    row.reason = reason;
    rented.run.rows.push_back(row);
  };
}

std::function<void(Rented&)> host(const std::string& name, double value) {
  return [=](Rented& rented) { rented.host(name, value); };
}
std::function<void(Rented&)> fact(const std::string& name, double value, const std::string& reason = "") {
  return [=](Rented& rented) { rented.fact(name, value, reason); };
}
std::function<void(Rented&)> fact(const std::string& name, const char* words) {
  return [=](Rented& rented) { rented.fact(name, std::string(words)); };
}
std::function<void(Rented&)> slower(const std::string& begins, double factor) {
  return [=](Rented& rented) { rented.slower(begins, factor); };
}

using Changes = std::map<std::string, Change>;

Changes claim_changes() {
  return {
      {"claim-devices", {Outcome::fail, [](Rented& r) { claim(r, "8x H100 SXM 80GB"); }}},
      {"claim-gpu", {Outcome::fail, [](Rented& r) { claim(r, "2x A100 SXM 80GB"); }}},
      // 80 GiB as sold; 35 of them are there.
      {"claim-memory", {Outcome::fail, [](Rented& r) { r.card().memory_total = std::int64_t{35} << 30; }}},
      {"claim-vcpu", {Outcome::fail, host("usable_threads", 7)}},
      {"claim-ram", {Outcome::fail, host("memory_limit_bytes", 120e9)}},
      {"claim-disk", {Outcome::fail, host("storage_total_bytes", 500e9)}},
      {"claim-disk-kind", {Outcome::warn, host("storage_read_bytes_per_second", 300e6)}},
      {"claim-link", {Outcome::fail, fact("nvlink_active", 0.0)}},
      // 4 of 16 lanes are a quarter of the rate.
      {"claim-host-link", {Outcome::fail, fact("pcie_width", 4)}},
      {"claim-speed", {Outcome::fail, [](Rented& r) { claim(r, "H100 is 30x H100 at inference"); }}},
      {"sku-unclear", {Outcome::warn, [](Rented& r) { claim(r, "2x H100"); }}},
  };
}

Changes identity_changes() {
  return {
      {"known-card", {Outcome::warn, [](Rented& r) { r.card().name = "Wonder Card 9000"; }}},
      {"mixed-gpus", {Outcome::warn, [](Rented& r) { r.card().compute_units = 114; }}},
      {"capability", {Outcome::fail, [](Rented& r) { r.card().architecture = "sm_86"; }}},
      {"units", {Outcome::fail, [](Rented& r) { r.card().compute_units = 60; }}},
      {"memory-size", {Outcome::fail, [](Rented& r) { r.card().memory_total = std::int64_t{40} << 30; }}},
      {"cache-size", {Outcome::warn, [](Rented& r) { r.card().caches.back().bytes = 6 << 20; }}},
      {"max-clock", {Outcome::fail, fact("clock_most_hertz", 975e6)}},
      {"slice", {Outcome::warn, fact("mig", "a slice of a partitioned card")}},
      {"fraction", {Outcome::warn, [](Rented& r) { r.card().name = "NVIDIA L4-12Q"; }}},
      {"vgpu-licence", {Outcome::fail, fact("vgpu_licence", "none")}},
      {"late-allocation",
       {Outcome::fail,
        [](Rented& r) {
          for (Row& row : r.run.rows)
            if (row.case_name == "launch/allocate/64MiB" && row.repetition == 2) *row.value *= 5;
        }}},
      {"sxm-converted",
       {Outcome::warn,
        [](Rented& r) {
          r.fact("nvlink_active", 0.0);
          r.fact("power_limit_default_watts", 350.0);
        }}},
      {"memory-content", {Outcome::fail, with(Status::failed, "capacity/integrity", "7 words are not as written")}},
      // 5 of 79.6 GiB, as in the complaint: 6 %.
      {"memory-taken", {Outcome::warn, fact("memory_in_use_bytes", 5.0 * 1024 * 1024 * 1024)}},
      {"shared-card", {Outcome::warn, fact("other_processes", 1)}},
      {"usable", {Outcome::fail, fact("usable", "no")}},
      {"hidden-facts",
       {Outcome::warn,
        [](Rented& r) {
          r.without_fact("management_library");
          r.card().facts.push_back({"management_library", std::nullopt, "", "", "insufficient permissions", ""});
        }}},
  };
}

Changes power_changes() {
  return {
      // 240 of 700 W.
      {"power-limit", {Outcome::fail, fact("power_limit_watts", 240)}},
      {"power-reached",
       {Outcome::warn,
        [](Rented& r) {
          for (Row& row : r.run.rows)
            if (row.throttle == "power cap") row.power_watts = 300;
        }}},
      {"sustained", {Outcome::fail, [](Rented& r) { r.row("derived/sustained", "sustained_over_burst").value = 0.6; }}},
      {"thermal", {Outcome::warn, bearing("thermal_throttle")}},
      {"hot-memory",
       {Outcome::fail,
        [](Rented& r) {
          for (Row& row : r.run.rows)
            if (row.family == "memory" && row.repetition == 2) *row.value *= 1.3;
        }}},
      {"both-limits", {Outcome::warn, [](Rented& r) { r.without_rows("memory/"); }}},
      {"hardware-slowdown", {Outcome::fail, bearing("hardware_slowdown")}},
      {"set-clocks", {Outcome::warn, fact("clock_set_hertz", 1.2e9, "somebody holds the clock down")}},
      {"clock-under-load",
       {Outcome::fail,
        [](Rented& r) {
          for (Row& row : r.run.rows)
            if (row.family == "gemm") row.clock_hertz = 345e6;
        }}},
  };
}

Changes speed_changes() {
  return {
      {"sibling-products", {Outcome::fail, slower("gemm/", 1.2)}},
      {"sibling-memory", {Outcome::fail, slower("memory/", 1.2)}},
      {"fleet-products", {Outcome::fail, slower("gemm/", 1.2)}},
      {"fleet-memory", {Outcome::fail, slower("memory/", 1.2)}},
      {"fleet-training", {Outcome::fail, slower("train/", 1.3)}},
      // Half the speed under the same name.
      {"products-band", {Outcome::fail, slower("gemm/", 2)}},
      {"fp8-band", {Outcome::fail, slower("gemm/fp8", 2)}},
      {"products-peak", {Outcome::fail, slower("gemm/", 3)}},
      {"memory-peak", {Outcome::fail, slower("memory/", 2)}},
      {"memory-band",
       {Outcome::fail,
        [](Rented& r) {
          // A healthy A100 40GB streams 1,375 GB/s by what is published; this one 3,000 / 3.
          r.card().name = "NVIDIA A100-SXM4-40GB";
          r.slower("memory/", 3);
        }}},
      {"memory-pass-line",
       {Outcome::fail,
        [](Rented& r) {
          r.card().name = "NVIDIA A100-SXM4-80GB";  // its pass line is 1,173 GB/s
          r.slower("memory/", 3);
        }}},
      {"host-pass-line", {Outcome::fail, slower("transfer/host_to_device/pinned", 2)}},
      {"launch-time", {Outcome::fail, [](Rented& r) { r.row("launch/kernel", "seconds_per_launch").value = 3e-5; }}},
      {"launch-jitter",
       {Outcome::warn, [](Rented& r) { r.row("launch/kernel", "seconds_per_launch").maximum = 30e-6; }}},
      {"noisy-neighbour",
       {Outcome::fail,
        [](Rented& r) {
          for (Row& row : r.run.rows)
            if (row.repetition == 1) *row.value *= 2;
        }}},
      {"other-load",
       {Outcome::warn,
        [](Rented& r) {
          for (Row& row : r.run.rows) row.conditions = "other_load";
        }}},
  };
}

Changes link_changes() {
  return {
      {"link-share", {Outcome::fail, slower("transfer/host_to_device/pinned", 2.5)}},
      {"link-width", {Outcome::fail, fact("pcie_width", 4)}},
      {"link-generation", {Outcome::warn, fact("pcie_generation_most", 4)}},
      {"link-under-load", {Outcome::warn, bearing("pcie_downgraded")}},
      {"link-repeats", {Outcome::warn, bearing("pcie_replays")}},
      {"link-spread", {Outcome::fail, slower("transfer/host_to_device/pinned", 1.5)}},
      {"both-ways", {Outcome::fail, slower("transfer/both_ways/pinned", 3)}},
      {"near-node", {Outcome::warn, slower("transfer/host_to_device/node_1", 3)}},
      {"pinned-memory",
       {Outcome::warn, with(Status::failed, "transfer/host_to_device/pinned/1GiB", "no pinned memory can be had")}},
      {"peer-hang",
       {Outcome::fail, with(Status::failed, "transfer/to_device_1/engine/256MiB",
                            "it did not end within 10 s and was given up as hanging")}},
      {"peer-content",
       {Outcome::fail, with(Status::mistrusted, "transfer/to_device_1/kernel/256MiB", "element 5 is 0, expected 17")}},
      {"peer-access",
       {Outcome::warn,
        [](Rented& r) {
          for (Row& row : r.run.rows)
            if (row.case_name.find("to_device_1/kernel") != std::string::npos) row.status = Status::skipped;
        }}},
      {"peer-hidden",
       {Outcome::fail,
        [](Rented& r) {
          for (Row& row : r.run.rows)
            if (row.case_name.find("to_device_1/kernel") != std::string::npos) row.status = Status::skipped;
        }}},
      {"peer-speed", {Outcome::fail, slower("transfer/to_device_1/engine", 4)}},
      // An H200 whose pairs reach 380 / 2 of the 335 GB/s at which a cloud draws its line.
      {"peer-pass-line",
       {Outcome::fail,
        [](Rented& r) {
          r.card().name = "NVIDIA H200";
          r.slower("transfer/to_device_1/engine", 2);
        }}},
      {"all-reduce",
       {Outcome::fail,
        [](Rented& r) {
          for (Row& row : r.run.rows)
            if (row.metric == "bus_bytes_per_second") row.value = 5e9;
        }}},
      {"all-reduce-pass-line",
       {Outcome::fail,
        [](Rented& r) {
          for (Row& row : r.run.rows)
            if (row.metric == "bus_bytes_per_second") row.value = 235e9;
        }}},
      {"third-card",
       {Outcome::warn,
        [](Rented& r) {
          for (Row& row : r.run.rows)
            if (row.case_name.find("all_reduce/8") != std::string::npos) row.value = 20e9;
        }}},
      {"message-hole",
       {Outcome::warn,
        [](Rented& r) {
          for (Row& row : r.run.rows)
            if (row.metric == "bus_bytes_per_second" && row.bytes == 512e6) row.value = 10e9;
        }}},
      {"fabric", {Outcome::fail, fact("fabric", "not registered")}},
      {"stripped-links",
       {Outcome::fail,
        [](Rented& r) {
          r.without_fact("nvlink_active");
          r.fact("virtualisation", std::string("passthrough"));
        }}},
      {"links-down", {Outcome::fail, fact("nvlink_active", 17, "1 of 18 links are down or lead nowhere")}},
      {"link-errors", {Outcome::fail, bearing("link_errors")}},
      {"multicast", {Outcome::warn, [](Rented& r) { r.run.info.environment["NCCL_NVLS_ENABLE"] = "0"; }}},
  };
}

Changes host_changes() {
  return {
      {"shared-memory", {Outcome::fail, host("shared_memory_bytes", 64e6)}},
      {"memlock", {Outcome::warn, host("locked_memory_limit_bytes", 64e6)}},
      // 7 granted of 28.
      {"cpu-quota", {Outcome::warn, host("usable_threads", 7)}},
      {"cores-per-gpu", {Outcome::fail, host("usable_threads", 1)}},
      {"pids-max", {Outcome::warn, host("processes_limit", 1024)}},
      {"memory-limit", {Outcome::warn, host("memory_limit_bytes", 8e9)}},
      {"small-files", {Outcome::warn, host("storage_small_files_per_second", 60)}},
      {"disk-read", {Outcome::fail, host("storage_read_bytes_per_second", 50e6)}},
      {"network-disk",
       {Outcome::warn,
        [](Rented& r) {
          for (Row& row : r.run.rows)
            if (row.metric == "storage_filesystem") row.reason = "nfs4";
        }}},
      {"minimum-ram", {Outcome::fail, host("memory_limit_bytes", 6e9)}},
      {"minimum-disk", {Outcome::warn, host("storage_total_bytes", 100e9)}},
      {"unfinished", {Outcome::warn, [](Rented& r) { r.run.info.ending = Ending::running; }}},
  };
}

Changes health_changes() {
  return {
      {"ecc-now", {Outcome::fail, fact("ecc_uncorrected_since_boot", 1)}},
      {"ecc-ever", {Outcome::fail, fact("ecc_uncorrected_ever", 5)}},
      {"ecc-corrected", {Outcome::warn, fact("ecc_corrected_ever", 101)}},
      {"ecc-run", {Outcome::fail, bearing("ecc_errors")}},
      {"row-remap", {Outcome::fail, fact("row_remap_failed", "yes")}},
      {"rows-run", {Outcome::fail, bearing("rows_remapped")}},
      {"dead-gpu-back",
       {Outcome::warn,
        [](Rented& r) {
          r.fleet.front().info.devices.at(1).unique_id = r.card().unique_id;
          for (Row& row : r.fleet.front().rows) row.conditions = "xid_79";
        }}},
      {"xid", {Outcome::fail, bearing("few_samples,xid_79")}},
      {"wrong-results", {Outcome::fail, with(Status::mistrusted, "gemm/bf16/square/512", "element 3 is nan")}},
      {"failed-cases", {Outcome::warn, with(Status::failed, "gemm/bf16/square/512", "an illegal address")}},
      {"lost-card", {Outcome::fail, with(Status::skipped, "gemm/bf16/square/512", "device lost: 2 cases in a row")}},
      {"driver-old",
       {Outcome::warn, with(Status::skipped, "gemm/fp8/square/512", "the driver is older than this program needs")}},
      {"kernel-image",
       {Outcome::warn, with(Status::failed, "memory/copy", "no kernel image is available for this device")}},
  };
}

const Changes& changes() {
  static const Changes all = [] {
    Changes together;
    for (const Changes& some : {claim_changes(), identity_changes(), power_changes(), speed_changes(), link_changes(),
                                host_changes(), health_changes()})
      together.insert(some.begin(), some.end());
    return together;
  }();
  return all;
}

TEST(Rules, AreQuietOnAHealthyMachine) {
  const Rented rented = healthy();
  const Acceptance accepted = accept(rented.run, rented.fleet, rented.claim);
  for (const Judged& one : accepted.judged) {
    EXPECT_TRUE(one.outcome == Outcome::pass || one.outcome == Outcome::does_not_apply)
        << one.rule->id << " " << text(one.outcome) << " at " << one.shown << ": " << one.evidence;
  }
  EXPECT_EQ(accepted.verdict, Outcome::pass);
  EXPECT_EQ(exit_code_of(accepted), 0);
}

TEST(Rules, AlmostAllApplyToTheHealthyMachine) {
  // Those that do not: no virtual GPU, no published stream or pair of this card.
  const Rented rented = healthy();
  std::set<std::string> absent;
  for (const Judged& one : accept(rented.run, rented.fleet, rented.claim).judged)
    if (one.outcome == Outcome::does_not_apply) absent.insert(one.rule->id);
  EXPECT_EQ(absent, (std::set<std::string>{"vgpu-licence", "memory-band", "memory-pass-line", "peer-pass-line"}));
}

class EachRule : public ::testing::TestWithParam<std::string> {};

TEST_P(EachRule, SpeaksWhereItsFaultIsThere) {
  const auto change = changes().find(GetParam());
  ASSERT_NE(change, changes().end()) << "no fault is made up for " << GetParam();
  Rented rented = healthy();
  change->second.make(rented);
  EXPECT_EQ(text(outcome_of(rented, GetParam())), text(change->second.outcome));
}

std::vector<std::string> rule_ids() {
  std::vector<std::string> ids;
  for (const Rule& rule : builtin_rules()) ids.push_back(rule.id);
  return ids;
}

INSTANTIATE_TEST_SUITE_P(All, EachRule, ::testing::ValuesIn(rule_ids()), [](const auto& one) {
  std::string name = one.param;
  for (char& letter : name)
    if (letter == '-') letter = '_';
  return name;
});

TEST(Rules, NoFaultIsMadeUpForARuleThatIsNotThere) {
  for (const auto& [id, change] : changes()) EXPECT_NO_THROW(find_rule(id)) << id;
}

TEST(Rules, AreUnknownAndNeitherPassNorFailWhereThePlatformHidesWhatTheyNeed) {
  Rented rented = healthy();
  // A card of which the driver says its name and nothing else, and no rows.
  for (std::size_t number : {0, 1}) {
    rented.card(number).facts.clear();
    rented.card(number).memory_total.reset();
    rented.card(number).memory_available.reset();
    rented.card(number).compute_units.reset();
    rented.card(number).clock_hertz.reset();
    rented.card(number).caches.clear();
    rented.card(number).architecture.clear();
  }
  rented.run.rows.clear();
  const Acceptance accepted = accept(rented.run, rented.fleet, rented.claim);
  const std::set<std::string> still_known = {"claim-devices", "claim-gpu", "sku-unclear",  "known-card",
                                             "mixed-gpus",    "fraction",  "usable",       "unfinished",
                                             "hidden-facts",  "multicast", "dead-gpu-back"};
  for (const Judged& one : accepted.judged) {
    if (still_known.count(one.rule->id) > 0) continue;
    EXPECT_TRUE(one.outcome == Outcome::unknown || one.outcome == Outcome::does_not_apply)
        << one.rule->id << " " << text(one.outcome) << ": " << one.evidence;
  }
  EXPECT_EQ(accepted.verdict, Outcome::unknown);
  EXPECT_EQ(exit_code_of(accepted), 2);
}

}  // namespace
}  // namespace assay
