// Tests of the terminal rendering.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <sstream>

#include "reports/render.h"
#include "reports/text.h"
#include "tests/reports/sample.h"

namespace assay {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Le;
using ::testing::Not;

const std::vector<std::pair<std::string, std::string>> files{{"Report", "runs/2026-12-01/report.html"},
                                                             {"Run", "runs/2026-12-01"}};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string without_colour(const std::string& text) {
  return std::regex_replace(text, std::regex("\x1b\\[[0-9;]*m"), "");
}

// Screen lines, counting a long line for as many as a terminal makes of it.
std::size_t rows(const std::string& text, std::size_t width) {
  std::size_t count = 0;
  for (const std::string& line : lines_of(text))
    count += std::max<std::size_t>(1, (display_width(line) + width - 1) / width);
  return count;
}

TEST(Terminal, AnswersOnOneScreen) {
  const std::string screen = render_terminal(sample_report(), {.first_screen_only = true}, files);
  EXPECT_LE(rows(screen, 80), 24U);
  for (const char* needed :
       {"~ TIGHT", "Llama-3-8B fits with 8,192 tokens", "Decided by  weights: 14.96 GiB",
        "Memory needed      16.21 GiB", "2.17 tokens/s (1.98 to 2.31)", "unknown (this machine shows no power meter)",
        "problem  FP16 products cannot", "Report  runs/2026-12-01/report.html"}) {
    EXPECT_THAT(screen, HasSubstr(needed));
  }
}

TEST(Terminal, KeepsToOneScreenWhateverTheReportHolds) {
  Report report = sample_report();
  const std::string lengthy(2000, 'w');
  report.title = report.subtitle = report.verdict->sentence = report.verdict->deciding_term = lengthy;
  report.verdict->changes = std::vector<std::string>(50, lengthy);
  for (int index = 0; index < 50; ++index) {
    report.headline.emplace_back(lengthy, absent(ReportUnit::bytes, lengthy));
    report.findings.push_back({Severity::problem, lengthy, lengthy, lengthy});
  }
  const std::vector<std::pair<std::string, std::string>> many(20, {"Report", std::string(100, 'p')});
  for (const int width : {40, 80, 200}) {
    const std::string screen = render_terminal(report, {.width = width, .first_screen_only = true}, many);
    EXPECT_LE(rows(screen, static_cast<std::size_t>(width)), 24U) << screen;
    EXPECT_THAT(screen, HasSubstr("TIGHT"));
    EXPECT_THAT(screen, HasSubstr(std::string(100, 'p'))) << "paths are for copying";
  }
  EXPECT_LE(rows(render_terminal(hostile_report(), {.first_screen_only = true}, files), 80), 24U);
}

TEST(Terminal, SaysHowManyFindingsDidNotFit) {
  Report report = sample_report();
  report.findings = std::vector<Finding>(30, {Severity::warning, "The clock fell.", "", ""});
  EXPECT_THAT(render_terminal(report, {.first_screen_only = true}, files), HasSubstr(" more in the report"));
}

TEST(Terminal, FitsEveryLineIntoTheWidth) {
  for (const int width : {40, 60, 80, 132}) {
    for (const Report& report : {sample_report(), hostile_report()}) {
      for (const std::string& line : lines_of(render_terminal(report, {.width = width}, {}))) {
        EXPECT_THAT(display_width(line), Le(static_cast<std::size_t>(width))) << line;
      }
    }
  }
}

TEST(Terminal, AlignsNumbersToTheRight) {
  const std::string text = render_terminal(sample_report(), {}, {});
  EXPECT_THAT(text, HasSubstr("GPT-2            124,439,808  ✓ fits"));
  EXPECT_THAT(text, HasSubstr("Mixtral-8x7B  46,702,792,704  ✗ does not fit"));
}

TEST(Terminal, UsesOnlyAsciiWhereTheLocaleHasNoMore) {
  Report report = hostile_report();
  report.findings.push_back({Severity::info, "naïve – 漢字 × 2", "", ""});
  for (const unsigned char byte : render_terminal(report, {.ascii = true}, files)) {
    ASSERT_TRUE(byte == '\n' || (byte >= 0x20 && byte < 0x7F)) << static_cast<int>(byte);
  }
  EXPECT_THAT(render_terminal(sample_report(), {.ascii = true}, files),
              AllOf(HasSubstr("[~] TIGHT"), HasSubstr("[x] does not fit")));
}

TEST(Terminal, ColoursOnlyWhenAskedAndSaysTheSameWithoutColour) {
  const std::string plain = render_terminal(sample_report(), {}, files);
  const std::string coloured = render_terminal(sample_report(), {.colour = true}, files);
  EXPECT_THAT(plain, Not(HasSubstr("\x1b")));
  EXPECT_THAT(coloured, HasSubstr("\x1b[1;33m~ TIGHT"));
  EXPECT_EQ(without_colour(coloured), plain);
}

TEST(Terminal, NeutralisesEscapeSequencesInOutsideStrings) {
  const std::string text = render_terminal(hostile_report(), {}, {{hostile, hostile}});
  for (const unsigned char byte : text) ASSERT_TRUE(byte == '\n' || (byte >= 0x20 && byte != 0x7F));
  EXPECT_THAT(text, Not(HasSubstr("\xC2\x9B")));
  EXPECT_THAT(text, Not(HasSubstr("\xE2\x80\xAE")));
  EXPECT_THAT(without_colour(render_terminal(hostile_report(), {.colour = true}, {})), Not(HasSubstr("\x1b")));
}

TEST(Terminal, ShowsAnEmptyReport) { EXPECT_EQ(render_terminal(Report{}, {}, {}), "\n\n"); }

}  // namespace
}  // namespace assay
