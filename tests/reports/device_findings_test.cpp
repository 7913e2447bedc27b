// What the device said of itself becomes a sentence where it stands against the device, and only there.
// SPDX-License-Identifier: Apache-2.0
#include "reports/device_findings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Fact number(const std::string& name, double value, const std::string& reason) {
  return {name, value, "", "", reason, "NVML"};
}
Fact words(const std::string& name, const std::string& text, const std::string& reason) {
  return {name, std::nullopt, "", text, reason, "NVML"};
}

assay::Run run_with(const std::string& device, const std::string& name, const std::string& conditions) {
  assay::Run run;
  Row row;
  row.device = device;
  row.case_name = name;
  row.conditions = conditions;
  run.rows = {row};
  return run;
}

TEST(DeviceFindings, SayNothingOfAHealthyCard) {
  DeviceInfo device;
  device.facts = {words("mig", "off", ""),
                  words("row_remap_failed", "no", ""),
                  number("pcie_width", 16, ""),
                  number("ecc_uncorrected_since_boot", 0, ""),
                  number("numa_node", 1, "the host memory nearest to the card"),
                  words("virtualisation", "none", ""),
                  words("fabric", "registered", "")};
  EXPECT_THAT(device_findings(device), IsEmpty());
}

TEST(DeviceFindings, NameWhatStandsAgainstTheCardWithItsReasonAndSource) {
  DeviceInfo device;
  device.facts = {number("pcie_width", 8, "fewer lanes than the 16 of card and slot"),
                  words("row_remap_failed", "yes", "the card has no spare rows left: it is to be replaced")};
  const auto findings = device_findings(device);
  ASSERT_THAT(findings, SizeIs(2));
  EXPECT_EQ(findings[0].severity, Severity::problem);
  EXPECT_THAT(findings[0].sentence, HasSubstr("no spare rows left"));
  EXPECT_EQ(findings[1].severity, Severity::warning);
  EXPECT_EQ(findings[1].sentence, "The card's slot is narrow: fewer lanes than the 16 of card and slot.");
  EXPECT_EQ(findings[1].evidence, "pcie_width 8, by NVML");
}

TEST(DeviceFindings, TellASliceWithoutHoldingItAgainstTheDevice) {
  DeviceInfo device;
  device.facts = {
      words("mig", "a slice of a partitioned card", "it is judged as what it is: the card's own figures do not apply")};
  const auto findings = device_findings(device);
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].severity, Severity::info);
}

TEST(ConditionFindings, CountCasesOfThisDeviceByFlag) {
  DeviceInfo device;
  device.id = "cuda:0";
  const std::vector<assay::Run> runs = {run_with("cuda:0", "gemm/a", "few_samples,xid_79"),
                                        run_with("cuda:0", "gemm/b", "xid_48"), run_with("cuda:1", "gemm/c", "xid_79"),
                                        run_with("cuda:0", "gemm/d", "thermal_throttle")};
  const auto findings = condition_findings(runs, device);
  ASSERT_THAT(findings, SizeIs(2));
  EXPECT_EQ(findings[0].severity, Severity::problem);
  EXPECT_THAT(findings[0].sentence, HasSubstr("2 cases met an error"));
  EXPECT_EQ(findings[0].evidence, "gemm/a, gemm/b");
  EXPECT_EQ(findings[1].sentence, "1 case ran on a card too hot for its full clock.");
}

TEST(ConditionFindings, SayNothingOfFlagsThatAreOnlyAboutSampling) {
  DeviceInfo device;
  device.id = "cpu:0";
  EXPECT_THAT(condition_findings({run_with("cpu:0", "gemm/a", "few_samples,not_steady")}, device), IsEmpty());
}

}  // namespace
}  // namespace assay
