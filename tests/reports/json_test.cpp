// Tests of the JSON rendering; its schema is tested by the browser tests.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "reports/render.h"
#include "tests/reports/sample.h"

namespace assay {
namespace {

using nlohmann::json;

TEST(Json, GivesEveryNumberWithItsUnitIntervalAndLook) {
  const json report = json::parse(render_json(sample_report()));
  EXPECT_EQ(report["format"], "assay report");
  EXPECT_EQ(report["schema"], 1);
  EXPECT_EQ(report["verdict"]["answer"], "tight");
  const json rate{{"value", 2.17},
                  {"unit", "tokens_per_second"},
                  {"lower", 1.98},
                  {"upper", 2.31},
                  {"shown", "2.17 tokens/s (1.98 to 2.31)"},
                  {"reason", ""}};
  EXPECT_EQ(report["headline"][2], json({{"name", "Tokens a second"}, {"quantity", rate}}));
  const json power{{"value", nullptr}, {"unit", "none"},     {"lower", nullptr},
                   {"upper", nullptr}, {"shown", "unknown"}, {"reason", "this machine shows no power meter"}};
  EXPECT_EQ(report["headline"][5]["quantity"], power);
  EXPECT_EQ(report["sections"][0]["tables"][0]["rows"][0][1]["value"], 16060522496.0);
  EXPECT_EQ(report["sections"][0]["tables"][1]["rows"][1][4], "does not fit");
}

TEST(Json, KnowsNeitherNanNorInfinity) {
  Report report;
  report.headline = {{"a", known(std::numeric_limits<double>::quiet_NaN(), ReportUnit::bytes)},
                     {"b", between(1, -std::numeric_limits<double>::infinity(), 2, ReportUnit::bytes)}};
  const json parsed = json::parse(render_json(report));
  EXPECT_TRUE(parsed["headline"][0]["quantity"]["value"].is_null());
  EXPECT_EQ(parsed["headline"][0]["quantity"]["reason"], "not a finite number");
  EXPECT_TRUE(parsed["headline"][1]["quantity"]["lower"].is_null());
  EXPECT_TRUE(parsed["verdict"].is_null());
}

TEST(Json, IsPlainAsciiAndKeepsOutsideStringsAsTheyWere) {
  const std::string text = render_json(hostile_report());
  for (const unsigned char byte : text) ASSERT_TRUE(byte == '\n' || (byte >= 0x20 && byte < 0x7F));
  const std::string title = json::parse(text)["title"];
  EXPECT_THAT(title,
              ::testing::StartsWith("<script>alert('x')</script> \"quoted\" & | `code` </script><!-- \x1b[31mred"));
}

}  // namespace
}  // namespace assay
