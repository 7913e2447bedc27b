// What a report shows of an accelerator's run, over a made-up pair of cards.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "reports/judge.h"
#include "reports/run_sections.h"
#include "tests/reports/made_up_run.h"

namespace assay {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::UnorderedElementsAre;

// Rows of the first of two cards.
class Cards {
 public:
  Cards() {
    run_.path = "some/run";
    run_.info.id = "made-up";
    run_.info.ending = Ending::complete;
    for (const char* id : {"cuda:0", "cuda:1"}) {
      DeviceInfo device;
      device.id = id;
      device.backend = "cuda";
      device.name = "Made-up Card";
      run_.info.devices.push_back(device);
    }
  }

  Row& timed(const std::string& name, const Op& op, double seconds) {
    Row row = made_up_row(name, op, seconds);
    row.device = "cuda:0";
    row.backend = "cuda";
    run_.rows.push_back(row);
    return run_.rows.back();
  }

  Row& number(const std::string& device, const std::string& name, const std::string& family, const std::string& metric,
              double value) {
    Row row;
    row.case_name = name;
    row.family = family;
    row.device = device;
    row.backend = "cuda";
    row.metric = metric;
    row.value = value;
    run_.rows.push_back(row);
    return run_.rows.back();
  }

  // The table `id` among all that is measured; fails the test where there is none.
  Table table(const std::string& id) const {
    for (const Section& section : sections())
      for (const Table& one : section.tables)
        if (one.id == id) return one;
    ADD_FAILURE() << "no table " << id;
    return {};
  }
  Chart chart(const std::string& id) const {
    for (const Section& section : sections())
      for (const Chart& one : section.charts)
        if (one.id == id) return one;
    ADD_FAILURE() << "no chart " << id;
    return {};
  }
  std::vector<Section> sections() const {
    const std::vector<assay::Run> runs{run_};
    return measured_sections(runs, run_.info.devices.front(), Rates(runs, "cuda:0"));
  }
  std::vector<std::string> section_ids() const {
    std::vector<std::string> ids;
    for (const Section& section : sections()) ids.push_back(section.id);
    return ids;
  }
  assay::Run& run() { return run_; }

 private:
  assay::Run run_;
};

std::string words(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* quantity = std::get_if<Quantity>(&cell)) return show(*quantity);
  return text(std::get<Answer>(cell));
}

std::vector<std::string> row_words(const std::vector<Cell>& row) {
  std::vector<std::string> all;
  for (const Cell& cell : row) all.push_back(words(cell));
  return all;
}

Transfer copy(std::int64_t bytes, Place from, Place to, bool both_ways = false) {
  Transfer transfer;
  transfer.bytes = bytes;
  transfer.from = from;
  transfer.to = to;
  transfer.both_ways = both_ways;
  return transfer;
}

constexpr Place card{PlaceKind::device, -1};
constexpr Place pinned{PlaceKind::host_pinned, -1};

TEST(MeasuredSections, LeaveOutWhatTheRunHasNothingOf) {
  EXPECT_THAT(Cards().section_ids(), ElementsAre("products", "bandwidth"));
}

TEST(MeasuredSections, ShowSharesOfLimitsInPercentAndRatiosAsTimes) {
  Cards cards;
  Row& share = cards.number("cuda:0", "derived/issue_utilisation/bf16", "derived", "issue_utilisation", 0.74);
  share.lower = 0.73;
  share.upper = 0.75;
  share.method = "gemm/bf16/square/8192 over issue/bf16/matrix/all";
  cards.number("cuda:0", "derived/concurrency_gain/gemm/4", "derived", "concurrency_gain", 2.5);
  cards.number("cuda:1", "derived/issue_utilisation/bf16", "derived", "issue_utilisation", 0.5);

  const Table shares = cards.table("shares");
  ASSERT_EQ(shares.rows.size(), 1U);  // the other card's is not shown
  const auto first = row_words(shares.rows[0]);
  EXPECT_EQ(first[0], "bf16");
  EXPECT_THAT(first[1], HasSubstr("74 %"));
  EXPECT_THAT(first[2], HasSubstr("rate at which the units take instructions"));
  EXPECT_EQ(first[3], "gemm/bf16/square/8192 over issue/bf16/matrix/all");
  const Table ratios = cards.table("ratios");
  ASSERT_EQ(ratios.rows.size(), 1U);
  EXPECT_EQ(row_words(ratios.rows[0])[0], "gemm/4");
  EXPECT_THAT(row_words(ratios.rows[0])[1], HasSubstr("2.5"));
}

TEST(MeasuredSections, SayThatAShareIsMistrustedInsteadOfShowingIt) {
  Cards cards;
  cards.number("cuda:0", "derived/memory_utilisation", "derived", "memory_utilisation", 1.4).status =
      Status::mistrusted;
  EXPECT_EQ(row_words(cards.table("shares").rows.at(0))[1], "mistrusted");
}

// 256 MiB in 5 ms are 53.7 GB/s; both ways at once they are twice that.
TEST(MeasuredSections, CountBothDirectionsOfACopyThatGoesBothWays) {
  Cards cards;
  constexpr std::int64_t bytes = 256 << 20;
  cards.timed("transfer/host_to_device/pinned/256MiB", copy(bytes, pinned, card), 0.005);
  cards.timed("transfer/host_to_device/pinned/4KiB", copy(4096, pinned, card), 2e-6);
  cards.timed("transfer/both_ways/pinned/256MiB", copy(bytes, pinned, card, true), 0.005);

  const Table best = cards.table("transfers");
  ASSERT_EQ(best.rows.size(), 2U);
  EXPECT_THAT(row_words(best.rows[0]),
              ElementsAre("both ways, pinned", HasSubstr("107"), "256.0 MiB", "256.0 MiB", HasSubstr("5")));
  EXPECT_THAT(row_words(best.rows[1]),
              ElementsAre("host to device, pinned", HasSubstr("53.7"), "256.0 MiB", "4.00 KiB", HasSubstr("2")));
  const Chart chart = cards.chart("transfers");
  ASSERT_EQ(chart.series.size(), 1U);  // a way with one size is no line
  EXPECT_EQ(chart.series[0].name, "host to device, pinned");
  EXPECT_THAT(chart.series[0].x, ElementsAre(4096, 268435456));
}

TEST(MeasuredSections, SetAllPairsOfDevicesIntoAMatrixWithWhatFailed) {
  Cards cards;
  cards.number("cuda:0", "transfer/to_device_1/engine/256MiB", "transfer", "bytes_per_second", 370e9);
  cards.number("cuda:0", "transfer/to_device_1/engine/64KiB", "transfer", "bytes_per_second", 9e9);
  Row& failed = cards.number("cuda:1", "transfer/to_device_0/engine/256MiB", "transfer", "", 0);
  failed.value.reset();
  failed.status = Status::failed;

  const Table matrix = cards.table("peers_engine");
  EXPECT_THAT(matrix.columns, ElementsAre("From", "to cuda:0", "to cuda:1"));
  ASSERT_EQ(matrix.rows.size(), 2U);
  EXPECT_THAT(row_words(matrix.rows[0]), ElementsAre("cuda:0", "-", HasSubstr("370")));
  EXPECT_THAT(row_words(matrix.rows[1]), ElementsAre("cuda:1", "failed", "-"));
}

TEST(MeasuredSections, GiveTheTimeOfOneLaunchOfMany) {
  Cards cards;
  cards.timed("launch/graph", Launch{LaunchKind::graph, 100, 0}, 130e-6);
  cards.timed("launch/kernel_and_wait", Launch{LaunchKind::kernel, 1, 0}, 8e-6);
  const Table table = cards.table("overheads");
  ASSERT_EQ(table.rows.size(), 2U);
  std::vector<std::vector<std::string>> rows;
  for (const auto& row : table.rows) rows.push_back(row_words(row));
  EXPECT_THAT(rows, UnorderedElementsAre(
                        ElementsAre("a kernel, in a graph of 100", HasSubstr("1.3"), "launch/graph"),
                        ElementsAre("one launch and the wait for it", HasSubstr("8"), "launch/kernel_and_wait")));
}

TEST(MeasuredSections, TellWhichPrecisionMultiplied) {
  Cards cards;
  for (const std::int64_t size : {1024, 2048}) {
    Row& row =
        cards.timed("gemm/fp32/square/" + std::to_string(size), made_up_gemm(size, size, size, Element::fp32), 1e-3);
    row.precision = "fp32";
    row.executed = "tf32";
    row.accumulated = "fp32";
    row.precision_proof = "probe: tf32 within 0.5 roundoff";
    row.method = "cublaslt 13.1 algorithm 66 of size " + std::to_string(size);
  }
  const Table table = cards.table("precision");
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_THAT(row_words(table.rows[0]),
              ElementsAre("fp32", "tf32", "fp32", "probe: tf32 within 0.5 roundoff", "cublaslt 13.1", "2"));
}

TEST(MeasuredSections, ShowWhatTheCardWasLikeWhileItWorked) {
  Cards cards;
  Row& cool = cards.timed("gemm/bf16/square/512", made_up_gemm(512, 512, 512), 1e-3);
  cool.clock_hertz = 1.98e9;
  cool.power_watts = 240;
  cool.throttle = "none";
  Row& hot = cards.timed("gemm/bf16/square/8192", made_up_gemm(8192, 8192, 8192), 1e-3);
  hot.clock_hertz = 1.41e9;
  hot.power_watts = 699;
  hot.throttle = "power";
  const Table table = cards.table("state");
  ASSERT_EQ(table.rows.size(), 3U);
  EXPECT_THAT(row_words(table.rows[0]), ElementsAre("clock", "1.41 GHz", "1.98 GHz", "of the cores"));
  EXPECT_THAT(row_words(table.rows[1]), ElementsAre("power", "240", "699", "watts"));
  EXPECT_THAT(row_words(table.rows[2]), ElementsAre("held back: power", "", "1", "cases"));
}

TEST(MeasuredSections, AreInTheReportWithAndWithoutAModel) {
  Cards cards;
  cards.timed("launch/kernel", Launch{LaunchKind::kernel, 100, 0}, 130e-6);
  const auto ids = [](const Report& report) {
    std::vector<std::string> all;
    for (const Section& section : report.sections) all.push_back(section.id);
    return all;
  };
  EXPECT_THAT(ids(overview({cards.run()}, "cuda:0")), Contains("overheads"));
  EXPECT_THAT(ids(judge({cards.run()}, find_model("gpt2"), default_workload(Purpose::inference), "cuda:0")),
              Contains("overheads"));
  EXPECT_THAT(ids(overview({cards.run()}, "cuda:1")), Not(Contains("overheads")));
}

}  // namespace
}  // namespace assay
