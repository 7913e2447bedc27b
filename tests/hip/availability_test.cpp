// Why no AMD device can be used, for every way in which the runtime says so.
// SPDX-License-Identifier: Apache-2.0
#include "hip/availability.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vendor {
namespace {

using testing::HasSubstr;

RuntimeAnswer answer(int status) {
  RuntimeAnswer answer;
  answer.status = status;
  answer.text = "what the runtime says (hipErrorSomething)";
  return answer;
}

TEST(HipAvailability, DevicesThatWorkNeedNoReason) {
  RuntimeAnswer good = answer(0);
  good.devices = 16;  // eight MI250: each die is a device
  EXPECT_EQ(explain(good).devices, 16);
  EXPECT_EQ(explain(good).reason, "");
}

TEST(HipAvailability, WhatStandsInTheWayIsToldBeforeTheErrorNumber) {
  RuntimeAnswer none = answer(100);
  none.cards_known = true;
  none.problem = "this user may not open /dev/kfd";
  none.cure = "add the user to the groups render and video";
  EXPECT_EQ(explain(none).reason, none.problem);
  EXPECT_EQ(explain(none).cure, none.cure);
}

TEST(HipAvailability, AVariableThatHidesDevicesIsNamed) {
  RuntimeAnswer none = answer(100);
  none.hiding = "HIP_VISIBLE_DEVICES";
  none.visible = "9";
  EXPECT_THAT(explain(none).reason, HasSubstr("HIP_VISIBLE_DEVICES is set to \"9\""));
}

TEST(HipAvailability, OldRuntimesSayInvalidDeviceWhereThereIsNone) {
  EXPECT_EQ(explain(answer(101)).reason, explain(answer(100)).reason);
}

TEST(HipAvailability, AnErrorThatNobodyKnowsIsToldAsItIs) {
  EXPECT_THAT(explain(answer(777)).reason, HasSubstr("error 777: what the runtime says"));
}

}  // namespace
}  // namespace vendor
