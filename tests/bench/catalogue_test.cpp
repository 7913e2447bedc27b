// The cases of every kind of device: complete, named cleanly, sized to the machine, and affordable.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>

#include "bench/case.h"
#include "bench/case_sizes.h"
#include "core/work.h"

namespace assay {
namespace {

constexpr std::int64_t gibibyte = std::int64_t{1} << 30;

DeviceInfo processor(int cores = 2, std::int64_t memory = 24 * gibibyte) {
  DeviceInfo device;
  device.id = "cpu:0";
  device.backend = "cpu";
  device.architecture = "x86-64-v4";
  device.compute_units = cores;
  device.memory_total = device.memory_available = memory;
  device.caches = {{1, 48 << 10, cores}, {2, 2 << 20, cores}, {3, 32 << 20, 1}};
  return device;
}

DeviceInfo accelerator(std::int64_t memory = 80 * gibibyte) {
  DeviceInfo device;
  device.id = "fake:0";
  device.backend = "fake";
  device.architecture = "f_90";
  device.compute_units = 132;
  device.clock_hertz = 1.7e9;
  device.memory_total = device.memory_available = memory;
  device.caches = {{1, 256 << 10, 132}, {2, 50 << 20, 1}};
  return device;
}

const std::vector<ProfileKind> every_profile = {ProfileKind::quick, ProfileKind::standard, ProfileKind::full};

const Case* find(const std::vector<Case>& cases, const std::string& name) {
  const auto found = std::find_if(cases.begin(), cases.end(), [&](const Case& item) { return item.name == name; });
  return found == cases.end() ? nullptr : &*found;
}

std::int64_t tensor_bytes(const Case& item) {
  std::int64_t total = 0;
  for (const Tensor& tensor : item.work.tensors) total += bytes(tensor) * item.preparation.operand_copies;
  return total;
}

TEST(Catalogue, NamesAreCleanUniqueAndBeginWithTheirFamilyOrTheirBlock) {
  for (const DeviceInfo& device : {processor(), accelerator()}) {
    for (const ProfileKind profile : every_profile) {
      std::set<std::string> names;
      for (const Case& item : cases_for(device, profile)) {
        EXPECT_TRUE(std::regex_match(item.name, std::regex("[a-z]+(/[A-Za-z0-9_.-]+)+"))) << item.name;
        EXPECT_TRUE(names.insert(item.name).second) << item.name << " twice";
        EXPECT_EQ(item.name.substr(0, item.name.find('/')), item.family) << item.name;
        EXPECT_GT(item.seconds_expected, 0) << item.name;
      }
    }
  }
}

TEST(Catalogue, GivesTheSameCasesEveryTime) {
  const auto first = cases_for(processor(), ProfileKind::standard);
  const auto second = cases_for(processor(), ProfileKind::standard);
  ASSERT_EQ(first.size(), second.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i].name, second[i].name);
    EXPECT_EQ(first[i].work.tensors.size(), second[i].work.tensors.size());
  }
}

TEST(Catalogue, KeepsItsSizesWhenAFewBytesMoreAreFree) {
  DeviceInfo later = processor();
  later.memory_available = *later.memory_available - 300'000'000;
  const auto before = cases_for(processor(), ProfileKind::quick);
  const auto after = cases_for(later, ProfileKind::quick);
  ASSERT_EQ(before.size(), after.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(before[i].name, after[i].name);
    EXPECT_EQ(tensor_bytes(before[i]), tensor_bytes(after[i])) << before[i].name;
  }
}

TEST(Catalogue, CoversEveryFamilyOfTheCommandLine) {
  const auto families = [](const DeviceInfo& device) {
    std::set<std::string> all;
    for (const Case& item : cases_for(device, ProfileKind::quick)) all.insert(item.family);
    return all;
  };
  EXPECT_THAT(families(processor()),
              ::testing::UnorderedElementsAre("host", "capacity", "gemm", "issue", "memory", "latency", "transfer",
                                              "launch", "train", "infer"));
  EXPECT_THAT(families(accelerator()),
              ::testing::UnorderedElementsAre("capacity", "gemm", "issue", "memory", "latency", "concurrency",
                                              "transfer", "launch", "train", "infer"));
}

TEST(Catalogue, EveryCaseHasExactlyOneThingToDo) {
  for (const DeviceInfo& device : {processor(), accelerator()}) {
    for (const Case& item : cases_for(device, ProfileKind::full)) {
      const int things = (item.work.steps.empty() ? 0 : 1) + (item.question ? 1 : 0) +
                         (item.host_survey.empty() ? 0 : 1) + (item.training ? 1 : 0);
      EXPECT_EQ(things, 1) << item.name;
      EXPECT_NO_THROW(check(item.work)) << item.name;
      EXPECT_EQ(item.whole_step, item.work.steps.size() > 1) << item.name;
      EXPECT_NO_THROW(check(item.twin)) << item.name;
      EXPECT_EQ(item.whole_step, !item.twin.steps.empty()) << item.name;
    }
  }
}

TEST(Catalogue, BytesLieAlongKOnGpusAndAsEverOnProcessors) {
  const auto transposed = [](const DeviceInfo& device, const std::string& start) {
    int yes = 0;
    int no = 0;
    for (const Case& item : cases_for(device, ProfileKind::full)) {
      if (item.name.rfind(start, 0) == 0) ++(std::get<Gemm>(item.work.steps.front().op).transpose_b ? yes : no);
    }
    return std::make_pair(yes > 0, no > 0);
  };
  for (const char* element : {"gemm/fp8_e4m3/square", "gemm/int8/square", "gemm/fp8_e4m3/decode"}) {
    EXPECT_EQ(transposed(accelerator(), element), std::make_pair(true, false)) << element;
  }
  EXPECT_EQ(transposed(processor(), "gemm/int8/square"), std::make_pair(false, true));
  EXPECT_EQ(transposed(accelerator(), "gemm/fp16/decode"), std::make_pair(false, true));
}

TEST(Catalogue, HasTheCasesThatPeopleAskFor) {
  const auto cases = cases_for(processor(), ProfileKind::quick);
  for (const char* name : {"gemm/bf16/square/2048",
                           "gemm/fp32/square/256",
                           "gemm/int8/square/1024",
                           "gemm/fp64/square/1024",
                           "gemm/fp16/square/1024",
                           "gemm/fp8_e4m3/square/1024",
                           "gemm/bf16/gpt2/qkv/512",
                           "gemm/bf16/llama-3-8b/out/128",
                           "gemm/bf16/decode/1x4096x4096",
                           "gemm/bf16/gpt2/attention_scores/512",
                           "gemm/fp32/square/1024/constant_data",
                           "issue/fp16/vector/all",
                           "issue/fp32/vector/one_core",
                           "memory/triad/plain/dram",
                           "memory/triad/nontemporal/dram",
                           "memory/triad/plain/16KiB",
                           "memory/read/plain/64MiB",
                           "memory/adamw/bf16/dram",
                           "memory/softmax/bf16/dram",
                           "latency/16KiB",
                           "latency/64MiB",
                           "transfer/memcpy/4KiB",
                           "transfer/memcpy/256MiB",
                           "launch/parallel_region",
                           "launch/barrier",
                           "launch/allocate/64MiB",
                           "capacity/allocatable",
                           "host/storage",
                           "host/shared_memory",
                           "train/gpt2/fp32/256",
                           "train/gpt2/bf16/256",
                           "train/llama-3.2-1b/bf16/64"}) {
    EXPECT_NE(find(cases, name), nullptr) << name;
  }
}

TEST(Catalogue, SizesGrowWithTheDevice) {
  EXPECT_EQ(find(cases_for(processor(), ProfileKind::quick), "gemm/bf16/square/8192"), nullptr);
  EXPECT_NE(find(cases_for(accelerator(), ProfileKind::quick), "gemm/bf16/square/8192"), nullptr);
  EXPECT_NE(find(cases_for(accelerator(), ProfileKind::full), "gemm/bf16/square/16384"), nullptr);
}

TEST(Catalogue, NoCaseTakesMoreThanAQuarterOfTheMemory) {
  for (const std::int64_t memory : {2 * gibibyte, 8 * gibibyte, 64 * gibibyte}) {
    for (const ProfileKind profile : every_profile) {
      for (const Case& item : cases_for(processor(4, memory), profile)) {
        if (item.family == "train") continue;  // has the size of its model, or is out of memory
        // A rotation ends on a whole copy, which may lie across the border.
        const std::int64_t one = tensor_bytes(item) / std::max(item.preparation.operand_copies, 1);
        EXPECT_LE(tensor_bytes(item), memory / 4 + one) << item.name;
      }
    }
  }
}

// 4 x 32 MiB of last cache are less than the 256 MiB that are the least; 4 x 512 MiB are more than a quick look can
// fill.
TEST(Catalogue, SaysWhereTheWorkingSetIsNotFarBeyondTheCaches) {
  const auto near = [](std::int64_t cache) {
    DeviceInfo device = processor();
    device.caches.back().bytes = cache;
    const auto cases = cases_for(device, ProfileKind::quick);
    const Case* triad = find(cases, "memory/triad/plain/dram");
    return !triad->conditions.empty() && triad->conditions.front() == "near_cache";
  };
  EXPECT_FALSE(near(32 << 20));
  EXPECT_TRUE(near(512 << 20));
}

TEST(Catalogue, ColdProductsRotateThroughFourTimesTheLastCache) {
  const auto cases = cases_for(processor(), ProfileKind::quick);
  const Case* decode = find(cases, "gemm/bf16/decode/1x4096x4096");
  ASSERT_NE(decode, nullptr);
  EXPECT_EQ(decode->cache, "cold");
  EXPECT_GE(tensor_bytes(*decode), 4 * (32 << 20));
  EXPECT_TRUE(decode->conditions.empty());
}

TEST(Catalogue, PutsTheMostTellingCasesFirst) {
  const auto cases = cases_for(processor(), ProfileKind::quick);
  const auto place = [&](const std::string& name) {
    const Case* found = find(cases, name);
    EXPECT_NE(found, nullptr) << name;
    return found == nullptr ? 0 : found - cases.data();
  };
  EXPECT_LT(place("host/memory"), place("gemm/bf16/square/256"));
  EXPECT_LT(place("gemm/bf16/square/2048"), place("gemm/bf16/square/256"));
  EXPECT_LT(place("memory/triad/plain/dram"), place("memory/copy/plain/dram"));
  EXPECT_LT(place("train/gpt2/bf16/256"), place("gemm/fp32/square/1024/constant_data"));
}

TEST(Catalogue, AQuickLookAtTwoCoresIsMeantToTakeUnderAMinute) {
  double total = 0;
  for (const Case& item : cases_for(processor(), ProfileKind::quick)) total += item.seconds_expected;
  EXPECT_LT(total, 60);
  EXPECT_GT(total, 15);
}

TEST(Catalogue, MeasuresEveryOpOfABlockAloneWhereThereIsTime) {
  const auto cases = cases_for(processor(), ProfileKind::standard);
  std::set<std::string> alone;
  for (const Case& item : cases) {
    if (item.work.steps.size() == 1) alone.insert(text(item.work.steps[0].op));
  }
  const Case* block = find(cases, "train/gpt2/fp32/1024");
  ASSERT_NE(block, nullptr);
  for (const Step& step : block->work.steps) EXPECT_EQ(alone.count(text(step.op)), 1U) << text(step.op);
}

TEST(Sizes, AreNamedInBinaryUnits) {
  EXPECT_EQ(size_name(16384), "16KiB");
  EXPECT_EQ(size_name(4 << 20), "4MiB");
  EXPECT_EQ(size_name(gibibyte), "1GiB");
  EXPECT_EQ(size_name(1000), "1000B");
  EXPECT_EQ(steps(16, 1024, 4), (std::vector<std::int64_t>{16, 64, 256, 1024}));
}

}  // namespace
}  // namespace assay
