// The cases of accelerators: large and small, old and new, alone and among peers.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>

#include "bench/case.h"
#include "bench/case_formats.h"
#include "bench/case_sizes.h"
#include "bench/profile.h"
#include "core/interpreter.h"

namespace assay {
namespace {

constexpr std::int64_t gibibyte = std::int64_t{1} << 30;
const std::vector<ProfileKind> every_profile = {ProfileKind::quick, ProfileKind::standard, ProfileKind::full};

void set_text(DeviceInfo& device, const std::string& name, const std::string& text) {
  Fact fact;
  fact.name = name;
  fact.text = text;
  device.facts.push_back(fact);
}

DeviceInfo accelerator(int units, double clock, std::int64_t memory, std::int64_t last_cache) {
  DeviceInfo device;
  device.id = "fake:0";
  device.backend = "fake";
  device.compute_units = units;
  device.clock_hertz = clock;
  device.memory_total = device.memory_available = memory;
  device.caches = {{1, 256 << 10, units}, {2, last_cache, 1}};
  return device;
}

// As an H100 SXM describes itself: 132 units, 1.98 GHz, 80 GB, 50 MiB of second-level cache.
DeviceInfo hopper() {
  DeviceInfo device = accelerator(132, 1.98e9, 79 * gibibyte, 50 << 20);
  set_text(device, "matrix_formats", "fp64,tf32,bf16,fp16,fp8_e4m3,fp8_e5m2,int8");
  set_text(device, "host_numa_nodes", "0,1");
  return device;
}

// As a B200 does.
DeviceInfo blackwell() {
  DeviceInfo device = accelerator(148, 1.965e9, 178 * gibibyte, 126 << 20);
  set_text(device, "matrix_formats",
           "fp64,tf32,bf16,fp16,fp8_e4m3,fp8_e5m2,int8,fp8_e4m3.block32_ue8m0,fp4_e2m1.block32_ue8m0,"
           "fp4_e2m1.block16_e4m3");
  return device;
}

// A card of 8 GB, half a gigabyte of it taken, whose matrix units know fp16 and int8 alone.
DeviceInfo small_card() {
  DeviceInfo device = accelerator(40, 1.6e9, 15 * gibibyte / 2, 4 << 20);
  set_text(device, "matrix_formats", "fp16,int8");
  return device;
}

DeviceInfo second_of_three() {
  DeviceInfo device = hopper();
  device.id = "fake:1";
  set_text(device, "peer_devices", "0,2");
  return device;
}

std::vector<DeviceInfo> every_device() {
  return {hopper(), blackwell(), small_card(), second_of_three(), accelerator(8, 1e9, 2 * gibibyte, 1 << 20)};
}

const Case* find(const std::vector<Case>& cases, const std::string& name) {
  const auto found = std::find_if(cases.begin(), cases.end(), [&](const Case& item) { return item.name == name; });
  return found == cases.end() ? nullptr : &*found;
}

int count(const std::vector<Case>& cases, const std::string& start) {
  return static_cast<int>(
      std::count_if(cases.begin(), cases.end(), [&](const Case& item) { return item.name.rfind(start, 0) == 0; }));
}

double seconds_of(const std::vector<Case>& cases) {
  double total = 0;
  for (const Case& item : cases) total += item.seconds_expected;
  return total;
}

TEST(Accelerators, HaveCleanUniqueNamesAndPossibleWork) {
  for (const DeviceInfo& device : every_device()) {
    for (const ProfileKind profile : every_profile) {
      std::set<std::string> names;
      for (const Case& item : cases_for(device, profile)) {
        EXPECT_TRUE(std::regex_match(item.name, std::regex("[a-z]+(/[A-Za-z0-9_.-]+)+"))) << item.name;
        EXPECT_TRUE(names.insert(item.name).second) << item.name << " twice";
        EXPECT_EQ(item.name.substr(0, item.name.find('/')), item.family);
        EXPECT_GT(item.seconds_expected, 0) << item.name;
        EXPECT_NO_THROW(check(item.work)) << item.name;
        EXPECT_NO_THROW(check(item.twin)) << item.name;
        EXPECT_EQ(item.whole_step, item.work.steps.size() > 1) << item.name;
      }
    }
  }
}

TEST(Accelerators, AreSizedToTheirMemory) {
  for (const DeviceInfo& device : every_device()) {
    for (const ProfileKind profile : every_profile) {
      for (const Case& item : cases_for(device, profile)) {
        // Of their own size: a model is as large as it is.
        if (item.family == "train" || item.family == "infer" || item.family == "concurrency") continue;
        std::int64_t one = 0;
        for (const Tensor& tensor : item.work.tensors) {
          if (tensor.place.kind == PlaceKind::device) one += bytes(tensor);
        }
        const std::int64_t rounds = std::max(item.preparation.operand_copies, 1) - 1;
        EXPECT_LE(one * rounds, *device.memory_available / 4) << item.name;
        EXPECT_LE(one, *device.memory_available * 3 / 8) << item.name;
      }
    }
  }
}

TEST(Accelerators, AreAskedOnceForAFormatThatTheySayTheyDoNotHave) {
  const auto cases = cases_for(hopper(), ProfileKind::full);
  for (const char* missing : {"nvfp4", "mxfp8"}) {
    EXPECT_EQ(count(cases, std::string("gemm/") + missing + "/"), 1) << missing;
    EXPECT_EQ(count(cases, std::string("issue/") + missing + "/"), 1) << missing;
  }
  EXPECT_EQ(count(cases_for(small_card(), ProfileKind::standard), "gemm/bf16/llama"), 0);
  EXPECT_GT(count(cases_for(small_card(), ProfileKind::standard), "gemm/fp16/"), 10);
  EXPECT_GT(count(cases_for(small_card(), ProfileKind::standard), "gemm/fp32/"), 10) << "by its vector units";
  for (const char* present : {"nvfp4", "mxfp8"}) {
    EXPECT_GT(count(cases_for(blackwell(), ProfileKind::quick), std::string("gemm/") + present + "/"), 2) << present;
  }
}

TEST(Accelerators, TakeFp16WhereBf16IsMissing) {
  const auto cases = cases_for(small_card(), ProfileKind::quick);
  for (const char* name : {"gemm/fp16/square/1024", "gemm/fp16/llama-3-8b/out/4096", "gemm/fp16/decode/8x4096x4096",
                           "gemm/fp16/square/8192/constant_data"}) {
    EXPECT_NE(find(cases, name), nullptr) << name;
  }
  EXPECT_EQ(count(cases, "gemm/bf16/"), 1) << "only to say why not";
  EXPECT_EQ(find(cases, "concurrency/gemm/1")->precision, "fp16");
}

// As an MI300X does: 304 compute units, FP8 in the FNUZ dialect alone.
TEST(Accelerators, TakeFp8InTheDialectOfTheirUnits) {
  DeviceInfo device = accelerator(304, 2.1e9, 192 * gibibyte, 256 << 20);
  set_text(device, "matrix_formats", "fp64,tf32,bf16,fp16,fp8_e4m3_fnuz,fp8_e5m2_fnuz,int8");
  const auto cases = cases_for(device, ProfileKind::full);
  for (const char* name :
       {"gemm/fp8_e4m3_fnuz/square/8192", "gemm/fp8_e4m3_fnuz/square/8192/best", "gemm/fp8_e5m2_fnuz/square/8192",
        "gemm/fp8_e4m3_fnuz/decode/32x4096x4096", "issue/fp8_e4m3_fnuz/matrix/all",
        "infer/llama-3-8b/bf16_fp8_fnuz_weights_fp8_fnuz_cache/decode/32x2048"})
    EXPECT_NE(find(cases, name), nullptr) << name;
  for (const Case& item : cases) {
    EXPECT_EQ(item.name.find("fp8_e4m3/"), std::string::npos) << item.name;
    for (const Step& step : item.work.steps) {
      const auto* gemm = std::get_if<Gemm>(&step.op);
      if (gemm == nullptr || gemm->a.scaling != Scaling::tensor) continue;
      EXPECT_TRUE(gemm->a.element == Element::fp8_e4m3_fnuz || gemm->a.element == Element::fp8_e5m2_fnuz) << item.name;
    }
  }
  EXPECT_EQ(count(cases, "gemm/mxfp8/"), 1) << "OCP's blocks, only to say why not";
}

TEST(Accelerators, MeasureProductsInEveryFormatAndTheirIssueRates) {
  const auto cases = cases_for(blackwell(), ProfileKind::quick);
  for (const ProductFormat& format : product_formats()) {
    const std::string size = format.name == "fp64" ? "4096" : "8192";
    EXPECT_NE(find(cases, "gemm/" + format.name + "/square/" + size), nullptr) << format.name;
    EXPECT_NE(find(cases, "gemm/" + format.name + "/square/" + size + "/best"), nullptr) << format.name;
    EXPECT_NE(find(cases, "issue/" + format.name + (format.name == "fp32" ? "/vector" : "/matrix") + "/all"), nullptr)
        << format.name;
  }
  for (const char* vector : {"fp32", "fp16", "bf16", "fp64"}) {
    const Case* item = find(cases, std::string("issue/") + vector + "/vector/all");
    ASSERT_NE(item, nullptr) << vector;
    const Issue& issue = std::get<Issue>(item->work.steps.front().op);
    EXPECT_EQ(issue.accumulate, issue.operands.element) << "vector units add in what they multiply";
  }
}

TEST(Accelerators, LayOutProductsAsMatrixUnitsReadThem) {
  for (const Case& item : cases_for(blackwell(), ProfileKind::full)) {
    if (item.family != "gemm") continue;
    const Gemm& gemm = std::get<Gemm>(item.work.steps.front().op);
    if (bits(gemm.a.element) > 8) continue;
    EXPECT_TRUE(gemm.transpose_b && !gemm.transpose_a) << item.name;
    EXPECT_EQ(gemm.k % 32, 0) << item.name;
    EXPECT_EQ(gemm.n % 16, 0) << item.name;
    EXPECT_EQ(gemm.d.element, gemm.a.element == Element::int8 ? Element::int32 : Element::bf16) << item.name;
    EXPECT_FALSE(gemm.a.element == Element::fp8_e5m2 && gemm.b.element == Element::fp8_e5m2) << item.name;
  }
}

TEST(Accelerators, HaveTheCasesThatPeopleAskFor) {
  const auto quick = cases_for(hopper(), ProfileKind::quick);
  for (const char* name : {"gemm/bf16/square/1024",
                           "gemm/fp16_fp16_sums/square/8192",
                           "gemm/bf16/llama-3-8b/gate_up/4096",
                           "gemm/fp8_e4m3/llama-3-8b/down/4096",
                           "gemm/bf16/llama-3-8b/attention_scores/2048",
                           "gemm/bf16/mixtral-8x7b/experts_gate_up/128",
                           "gemm/bf16/decode/1x4096x4096",
                           "gemm/fp8_e4m3/decode/32x4096x4096",
                           "gemm/bf16/square/8192/constant_data",
                           "gemm/bf16/square/8192/integer_data",
                           "gemm/bf16/square/4096/cold",
                           "memory/triad/plain/dram",
                           "memory/triad/fp32/plain/dram",
                           "memory/copy/fp32/nontemporal/dram",
                           "memory/read/plain/64MiB",
                           "memory/reread/fp32/16KiB_each",
                           "memory/reread/fp32/256KiB_each",
                           "memory/gather/bf16/128B",
                           "memory/gather/bf16/8KiB",
                           "latency/16KiB",
                           "latency/1GiB",
                           "transfer/host_to_device/pinned/4B",
                           "transfer/device_to_host/pageable/256MiB",
                           "transfer/both_ways/pinned/256MiB",
                           "transfer/host_to_device/kernel/256MiB",
                           "transfer/within_device/engine/256MiB",
                           "transfer/host_to_device/node_1/256MiB",
                           "launch/kernel_and_wait",
                           "launch/graph",
                           "launch/graph_of_1000",
                           "launch/synchronise",
                           "launch/allocate/64MiB",
                           "concurrency/gemm/8",
                           "concurrency/copy_beside_gemm/both",
                           "capacity/integrity",
                           "capacity/context",
                           "train/llama-3-8b/bf16/2048"}) {
    EXPECT_NE(find(quick, name), nullptr) << name;
  }
  EXPECT_EQ(count(quick, "transfer/to_device"), 0);
  const auto full = cases_for(hopper(), ProfileKind::full);
  for (const char* name :
       {"gemm/bf16/square/16384", "gemm/bf16/llama-3-70b/gate_up/1", "gemm/bf16/llama-3-8b/head/8192",
        "gemm/bf16/qwen3-30b-a3b/experts_down/16", "gemm/bf16/steps/1024x4096x4096", "gemm/bf16/square/8192/sustained",
        "memory/gather/bf16/256B", "transfer/host_to_device/pinned/1GiB", "launch/allocate/1GiB"}) {
    EXPECT_NE(find(full, name), nullptr) << name;
  }
}

TEST(Accelerators, TakeFewTokensWithWeightsFromMemory) {
  const auto cases = cases_for(hopper(), ProfileKind::standard);
  const Case* few = find(cases, "gemm/bf16/llama-3-8b/out/16");
  ASSERT_NE(few, nullptr);
  EXPECT_EQ(few->cache, "cold");
  // The weights are 32 MiB and the rest 256 KiB: eight of them make more than 256 MiB, which is more than four times
  // 50 MiB.
  EXPECT_EQ(few->preparation.operand_copies, 8);
  EXPECT_EQ(find(cases, "gemm/bf16/llama-3-8b/out/4096")->cache, "hot");
}

TEST(Accelerators, CopyToEveryPeerAndCountEachPairBothWaysOnce) {
  const auto cases = cases_for(second_of_three(), ProfileKind::quick);
  for (const char* name : {"transfer/to_device_0/engine/256MiB", "transfer/to_device_2/kernel/256MiB",
                           "transfer/both_ways_device_2/engine/256MiB"}) {
    EXPECT_NE(find(cases, name), nullptr) << name;
  }
  EXPECT_EQ(find(cases, "transfer/both_ways_device_0/engine/256MiB"), nullptr) << "device 0 measures it";
  const auto full = cases_for(second_of_three(), ProfileKind::full);
  const Case* loads = find(full, "transfer/from_device_0/kernel/256MiB");
  ASSERT_NE(loads, nullptr);
  const Transfer& transfer = std::get<Transfer>(loads->work.steps.front().op);
  EXPECT_EQ(transfer.from, (Place{PlaceKind::device, 0}));
  EXPECT_EQ(transfer.to, (Place{PlaceKind::device, -1}));
}

TEST(Accelerators, RunLanesSideBySideAndProveThemByATwin) {
  const auto cases = cases_for(hopper(), ProfileKind::quick);
  for (const int lanes : {1, 2, 4, 8}) {
    const Case* item = find(cases, "concurrency/gemm/" + std::to_string(lanes));
    ASSERT_NE(item, nullptr);
    EXPECT_EQ(item->work.lanes, lanes);
    EXPECT_EQ(cost(item->work).flops, lanes * 8 * 2.0 * 1024 * 1024 * 1024);
  }
  const Case* both = find(cases, "concurrency/copy_beside_gemm/both");
  ASSERT_NE(both, nullptr);
  EXPECT_EQ(both->work.lanes, 2);
  for (const char* part : {"both", "gemm_alone", "copy_alone"}) {
    const Case* item = find(cases, std::string("concurrency/copy_beside_gemm/") + part);
    ASSERT_NE(item, nullptr);
    Values values = initial_values(item->twin, Pattern::typical, 1);
    EXPECT_NO_THROW(interpret(item->twin, values, true)) << part;
  }
}

TEST(Accelerators, StayUnderLoadForSecondsWhereTheRateMustBeSustained) {
  EXPECT_EQ(count(cases_for(hopper(), ProfileKind::quick), "gemm/bf16/square/8192/sustained"), 0);
  for (const ProfileKind profile : {ProfileKind::standard, ProfileKind::full}) {
    const auto cases = cases_for(hopper(), profile);
    const Case* item = find(cases, "gemm/bf16/square/8192/sustained");
    ASSERT_NE(item, nullptr);
    EXPECT_EQ(item->phase, "sustained");
    ASSERT_TRUE(item->limits.has_value());
    EXPECT_GE(item->limits->warm_up_seconds, 2);
    EXPECT_LE(item->limits->maximum_seconds, profile == ProfileKind::full ? 30 : 6);
    EXPECT_EQ(find(cases, "gemm/bf16/square/8192")->phase, "burst");
  }
}

TEST(Accelerators, MeasureWhatIsComparedAtFullDepthAndCurvesBriefly) {
  const auto cases = cases_for(hopper(), ProfileKind::full);
  for (const char* deep :
       {"gemm/bf16/square/8192", "gemm/bf16/square/8192/best", "gemm/bf16/decode/1x4096x4096",
        "memory/triad/plain/dram", "issue/bf16/matrix/all", "transfer/host_to_device/pinned/256MiB"}) {
    ASSERT_NE(find(cases, deep), nullptr) << deep;
    EXPECT_FALSE(find(cases, deep)->limits.has_value()) << deep;
  }
  const Case* point = find(cases, "memory/read/plain/16MiB");
  ASSERT_TRUE(point->limits.has_value());
  EXPECT_EQ(point->limits->maximum_seconds, profile(ProfileKind::standard).limits.maximum_seconds);
}

TEST(Accelerators, StepThroughTilesUntilAWaveIsFull) {
  // 132 tiles of 128 x 256 cover 132 * 128 * 256 / 4096 = 1056 rows of 4096: 17 steps of 64 from 1024 on, and the
  // first.
  EXPECT_EQ(count(cases_for(hopper(), ProfileKind::full), "gemm/bf16/steps/"), 18);
  EXPECT_EQ(count(cases_for(hopper(), ProfileKind::standard), "gemm/bf16/steps/"), 10);
  EXPECT_EQ(count(cases_for(hopper(), ProfileKind::quick), "gemm/bf16/steps/"), 0);
}

TEST(Accelerators, AreMeantToBeDoneInAMinuteOrInTen) {
  for (const DeviceInfo& device : {hopper(), blackwell(), small_card()}) {
    EXPECT_LT(seconds_of(cases_for(device, ProfileKind::quick)), 60);
    EXPECT_LT(seconds_of(cases_for(device, ProfileKind::full)), 600);
  }
  EXPECT_GT(seconds_of(cases_for(hopper(), ProfileKind::quick)), 20);
}

TEST(Accelerators, StartWithWhatTellsMost) {
  const auto cases = cases_for(hopper(), ProfileKind::quick);
  const auto place = [&](const std::string& name) { return find(cases, name) - cases.data(); };
  EXPECT_LT(place("capacity/integrity"), place("gemm/bf16/square/8192"));
  EXPECT_LT(place("gemm/bf16/square/8192"), place("gemm/bf16/square/1024"));
  EXPECT_LT(place("memory/triad/plain/dram"), place("memory/copy/plain/dram"));
  EXPECT_LT(place("transfer/host_to_device/pinned/256MiB"), place("issue/fp32/vector/all"));
  // A family needs a worker, which takes longer to start than most cases take: twice each at most.
  std::map<std::string, int> workers;
  std::string served;
  for (const Case& item : cases) {
    if (item.family != served) ++workers[item.family];
    served = item.family;
  }
  for (const auto& [family, times] : workers) EXPECT_LE(times, 2) << family;
}

}  // namespace
}  // namespace assay
