// Why no NVIDIA device can be used, for every way in which a driver says so.
// SPDX-License-Identifier: Apache-2.0
#include "cuda/availability.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vendor {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// A driver of CUDA 13.0 that answers with this error number.
DriverAnswer answer(int status) {
  DriverAnswer answer;
  answer.driver_version = 13000;
  answer.runtime_version = 13000;
  answer.status = status;
  answer.text = "what the driver says (cudaErrorSomething)";
  return answer;
}

TEST(Availability, DevicesThatWorkNeedNoReason) {
  DriverAnswer good = answer(0);
  good.devices = 8;
  EXPECT_EQ(explain(good).devices, 8);
  EXPECT_EQ(explain(good).reason, "");
}

TEST(Availability, NoDriverIsToldFromAnOldOne) {
  // Without any driver the version is 0, and the runtime calls it insufficient: 35.
  DriverAnswer none = answer(35);
  none.driver_version = 0;
  EXPECT_THAT(explain(none).reason, HasSubstr("libcuda.so.1 was not found"));
  EXPECT_THAT(explain(none).cure, HasSubstr("--gpus all"));
  DriverAnswer old = answer(35);
  old.driver_version = 12020;
  EXPECT_THAT(explain(old).reason, HasSubstr("supports CUDA up to 12.2"));
  EXPECT_THAT(explain(old).reason, HasSubstr("needs 13.0"));
  EXPECT_THAT(explain(old).cure, HasSubstr("version 12.2 or older"));
}

TEST(Availability, NoDeviceSaysWhatMayHideIt) {
  EXPECT_THAT(explain(answer(100)).reason, HasSubstr("sees no device"));
  DriverAnswer hidden = answer(100);
  hidden.hidden = true;
  hidden.visible_devices = "7";
  EXPECT_THAT(explain(hidden).reason, HasSubstr("CUDA_VISIBLE_DEVICES is set to \"7\""));
  EXPECT_THAT(explain(hidden).cure, HasSubstr("unset CUDA_VISIBLE_DEVICES"));
  DriverAnswer broken = answer(100);
  broken.cards_known = true;
  EXPECT_THAT(explain(broken).cure, HasSubstr("dmesg"));
  DriverAnswer uncut = broken;
  uncut.partitioned = true;
  EXPECT_THAT(explain(uncut).cure, HasSubstr("nvidia-smi mig -cgi"));
  DriverAnswer silent = answer(0);  // no error, and no device
  EXPECT_THAT(explain(silent).reason, HasSubstr("sees no device"));
}

TEST(Availability, NamesTheFabricManager) {
  EXPECT_THAT(explain(answer(802)).reason, HasSubstr("fabric manager is not running"));
  EXPECT_THAT(explain(answer(802)).cure, HasSubstr("nvidia-fabricmanager"));
}

TEST(Availability, NamesLibraryAndModuleOfDifferentVersions) {
  EXPECT_THAT(explain(answer(803)).reason, HasSubstr("different versions"));
  EXPECT_THAT(explain(answer(803)).cure, HasSubstr("reboot"));
}

TEST(Availability, NamesProhibitedAndExclusiveDevices) {
  DriverAnswer prohibited = answer(0);
  prohibited.devices = 2;
  prohibited.all_prohibited = true;
  EXPECT_EQ(explain(prohibited).devices, 0);
  EXPECT_THAT(explain(prohibited).cure, HasSubstr("nvidia-smi -c DEFAULT"));
  EXPECT_THAT(explain(answer(46)).reason, HasSubstr("hold it exclusively"));
}

TEST(Availability, NamesAStubInPlaceOfTheDriver) { EXPECT_THAT(explain(answer(34)).reason, HasSubstr("stub")); }

TEST(Availability, EveryErrorHasAReasonAndACure) {
  for (int status = 1; status < 1000; ++status) {
    const Availability found = explain(answer(status));
    EXPECT_EQ(found.devices, 0) << status;
    EXPECT_THAT(found.reason, Not(IsEmpty())) << status;
    EXPECT_THAT(found.cure, Not(IsEmpty())) << status;
  }
  EXPECT_THAT(explain(answer(999)).reason, HasSubstr("what the driver says"));
  EXPECT_THAT(explain(answer(777)).reason, HasSubstr("error 777: what the driver says"));
}

}  // namespace
}  // namespace vendor
