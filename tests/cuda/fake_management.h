// A scripted management library for tests: a healthy card, and what a test says otherwise.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "cuda/nvml_device.h"
#include "cuda/nvml_order.h"
#include "tests/machine_root.h"

namespace vendor {

// The lines of one H100-like card; see tests/fakes/fake_nvml.c for their form. Figures are made up but of the right
// size.
inline std::string healthy(int device = 0, const std::string& bus = "3B") {
  const std::string d = std::to_string(device) + " nvml";
  return d + "DeviceGetName NVIDIA H100 80GB HBM3\n" +                                                  //
         d + "DeviceGetUUID GPU-0000000" + std::to_string(device) + "-1111-2222-3333-444444444444\n" +  //
         d + "DeviceGetPciInfo_v3 00000000:" + bus + ":00.0\n" +                                        //
         d + "DeviceGetSerial 1650923000123\n" +                                                        //
         d + "DeviceGetBoardPartNumber 692-2G520-0200-000\n" +                                          //
         d + "DeviceGetVbiosVersion 96.00.74.00.01\n" +                                                 //
         d + "DeviceGetClockInfo/1 1755\n" +                                                            //
         d + "DeviceGetClockInfo/2 2619\n" +                                                            //
         d + "DeviceGetMaxClockInfo/1 1980\n" +                                                         //
         d + "DeviceGetMaxClockInfo/2 2619\n" +                                                         //
         d + "DeviceGetApplicationsClock/0 1980\n" +                                                    //
         d + "DeviceGetFieldValues/186 1 612345\n" +                                                    //
         d + "DeviceGetPowerUsage 598000\n" +                                                           //
         d + "DeviceGetEnforcedPowerLimit 700000\n" +                                                   //
         d + "DeviceGetPowerManagementDefaultLimit 700000\n" +                                          //
         d + "DeviceGetPowerManagementLimitConstraints 200000 700000\n" +                               //
         d + "DeviceGetTotalEnergyConsumption 123456789\n" +                                            //
         d + "DeviceGetTemperature/0 61\n" +                                                            //
         d + "DeviceGetFieldValues/82 1 72\n" +                                                         //
         d + "DeviceGetCurrentClocksEventReasons 4\n" +                                                 //
         d + "DeviceGetUtilizationRates 97 40\n" +                                                      //
         d + "DeviceGetMemoryInfo 85520809984 80000000000 5520809984\n" +                               //
         d + "DeviceGetMemoryInfo_v2 85520809984 600000000 80000000000 4920809984\n" +                  //
         d + "DeviceGetEccMode 1 1\n" +                                                                 //
         d + "DeviceGetTotalEccErrors/0 3\n" + /* corrected since boot */                               //
         d + "DeviceGetTotalEccErrors/1 17\n" + /* corrected ever */                                    //
         d + "DeviceGetTotalEccErrors/10 0\n" + /* uncorrected since boot */                            //
         d + "DeviceGetTotalEccErrors/11 0\n" +                                                         //
         d + "DeviceGetRemappedRows 2 0 0 0\n" +                                                        //
         d + "DeviceGetCurrPcieLinkGeneration 5\n" +                                                    //
         d + "DeviceGetCurrPcieLinkWidth 16\n" +                                                        //
         d + "DeviceGetMaxPcieLinkGeneration 5\n" +                                                     //
         d + "DeviceGetMaxPcieLinkWidth 16\n" +                                                         //
         d + "DeviceGetGpuMaxPcieLinkGeneration 5\n" +                                                  //
         d + "DeviceGetPcieReplayCounter 0\n" +                                                         //
         d + "DeviceGetFieldValues/91 1 2\n" + /* two links, 25 781 MB/s each */                        //
         d + "DeviceGetNvLinkState/0 1\n" +                                                             //
         d + "DeviceGetNvLinkState/1 1\n" +                                                             //
         d + "DeviceGetNvLinkVersion/0 4\n" +                                                           //
         d + "DeviceGetFieldValues/164 1 25781\n" +                                                     //
         d + "DeviceGetFieldValues/164.1 1 25781\n" +                                                   //
         d + "DeviceGetFieldValues/161 3 5\n" +                                                         //
         d + "DeviceGetFieldValues/161.1 3 6\n" +                                                       //
         d + "DeviceGetMigMode 0 0\n" +                                                                 //
         d + "DeviceGetMaxMigDeviceCount 7\n" +                                                         //
         d + "DeviceGetComputeMode 0\n" +                                                               //
         d + "DeviceGetPersistenceMode 1\n" +                                                           //
         d + "DeviceGetVirtualizationMode 1\n" +                                                        //
         d + "DeviceGetGpuFabricInfoV 3 0\n" +                                                          //
         d + "DeviceGetComputeRunningProcesses_v3 24\n" +                                               //
         d + "DeviceGetGraphicsRunningProcesses_v3 24\n" +                                              //
         d + "EventSetWait_v2\n";
}

inline std::string machine(int devices = 1) {
  return "- nvmlDeviceGetCount_v2 " + std::to_string(devices) +
         "\n- nvmlSystemGetDriverVersion 550.54.15\n- nvmlSystemGetNVMLVersion 12.550.54.15\n"
         "- nvmlSystemGetCudaDriverVersion_v2 12040\n- nvmlSystemGetConfComputeState 0 0 0\n";
}

class FakeManagement : public testing::Test {
 protected:
  FakeManagement() {
    setenv("ASSAY_NVML", ASSAY_FAKE_NVML, 1);
    setenv("FAKE_NVML", (folder_.path() / "script").c_str(), 1);
    unsetenv("CUDA_VISIBLE_DEVICES");
    unsetenv("CUDA_DEVICE_ORDER");
    library_ = dlopen(ASSAY_FAKE_NVML, RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(library_, nullptr) << dlerror();
  }
  ~FakeManagement() override { dlclose(library_); }

  void script(const std::string& lines) { folder_.file("script", lines); }

  // The card of a machine of one, with lines added.
  std::unique_ptr<nvml::Device> card(const std::string& more = "") {
    script(machine() + healthy() + more);
    auto all = nvml::all_devices(nvml::Library::open().library);
    return all.empty() ? nullptr : std::move(all.front());
  }

  int asked(int device, const char* function) const {
    const auto count = reinterpret_cast<int (*)(int, const char*)>(dlsym(library_, "fake_asked"));
    return count(device, function);
  }

  assay::MachineRoot folder_;
  void* library_;
};

}  // namespace vendor
