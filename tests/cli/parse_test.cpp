// Words of the command line into values.
// SPDX-License-Identifier: Apache-2.0
#include "cli/parse.h"

#include <gtest/gtest.h>

#include "cli/terminal.h"

namespace assay {
namespace {

TEST(Parse, DurationsInSecondsMinutesAndHours) {
  EXPECT_EQ(parse_duration("90"), 90);
  EXPECT_EQ(parse_duration("90s"), 90);
  EXPECT_EQ(parse_duration("10m"), 600);
  EXPECT_EQ(parse_duration("1.5h"), 5400);
  for (const char* bad : {"", "m", "-5", "0", "10x", "10 m", "1e9", "inf", "nan", "0x10"}) {
    EXPECT_THROW(parse_duration(bad), BadInput) << bad;
  }
}

TEST(Parse, TokensMayBeInThousandsOfTwoToTheTenth) {
  EXPECT_EQ(parse_tokens("--context", "4096"), 4096);
  EXPECT_EQ(parse_tokens("--context", "32k"), 32768);
  EXPECT_EQ(parse_tokens("--context", "128K"), 131072);
  for (const char* bad : {"", "k", "0", "-1", "4.5k", "99999999999999999999", "1099511627776k"}) {
    EXPECT_THROW(parse_tokens("--context", bad), BadInput) << bad;
  }
}

TEST(Parse, WholeNumbersSayWhichLimitTheyBreak) {
  EXPECT_EQ(parse_whole("--batch", "1099511627776", 1), std::int64_t{1} << 40);
  const auto complaint = [](const char* bad) -> std::string {
    try {
      parse_whole("--batch", bad, 1);
    } catch (const BadInput& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(complaint("0").find("at least 1"), std::string::npos);
  EXPECT_NE(complaint("x").find("at least 1"), std::string::npos);
  EXPECT_NE(complaint("1099511627777").find("at most 1099511627776"), std::string::npos);
  EXPECT_NE(complaint("99999999999999999999").find("at most 1099511627776"), std::string::npos);
}

TEST(Parse, LabelsNeedANameAndMayHoldEqualsSigns) {
  EXPECT_EQ(parse_label("a=b=c"), (std::pair<std::string, std::string>("a", "b=c")));
  EXPECT_EQ(parse_label("a="), (std::pair<std::string, std::string>("a", "")));
  EXPECT_THROW(parse_label("=b"), BadInput);
  EXPECT_THROW(parse_label("a"), BadInput);
}

TEST(Parse, OutsideTextIsMadePrintable) {
  EXPECT_EQ(printable("a\x1b[31mb\n", false), "a?[31mb?");
  EXPECT_EQ(printable("caf\xc3\xa9", true), "caf??");
  EXPECT_EQ(printable("caf\xc3\xa9", false), "caf\xc3\xa9");
}

TEST(Parse, ThePeriodOfLooksIsBetweenAMillisecondAndAMinute) {
  EXPECT_DOUBLE_EQ(parse_period("--period", "20ms"), 0.02);
  EXPECT_DOUBLE_EQ(parse_period("--period", "1.5s"), 1.5);
  EXPECT_DOUBLE_EQ(parse_period("--period", "2"), 2);
  for (const char* bad : {"", "0", "0.1ms", "61s", "1m", "-1s", "nan", "fast"})
    EXPECT_THROW(parse_period("--period", bad), BadInput) << bad;
}

}  // namespace
}  // namespace assay
