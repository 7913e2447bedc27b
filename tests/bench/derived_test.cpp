// Ratios of rows, worked by hand, and what must not become one.
// SPDX-License-Identifier: Apache-2.0
#include "bench/derived.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace assay {
namespace {

DeviceInfo device(const std::string& id) {
  DeviceInfo info;
  info.id = id;
  info.backend = id.substr(0, id.find(':'));
  return info;
}

void set_fact(DeviceInfo& info, const std::string& name, double value) {
  Fact fact;
  fact.name = name;
  fact.value = value;
  info.facts.push_back(fact);
}

void set_text(DeviceInfo& info, const std::string& name, const std::string& text) {
  Fact fact;
  fact.name = name;
  fact.text = text;
  info.facts.push_back(fact);
}

// A rate with an interval of a tenth of it on either side.
Row rate(const std::string& name, double value, const std::string& metric = "flops_per_second") {
  Row row;
  row.case_name = name;
  row.family = name.substr(0, name.find('/'));
  row.device = "fake:0";
  row.backend = "fake";
  row.metric = metric;
  row.value = value;
  row.lower = 0.9 * value;
  row.upper = 1.1 * value;
  row.data = "typical";
  row.variant = "default";
  if (row.family == "gemm" || row.family == "issue") {
    const auto start = row.family.size() + 1;
    row.precision = name.substr(start, name.find('/', start) - start);
  }
  return row;
}

const Row* find(const std::vector<Row>& rows, const std::string& name) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.case_name == name; });
  return found == rows.end() ? nullptr : &*found;
}

std::vector<Row> derive(const std::vector<Row>& rows) { return derived_rows(rows, {device("fake:0")}); }

// 6e14 of 8e14 is 0.75; the ends are 0.9 * 6 / (1.1 * 8) and 1.1 * 6 / (0.9 * 8).
TEST(Derived, SharesTheIssueRateWithTheBestProductOfAFormat) {
  const auto rows = derive({rate("gemm/bf16/square/2048", 5e14), rate("gemm/bf16/square/8192/best", 6e14),
                            rate("issue/bf16/matrix/all", 8e14), rate("issue/bf16/vector/all", 1e14),
                            rate("gemm/fp16/square/8192", 7e14)});
  const Row* row = find(rows, "derived/issue_utilisation/bf16");
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->family, "derived");
  EXPECT_EQ(row->device, "fake:0");
  EXPECT_EQ(row->metric, "issue_utilisation");
  EXPECT_EQ(row->unit, "1");
  EXPECT_EQ(row->precision, "bf16");
  EXPECT_EQ(row->op, "");
  EXPECT_EQ(row->method, "gemm/bf16/square/8192/best over issue/bf16/matrix/all");
  EXPECT_EQ(row->status, Status::ok);
  EXPECT_DOUBLE_EQ(row->value.value(), 0.75);
  EXPECT_DOUBLE_EQ(row->lower.value(), 5.4 / 8.8);
  EXPECT_DOUBLE_EQ(row->upper.value(), 6.6 / 7.2);
  EXPECT_EQ(find(rows, "derived/issue_utilisation/fp16"), nullptr) << "the issue rate of fp16 is missing";
}

TEST(Derived, MistrustsAShareOfMoreThanTheWhole) {
  // 1.02 of the limit may be noise, 1.03 may not.
  const auto share = [](double product) {
    return *find(derive({rate("gemm/bf16/square/8192", product), rate("issue/bf16/matrix/all", 100)}),
                 "derived/issue_utilisation/bf16");
  };
  EXPECT_EQ(share(101.9).status, Status::ok);
  EXPECT_EQ(share(103).status, Status::mistrusted);
  EXPECT_THAT(share(103).reason, ::testing::HasSubstr("1.03 times the rate"));
}

TEST(Derived, MakesNothingOfRowsThatAreNotToBeBelieved) {
  const Row issue = rate("issue/bf16/matrix/all", 100);
  for (const Status status : {Status::mistrusted, Status::failed, Status::skipped}) {
    Row product = rate("gemm/bf16/square/8192", 50);
    product.status = status;
    EXPECT_TRUE(derive({product, issue}).empty()) << text(status);
  }
  Row planted = rate("gemm/bf16/square/8192", 50);
  planted.conditions = "few_samples,planted";
  EXPECT_TRUE(derive({planted, issue}).empty());
  Row empty = rate("gemm/bf16/square/8192", 50);
  empty.value.reset();
  EXPECT_TRUE(derive({empty, issue}).empty());
}

TEST(Derived, LeavesTameDataAndLongLoadsOutOfTheBestProduct) {
  Row constant = rate("gemm/bf16/square/8192/constant_data", 90);
  constant.data = "constant";
  Row sustained = rate("gemm/bf16/square/8192/sustained", 80);
  sustained.phase = "sustained";
  const auto rows =
      derive({rate("gemm/bf16/square/8192", 60), constant, sustained, rate("issue/bf16/matrix/all", 100)});
  EXPECT_DOUBLE_EQ(find(rows, "derived/issue_utilisation/bf16")->value.value(), 0.6);
  // 90 / 60 and 80 / 60.
  EXPECT_DOUBLE_EQ(find(rows, "derived/constant_over_typical/bf16/square/8192")->value.value(), 1.5);
  EXPECT_DOUBLE_EQ(find(rows, "derived/sustained_over_burst/bf16/square/8192")->value.value(), 80.0 / 60);
}

TEST(Derived, TakesTheSourcesConditionsOnceEach) {
  Row product = rate("gemm/bf16/square/8192", 60);
  product.conditions = "few_samples,other_load";
  Row issue = rate("issue/bf16/matrix/all", 100);
  issue.conditions = "other_load,power_capped";
  EXPECT_EQ(derive({product, issue}).front().conditions, "few_samples,other_load,power_capped");
}

TEST(Derived, HasNoIntervalWhereASourceHasNone) {
  Row product = rate("gemm/bf16/square/8192", 60);
  product.lower.reset();
  const Row row = derive({product, rate("issue/bf16/matrix/all", 100)}).front();
  EXPECT_DOUBLE_EQ(row.value.value(), 0.6);
  EXPECT_FALSE(row.lower.has_value());
  EXPECT_FALSE(row.upper.has_value());
}

// PCI Express 4.0 with 16 lanes: 16e9 / 8 * 16 * 128 / 130 = 31.508 GB/s; 3.0 with 8: 8e9 / 8 * 8 * 128 / 130 = 7.877;
// 2.0 with 16: 5e9 / 8 * 16 * 8 / 10 = 8 GB/s.
TEST(Derived, KnowsWhatALinkCarries) {
  EXPECT_NEAR(pcie_bytes_per_second(4, 16).value(), 31.508e9, 1e6);
  EXPECT_NEAR(pcie_bytes_per_second(3, 8).value(), 7.877e9, 1e6);
  EXPECT_DOUBLE_EQ(pcie_bytes_per_second(2, 16).value(), 8e9);
  EXPECT_FALSE(pcie_bytes_per_second(9, 16).has_value());
  EXPECT_FALSE(pcie_bytes_per_second(4, 0).has_value());
}

TEST(Derived, SharesTheLinkWithTheFastestCopyOfEachWay) {
  DeviceInfo info = device("fake:0");
  set_fact(info, "pcie_generation_most", 2);
  set_fact(info, "pcie_width", 16);  // 8 GB/s
  set_fact(info, "nvlink_active", 4);
  set_fact(info, "nvlink_link_bytes_per_second", 25e9);  // 100 GB/s
  set_text(info, "peer_devices", "1,2");
  const std::string metric = "bytes_per_second";
  const auto rows = derived_rows({rate("transfer/host_to_device/pinned/1MiB", 2e9, metric),
                                  rate("transfer/host_to_device/pinned/256MiB", 6e9, metric),
                                  rate("transfer/both_ways/pinned/256MiB", 12e9, metric),
                                  rate("transfer/to_device_2/engine/256MiB", 90e9, metric)},
                                 {info});
  EXPECT_DOUBLE_EQ(find(rows, "derived/link_utilisation/host_to_device/pinned")->value.value(), 0.75);
  EXPECT_DOUBLE_EQ(find(rows, "derived/link_utilisation/host_to_device/pinned")->lower.value(), 0.9 * 0.75);
  EXPECT_DOUBLE_EQ(find(rows, "derived/link_utilisation/both_ways/pinned")->value.value(), 0.75);  // of twice 8
  EXPECT_DOUBLE_EQ(find(rows, "derived/link_utilisation/to_device_2")->value.value(), 0.9);
  EXPECT_EQ(find(rows, "derived/link_utilisation/to_device_1"), nullptr);
  EXPECT_TRUE(derive({rate("transfer/host_to_device/pinned/256MiB", 6e9, metric)}).empty()) << "the link is not known";
}

TEST(Derived, SharesTheMemorysPeakOnlyWhereTheDeviceSaysIt) {
  Row triad = rate("memory/triad/plain/dram", 3e12, "bytes_per_second");
  triad.op = "stream kind=triad count=1 format=fp64";
  Row cached = rate("memory/read/plain/64MiB", 9e12, "bytes_per_second");
  cached.op = "stream kind=read count=1 format=fp64";
  EXPECT_TRUE(derive({triad, cached}).empty());
  DeviceInfo info = device("fake:0");
  set_fact(info, "memory_peak_bytes_per_second", 4e12);
  const auto rows = derived_rows({triad, cached}, {info});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_DOUBLE_EQ(rows.front().value.value(), 0.75);
}

// Eight lanes together do 3.2 times what one does. The copy takes 3 s, the product 4 s, both 5 s: of the 3 s of the
// copy 4 + 3 - 5 = 2 s are hidden.
TEST(Derived, ComparesLanesWithOneAndACopyBesideAProductWithBothAlone) {
  const auto rows = derive({rate("concurrency/gemm/1", 100), rate("concurrency/gemm/8", 320),
                            rate("concurrency/copy_beside_gemm/both", 5, "seconds"),
                            rate("concurrency/copy_beside_gemm/gemm_alone", 4, "seconds"),
                            rate("concurrency/copy_beside_gemm/copy_alone", 3, "seconds")});
  EXPECT_DOUBLE_EQ(find(rows, "derived/concurrency_gain/gemm/8")->value.value(), 3.2);
  EXPECT_EQ(find(rows, "derived/concurrency_gain/gemm/4"), nullptr);
  const Row* hidden = find(rows, "derived/hidden_share/copy_beside_gemm");
  ASSERT_NE(hidden, nullptr);
  EXPECT_DOUBLE_EQ(hidden->value.value(), 2.0 / 3);
  EXPECT_NEAR(hidden->lower.value(), (3.6 + 2.7 - 5.5) / 3, 1e-12);
  EXPECT_NEAR(hidden->upper.value(), (4.4 + 3.3 - 4.5) / 3, 1e-12);
}

TEST(Derived, SaysNothingOfACopyThatIsLostBesideTheProduct) {
  EXPECT_TRUE(derive({rate("concurrency/copy_beside_gemm/both", 100, "seconds"),
                      rate("concurrency/copy_beside_gemm/gemm_alone", 98, "seconds"),
                      rate("concurrency/copy_beside_gemm/copy_alone", 9, "seconds")})
                  .empty());
}

TEST(Derived, ComparesSumsInHalfTheWidthOnTheLargestSizeThatBothHave) {
  Row small = rate("gemm/fp16_fp16_sums/square/2048", 120);
  small.flops = 1.7e10;
  Row large = rate("gemm/fp16_fp16_sums/square/8192", 160);
  large.flops = 1.1e12;
  const auto rows = derive({small, large, rate("gemm/fp16/square/2048", 100), rate("gemm/fp16/square/8192", 80)});
  EXPECT_DOUBLE_EQ(find(rows, "derived/fp16_sums_over_fp32_sums")->value.value(), 2);
}

TEST(Derived, SaysWhatTheWorstNumberOfRowsCosts) {
  const auto rows = derive({rate("gemm/bf16/steps/1024x4096x4096", 80), rate("gemm/bf16/steps/1152x4096x4096", 60),
                            rate("gemm/bf16/steps/1280x4096x4096", 75)});
  EXPECT_DOUBLE_EQ(find(rows, "derived/lowest_over_highest/gemm/steps")->value.value(), 0.75);
}

TEST(Derived, ComparesWithTheProcessorWhereBothWereMeasured) {
  Row of_host = rate("gemm/bf16/square/2048", 2e12);
  of_host.device = "cpu:0";
  const auto rows = derived_rows({of_host, rate("gemm/bf16/square/8192", 6e14)}, {device("cpu:0"), device("fake:0")});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows.front().case_name, "derived/over_processor/gemm/bf16");
  EXPECT_EQ(rows.front().device, "fake:0");
  EXPECT_DOUBLE_EQ(rows.front().value.value(), 300);
  EXPECT_EQ(rows.front().method, "gemm/bf16/square/8192 over gemm/bf16/square/2048 of cpu:0");
}

TEST(Derived, KeepsRepetitionsAndDevicesApart) {
  Row other = rate("issue/bf16/matrix/all", 100);
  other.repetition = 1;
  Row elsewhere = rate("issue/bf16/matrix/all", 100);
  elsewhere.device = "fake:1";
  EXPECT_TRUE(derived_rows({rate("gemm/bf16/square/8192", 50), other, elsewhere}, {device("fake:0"), device("fake:1")})
                  .empty());
}

TEST(Derived, IsWrittenAgainOnlyWhereItChanged) {
  const auto first = derive({rate("gemm/bf16/square/8192", 50), rate("issue/bf16/matrix/all", 100)});
  EXPECT_TRUE(not_yet_written(first, first).empty());
  const auto second = derive({rate("gemm/bf16/square/8192", 60), rate("issue/bf16/matrix/all", 100)});
  EXPECT_EQ(not_yet_written(second, first).size(), 1U);
}

TEST(Derived, IsDescribedOnThePageOfRuns) {
  std::ifstream file(std::filesystem::path(ASSAY_SOURCE_DIR) / "results/README.md");
  const std::string page((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  for (const char* metric :
       {"issue_utilisation", "memory_utilisation", "link_utilisation", "concurrency_gain", "hidden_share",
        "fp16_sums_over_fp32_sums", "constant_over_typical", "integer_over_typical", "zero_over_typical",
        "sustained_over_burst", "cold_over_hot", "best_over_default", "lowest_over_highest", "over_processor"}) {
    EXPECT_THAT(page, ::testing::HasSubstr("`" + std::string(metric) + "`"));
  }
}

}  // namespace
}  // namespace assay
