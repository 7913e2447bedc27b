// A management library that is missing, broken, older, or refuses.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>

#include "cuda/management.h"
#include "cuda/nvml_events.h"
#include "cuda/nvml_processes.h"
#include "gpu/telemetry.h"
#include "tests/cuda/fake_management.h"

namespace vendor::nvml {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;

class NvmlFaults : public FakeManagement {
 protected:
  // The fake with that function renamed in its table of names, so that looking it up really fails.
  std::string without(const std::string& function) {
    std::ifstream from(ASSAY_FAKE_NVML, std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(from)), {});
    const std::string name = '\0' + function + '\0';
    int changed = 0;
    for (auto at = bytes.find(name); at != std::string::npos; at = bytes.find(name, at + 1)) {
      bytes[at + 1] = 'X';
      ++changed;
    }
    EXPECT_GT(changed, 0) << function;
    const auto path = folder_.path() / ("without_" + function + ".so");
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
};

TEST_F(NvmlFaults, AMissingLibraryIsASentence) {
  const auto opened = Library::open({"/nowhere/libnvidia-ml.so.1"});
  EXPECT_EQ(opened.library, nullptr);
  EXPECT_EQ(opened.status, Status::library_not_found);
  EXPECT_THAT(opened.reason, HasSubstr("was not found"));
  EXPECT_THAT(opened.reason, HasSubstr("/nowhere/libnvidia-ml.so.1"));
}

TEST_F(NvmlFaults, AGivenPathIsTheOnlyOne) {
  setenv("ASSAY_NVML", "/nowhere/else.so", 1);
  EXPECT_EQ(places(), std::vector<std::string>{"/nowhere/else.so"});
  unsetenv("ASSAY_NVML");
  EXPECT_EQ(places().front(), "libnvidia-ml.so.1");
  EXPECT_THAT(places(), testing::Contains("/usr/lib/wsl/lib/libnvidia-ml.so.1"));
}

TEST_F(NvmlFaults, ALibraryThatDoesNotStartSaysWhyAndWhatToDo) {
  script("- nvmlInit_v2 error 18\n");
  EXPECT_THAT(Library::open().reason, HasSubstr("different versions"));
  EXPECT_THAT(management_obstacle().problem, HasSubstr("different versions"));
  EXPECT_THAT(management_obstacle().cure, HasSubstr("reboot the host"));
  script("- nvmlInit_v2 error 9\n");
  EXPECT_THAT(management_obstacle().problem, HasSubstr("driver is not loaded"));
  script("- nvmlInit_v2 error 777\n");
  EXPECT_THAT(management_obstacle().problem, HasSubstr("status 777"));
}

TEST_F(NvmlFaults, ALibraryWithoutEntryIsRefused) {
  script(machine() + healthy());
  EXPECT_EQ(Library::open({without("nvmlInit_v2")}).status, Status::function_not_found);
}

// Every function that an answer needs, taken away in turn: nothing crashes, and what needs it is absent.
TEST_F(NvmlFaults, AnyMissingFunctionCostsItsOwnFieldAlone) {
  script(machine() + healthy());
  using Look = std::function<bool(Device&)>;
  const std::map<std::string, Look> fields = {
      {"nvmlDeviceGetName", [](Device& d) { return !d.text(name).empty(); }},
      {"nvmlDeviceGetUUID", [](Device& d) { return !d.uuid().empty(); }},
      {"nvmlDeviceGetSerial", [](Device& d) { return !d.text(serial).empty(); }},
      {"nvmlDeviceGetBoardPartNumber", [](Device& d) { return !d.text(part_number).empty(); }},
      {"nvmlDeviceGetVbiosVersion", [](Device& d) { return !d.text(vbios).empty(); }},
      {"nvmlDeviceGetPciInfo_v3", [](Device& d) { return !d.pci().empty(); }},
      {"nvmlDeviceGetClockInfo", [](Device& d) { return d.clock_hertz(ClockKind::multiprocessor).has_value(); }},
      {"nvmlDeviceGetMaxClockInfo", [](Device& d) { return d.clock_most_hertz(ClockKind::memory).has_value(); }},
      {"nvmlDeviceGetApplicationsClock", [](Device& d) { return d.clock_set_hertz(ClockKind::graphics).has_value(); }},
      {"nvmlDeviceGetCurrentClocksEventReasons", [](Device& d) { return d.clock_reasons().has_value(); }},
      {"nvmlDeviceGetEnforcedPowerLimit", [](Device& d) { return d.power_limits().enforced.has_value(); }},
      {"nvmlDeviceGetPowerManagementDefaultLimit", [](Device& d) { return d.power_limits().by_default.has_value(); }},
      {"nvmlDeviceGetPowerManagementLimitConstraints", [](Device& d) { return d.power_limits().most.has_value(); }},
      {"nvmlDeviceGetTotalEnergyConsumption", [](Device& d) { return d.energy_joules().has_value(); }},
      {"nvmlDeviceGetTemperature", [](Device& d) { return d.temperature_celsius().has_value(); }},
      {"nvmlDeviceGetFieldValues", [](Device& d) { return d.memory_temperature_celsius().has_value(); }},
      {"nvmlDeviceGetUtilizationRates", [](Device& d) { return d.busy().has_value(); }},
      {"nvmlDeviceGetMemoryInfo", [](Device& d) { return d.memory_total().has_value(); }},
      {"nvmlDeviceGetMemoryInfo_v2", [](Device& d) { return d.memory_reserved().has_value(); }},
      {"nvmlDeviceGetEccMode", [](Device& d) { return d.ecc().current.has_value(); }},
      {"nvmlDeviceGetTotalEccErrors",
       [](Device& d) { return d.ecc_errors(CounterKind::since_boot).corrected.has_value(); }},
      {"nvmlDeviceGetRemappedRows", [](Device& d) { return d.remapped_rows().has_value(); }},
      {"nvmlDeviceGetCurrPcieLinkGeneration", [](Device& d) { return d.pcie().generation.has_value(); }},
      {"nvmlDeviceGetCurrPcieLinkWidth", [](Device& d) { return d.pcie().width.has_value(); }},
      {"nvmlDeviceGetMaxPcieLinkGeneration", [](Device& d) { return d.pcie().generation_most.has_value(); }},
      {"nvmlDeviceGetMaxPcieLinkWidth", [](Device& d) { return d.pcie().width_most.has_value(); }},
      {"nvmlDeviceGetGpuMaxPcieLinkGeneration", [](Device& d) { return d.pcie().generation_of_card.has_value(); }},
      {"nvmlDeviceGetPcieReplayCounter", [](Device& d) { return d.pcie_replays().has_value(); }},
      {"nvmlDeviceGetNvLinkState", [](Device& d) { return d.links().has_value(); }},
      {"nvmlDeviceGetNvLinkVersion", [](Device& d) { return d.links() && d.links()->version.has_value(); }},
      {"nvmlDeviceGetMigMode", [](Device& d) { return d.mig().current.has_value(); }},
      {"nvmlDeviceGetComputeMode", [](Device& d) { return d.compute_mode().has_value(); }},
      {"nvmlDeviceGetPersistenceMode", [](Device& d) { return d.persistence().has_value(); }},
      {"nvmlDeviceGetVirtualizationMode", [](Device& d) { return d.virtualisation().has_value(); }},
      {"nvmlDeviceGetGpuFabricInfoV", [](Device& d) { return d.fabric().has_value(); }},
  };
  for (const auto& [function, look] : fields) {
    const auto whole = all_devices(Library::open().library);
    ASSERT_EQ(whole.size(), 1U);
    EXPECT_TRUE(look(*whole.front())) << function;
    const auto lacking = all_devices(Library::open({without(function)}).library);
    ASSERT_EQ(lacking.size(), 1U) << function;
    EXPECT_FALSE(look(*lacking.front())) << function;
    EXPECT_EQ(function == "nvmlDeviceGetTemperature", !lacking.front()->temperature_celsius()) << function;
  }
}

TEST_F(NvmlFaults, AnyMissingFunctionLeavesTelemetryAndFactsAlive) {
  script(machine() + healthy());
  for (const char* function :
       {"nvmlDeviceGetCount_v2", "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByPciBusId_v2",
        "nvmlDeviceGetHandleByUUID", "nvmlEventSetCreate", "nvmlDeviceRegisterEvents", "nvmlEventSetWait_v2",
        "nvmlEventSetFree", "nvmlShutdown", "nvmlSystemGetDriverVersion", "nvmlSystemGetNVMLVersion",
        "nvmlSystemGetCudaDriverVersion_v2", "nvmlSystemGetConfComputeState", "nvmlDeviceGetPowerUsage",
        "nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetGraphicsRunningProcesses_v3"}) {
    setenv("ASSAY_NVML", without(function).c_str(), 1);
    EXPECT_GT(make_telemetry()->sample(0).time, 0) << function;
    EXPECT_FALSE(management_facts("0000:3b:00.0").empty()) << function;
  }
}

TEST_F(NvmlFaults, WhatIsNotSupportedIsNotAskedAgain) {
  const auto card = this->card("0 nvmlDeviceGetTemperature/0 error 3\n0 nvmlDeviceGetFieldValues/82 error 3\n");
  for (int time = 0; time < 5; ++time) {
    EXPECT_FALSE(card->temperature_celsius());
    EXPECT_FALSE(card->memory_temperature_celsius());
    EXPECT_TRUE(card->power_watts());
  }
  EXPECT_EQ(asked(0, "nvmlDeviceGetTemperature/0"), 1);
  EXPECT_EQ(asked(0, "nvmlDeviceGetFieldValues/82"), 1);
  EXPECT_EQ(asked(0, "nvmlDeviceGetFieldValues/186"), 5);
}

TEST_F(NvmlFaults, APassingFailureIsAskedAgain) {
  const auto card = this->card("0 nvmlDeviceGetTemperature/0 error 10\n");
  for (int time = 0; time < 3; ++time) EXPECT_FALSE(card->temperature_celsius());
  EXPECT_EQ(asked(0, "nvmlDeviceGetTemperature/0"), 3);
}

TEST_F(NvmlFaults, ALostCardIsAskedNothingMore) {
  const auto card = this->card("0 nvmlDeviceGetClockInfo/1 error 15\n");
  EXPECT_TRUE(card->power_watts());
  EXPECT_FALSE(card->clock_hertz(ClockKind::multiprocessor));
  EXPECT_EQ(card->lost(), Status::gpu_is_lost);
  EXPECT_FALSE(card->power_watts());
  EXPECT_EQ(asked(0, "nvmlDeviceGetFieldValues/186"), 1);
}

TEST_F(NvmlFaults, EveryStatusHasWordsOfItsOwn) {
  std::set<std::string> seen;
  for (const int status :
       {0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 25, 26, 27, 28, 999})
    EXPECT_TRUE(seen.insert(words(static_cast<Status>(status))).second) << status;
}

TEST_F(NvmlFaults, EveryLayoutOfProcessEntriesIsRead) {
  for (const char* stride : {"16", "24", "32"}) {
    const auto card =
        this->card(std::string("0 nvmlDeviceGetComputeRunningProcesses_v3 ") + stride + " 4242 4343 4444\n");
    const auto listed = processes(*card);
    ASSERT_TRUE(listed) << stride;
    ASSERT_EQ(listed->size(), 3U) << stride;
    EXPECT_EQ((*listed)[1].pid, 4343U) << stride;
    EXPECT_EQ((*listed)[2].pid, 4444U) << stride;
    EXPECT_THAT((*listed)[2].memory, Optional(std::int64_t{512} << 20)) << stride;
  }
}

TEST_F(NvmlFaults, AProcessOfBothListsIsOne) {
  const auto card = this->card(
      "0 nvmlDeviceGetComputeRunningProcesses_v3 24 7 8\n0 nvmlDeviceGetGraphicsRunningProcesses_v3 24 8 9\n");
  EXPECT_EQ(processes(*card)->size(), 3U);
}

// front 100 -> worker 200 -> helper 201; 300 is somebody else's.
assay::MachineRoot* family_of(assay::MachineRoot& root, const std::string& space) {
  root.file("proc/100/stat", "100 (assay) S 1 100 100 0");
  root.file("proc/200/stat", "200 (worker) with) brackets) R 100 200 100 0");
  root.file("proc/201/stat", "201 (helper) S 200 200 100 0");
  root.file("proc/300/stat", "300 (python) S 1 300 300 0");
  std::filesystem::create_directories(root.path() / "proc/self/ns");
  std::filesystem::create_symlink("pid:[" + space + "]", root.path() / "proc/self/ns/pid");
  return &root;
}

TEST_F(NvmlFaults, OurOwnProcessesAreNoStrangers) {
  assay::MachineRoot root;
  const Family family(family_of(root, "4026531836")->path(), 100);
  EXPECT_FALSE(family.own_numbering());
  EXPECT_THAT(family.strangers({{200, {}}, {201, {}}}), Optional(0));
  EXPECT_THAT(family.strangers({{200, {}}, {300, {}}}), Optional(1));
  EXPECT_FALSE(family.strangers({{999, {}}}));  // ended, or hidden from us
  EXPECT_THAT(family.strangers({{999, {}}, {300, {}}}), Optional(1));
}

TEST_F(NvmlFaults, InAContainerOnlyASurplusProvesStrangers) {
  assay::MachineRoot root;
  const Family family(family_of(root, "4026532201")->path(), 100);
  EXPECT_TRUE(family.own_numbering());
  EXPECT_FALSE(family.strangers({{31000, {}}}));  // ours by the host's count, or another's: nobody can tell
  // Ours are 100, 200, 201 and this test itself: five listed are one too many.
  EXPECT_THAT(family.strangers({{1, {}}, {2, {}}, {3, {}}, {4, {}}, {5, {}}}), Optional(1));
}

TEST_F(NvmlFaults, XidsAreHeardOnceAndWithoutWaiting) {
  script(machine() + healthy() + "0 nvmlEventSetWait_v2 79 31\n");
  const auto library = Library::open().library;
  const auto all = all_devices(library);
  Events events(library, {all.front()->whole()});
  ASSERT_TRUE(events.hears());
  const auto first = events.take();
  ASSERT_EQ(first.size(), 2U);
  EXPECT_EQ(first[0].xid, 79U);
  EXPECT_EQ(first[0].device, all.front()->whole());
  EXPECT_THAT(events.take(), IsEmpty());
  EXPECT_THAT(xid_words(79), HasSubstr("fallen off the bus"));
}

TEST_F(NvmlFaults, WhereEventsAreNotAllowedNothingIsHeard) {
  script(machine() + healthy() + "- nvmlEventSetCreate error 4\n");
  const auto library = Library::open().library;
  Events events(library, {all_devices(library).front()->whole()});
  EXPECT_FALSE(events.hears());
  EXPECT_THAT(events.take(), IsEmpty());
}

}  // namespace
}  // namespace vendor::nvml
