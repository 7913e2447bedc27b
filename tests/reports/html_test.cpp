// Tests of the HTML rendering, as far as they need no browser.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <regex>

#include "reports/html/assets.h"
#include "reports/html/drawing.h"
#include "reports/render.h"
#include "tests/reports/sample.h"

namespace assay {
namespace {

using nlohmann::json;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

// The page without the parts that no outside string can reach.
std::string without_assets(std::string page) {
  for (const std::string_view asset : {page_assets().script, page_assets().style}) {
    const std::size_t at = asset.empty() ? std::string::npos : page.find(asset);
    if (at != std::string::npos) page.erase(at, asset.size());
  }
  return page;
}

TEST(Html, HasTheVerdictAsWordAndSign) {
  const std::string page = render_html(sample_report());
  EXPECT_THAT(page, HasSubstr(R"(<span class="sign" aria-hidden="true">~</span> <span class="word">tight</span>)"));
  EXPECT_THAT(page,
              HasSubstr(R"(<span class="value">2.17 tokens/s</span> <span class="interval">(1.98 to 2.31)</span>)"));
  EXPECT_THAT(page, HasSubstr("<title>Llama-3-8B on 2 cores"));
}

TEST(Html, ReachesForNothingOutsideItself) {
  const std::string page = without_assets(render_html(sample_report()));
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_FALSE(std::regex_search(page, std::regex("<(link|img|iframe|object|embed|base)[ >]|\\ssrc=|@import|url\\(")));
  EXPECT_FALSE(std::regex_search(page, std::regex("href=\"[^#]")));
}

TEST(Html, EscapesEveryOutsideString) {
  const std::string page = without_assets(render_html(hostile_report()));
  const std::size_t scripts = page_assets().script.empty() ? 0 : 2;
  EXPECT_EQ(count(page, "<script"), scripts);
  EXPECT_EQ(count(page, "</script"), scripts);
  EXPECT_EQ(count(page, "<!--"), 0U);
  EXPECT_EQ(count(page, "alert('x')</"), 0U);
  for (const unsigned char byte : page) ASSERT_TRUE(byte == '\n' || (byte >= 0x20 && byte != 0x7F));
  EXPECT_THAT(page, Not(HasSubstr("\xE2\x80\xA8")));
  EXPECT_THAT(page, Not(HasSubstr("\xE2\x80\xAE")));
}

TEST(Html, CarriesTheLicencesOfWhatItEmbeds) {
  const std::string page = render_html(sample_report());
  if (page_assets().script.empty()) {
    EXPECT_THAT(page, HasSubstr("came without the chart library"));
    EXPECT_EQ(count(page, R"(<details class="numbers" open>)"), 4U);
    return;
  }
  EXPECT_THAT(page, HasSubstr("The Apache Software Foundation"));
  EXPECT_THAT(page, HasSubstr("Baidu Inc."));  // ZRender's notice
  EXPECT_THAT(page, HasSubstr(std::string(page_assets().script_hash)));
}

TEST(Html, FoldsOnlyLongTables) {
  const std::string page = render_html(sample_report());
  EXPECT_EQ(count(page, R"(<details class="long">)"), 1U);
  EXPECT_THAT(page, HasSubstr("Show all 40 rows"));
}

TEST(Html, ShowsAnEmptyReport) {
  const std::string page = render_html(Report{});
  EXPECT_THAT(page, HasSubstr("</html>"));
  EXPECT_THAT(page, Not(HasSubstr("<section")));
}

TEST(Drawings, MakeLogarithmicAxesPlain) {
  Chart chart{
      .id = "c", .title = {}, .kind = ChartKind::line, .x = {}, .y = {}, .series = {}, .caption = {}, .limits = {}};
  chart.x = {.name = "working set", .unit = ReportUnit::bytes, .logarithmic = true, .labels = {}};
  chart.y = {.name = "rate", .unit = ReportUnit::bytes_per_second, .logarithmic = true, .labels = {}};
  chart.series = {{.name = "read", .x = {4096, 1048576, 0}, .y = {1e9, 1e11, 1e9}, .line = true}};
  const json drawn = json::parse(drawings({chart}))[0];
  // 4 KiB to 1 MiB is eight doublings: nine marks, so every second one is labelled.
  std::vector<std::string> labels;
  for (const json& tick : drawn["x"]["ticks"]) labels.push_back(tick["label"]);
  EXPECT_THAT(labels, ::testing::ElementsAre("4 KiB", "16 KiB", "64 KiB", "256 KiB", "1 MiB"));
  EXPECT_DOUBLE_EQ(drawn["x"]["minimum"], 0);
  EXPECT_DOUBLE_EQ(drawn["x"]["maximum"], std::log10(256));
  EXPECT_EQ(drawn["series"][0]["points"].size(), 2U) << "zero has no place on a logarithmic axis";
  EXPECT_EQ(drawn["series"][0]["points"][1]["y_label"], "100 GB/s");
  EXPECT_DOUBLE_EQ(drawn["series"][0]["points"][1]["y"], 2);  // 1e11 is two decades above 1e9
}

TEST(Drawings, StackUpToTheHighestStackAndTheLimit) {
  const json drawn = json::parse(drawings({sample_budget()}))[0];
  // The highest stack is 23.457 GiB, the limit 24 GiB with room for its label; ticks stand every 8 GiB.
  EXPECT_DOUBLE_EQ(drawn["y"]["maximum"], 32 * sample_gib);
  EXPECT_EQ(drawn["y"]["ticks"][1]["label"], "8 GiB");
  EXPECT_EQ(drawn["limits"][0]["label"], "capacity 24.00 GiB");
}

TEST(Drawings, SurviveNumbersThatCannotBeDrawn) {
  Chart chart = sample_bandwidth();
  chart.series = {
      {.name = "odd", .x = {std::nan(""), 1, 2}, .y = {1, std::numeric_limits<double>::infinity(), -1}, .line = true}};
  chart.limits.clear();
  EXPECT_EQ(json::parse(drawings({chart}))[0]["series"][0]["points"].size(), 0U);
  chart.series.clear();
  EXPECT_EQ(json::parse(drawings({chart})).size(), 1U);
}

TEST(Drawings, HoldNoCharacterThatCouldEndTheirElement) {
  const std::string block = drawings(hostile_report().sections[0].charts);
  EXPECT_THAT(block, Not(AnyOf(HasSubstr("<"), HasSubstr("\n"))));
  for (const unsigned char byte : block) ASSERT_TRUE(byte >= 0x20 && byte < 0x7F);
}

}  // namespace
}  // namespace assay
