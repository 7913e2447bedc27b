// Tests of how numbers look.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "reports/report.h"
#include "tests/reports/sample.h"

namespace assay {
namespace {

std::string shown(double value, ReportUnit unit) { return show(known(value, unit)); }

TEST(Show, ScalesMemoryByPowersOfTwo) {
  EXPECT_EQ(shown(0, ReportUnit::bytes), "0 B");
  EXPECT_EQ(shown(512, ReportUnit::bytes), "512 B");
  EXPECT_EQ(shown(1023, ReportUnit::bytes), "1,023 B");
  EXPECT_EQ(shown(1024, ReportUnit::bytes), "1.00 KiB");
  EXPECT_EQ(shown(1536, ReportUnit::bytes), "1.50 KiB");
  EXPECT_EQ(shown(268435456, ReportUnit::bytes), "256.0 MiB");  // 2^28
  // Llama-3-8B: 8,030,261,248 parameters of two bytes; 16,060,522,496 / 2^30 = 14.9575
  EXPECT_EQ(shown(16060522496.0, ReportUnit::bytes), "14.96 GiB");
  EXPECT_EQ(shown(24.0 * 1073741824, ReportUnit::bytes), "24.00 GiB");
  // GPT-3 175B with AdamW, 16 bytes a parameter: 2.8e12 / 2^30 = 2,607.70; compared with cards, so it stays in GiB
  EXPECT_EQ(shown(2.8e12, ReportUnit::bytes), "2,608 GiB");
  EXPECT_EQ(shown(1048576.0 * 1073741824, ReportUnit::bytes), "1.00 PiB");  // 2^50
}

TEST(Show, ScalesRatesByPowersOfTen) {
  EXPECT_EQ(shown(39.04e9, ReportUnit::bytes_per_second), "39.0 GB/s");
  EXPECT_EQ(shown(3.35e12, ReportUnit::bytes_per_second), "3,350 GB/s");
  EXPECT_EQ(shown(850e3, ReportUnit::bytes_per_second), "850 kB/s");
  EXPECT_EQ(shown(1.2e12, ReportUnit::flops_per_second), "1.20 TFLOP/s");
  EXPECT_EQ(shown(350.4e9, ReportUnit::flops_per_second), "350 GFLOP/s");
  EXPECT_EQ(shown(1979e12, ReportUnit::flops_per_second), "1,979 TFLOP/s");
  EXPECT_EQ(shown(2.97e9, ReportUnit::hertz), "2.97 GHz");
  EXPECT_EQ(shown(2.166, ReportUnit::tokens_per_second), "2.17 tokens/s");
  EXPECT_EQ(shown(1234567, ReportUnit::tokens_per_second), "1,235,000 tokens/s");
}

TEST(Show, ScalesTimesFromNanosecondsToYears) {
  EXPECT_EQ(shown(0, ReportUnit::seconds), "0 s");
  EXPECT_EQ(shown(1.23e-9, ReportUnit::seconds), "1.23 ns");
  EXPECT_EQ(shown(0.57e-6, ReportUnit::seconds), "570 ns");
  EXPECT_EQ(shown(42.46e-6, ReportUnit::seconds), "42.5 us");
  EXPECT_EQ(shown(0.0066, ReportUnit::seconds), "6.60 ms");
  EXPECT_EQ(shown(11.2, ReportUnit::seconds), "11.2 s");
  EXPECT_EQ(shown(119, ReportUnit::seconds), "119 s");
  EXPECT_EQ(shown(150, ReportUnit::seconds), "2.50 min");
  EXPECT_EQ(shown(3.5 * 3600, ReportUnit::seconds), "3.50 h");
  EXPECT_EQ(shown(5 * 86400, ReportUnit::seconds), "5.00 days");
  EXPECT_EQ(shown(1000 * 365.25 * 86400, ReportUnit::seconds), "1,000 years");
}

TEST(Show, GivesCountsToTheLastDigit) {
  EXPECT_EQ(shown(0, ReportUnit::count), "0");
  EXPECT_EQ(shown(999, ReportUnit::count), "999");
  EXPECT_EQ(shown(8030261248.0, ReportUnit::count), "8,030,261,248");
  EXPECT_EQ(shown(9007199254740992.0, ReportUnit::count), "9,007,199,254,740,992");  // 2^53
  EXPECT_EQ(shown(3.14e23, ReportUnit::count), "3.14 × 10^23");
  EXPECT_EQ(shown(9.999e22, ReportUnit::count), "1.00 × 10^23");
  EXPECT_EQ(shown(212.5, ReportUnit::count), "212.5");
  EXPECT_EQ(shown(1.5, ReportUnit::none), "1.5");
  EXPECT_EQ(shown(4096, ReportUnit::none), "4,096");
}

TEST(Show, GivesSharesInPercent) {
  EXPECT_EQ(shown(0.97, ReportUnit::share), "97 %");
  EXPECT_EQ(shown(0.975, ReportUnit::share), "97.5 %");
  EXPECT_EQ(shown(1, ReportUnit::share), "100 %");
  EXPECT_EQ(shown(0.0025, ReportUnit::share), "0.25 %");
  EXPECT_EQ(shown(0, ReportUnit::share), "0 %");
  EXPECT_EQ(shown(2.5, ReportUnit::share), "250 %");
}

TEST(Show, PutsTheIntervalInTheUnitOfTheValue) {
  EXPECT_EQ(show(between(1.2e12, 1.1e12, 1.31e12, ReportUnit::flops_per_second)), "1.20 TFLOP/s (1.10 to 1.31)");
  EXPECT_EQ(show(between(1.2e12, 0.8e12, 1.31e12, ReportUnit::flops_per_second)), "1.20 TFLOP/s (0.80 to 1.31)");
  EXPECT_EQ(show(between(0.97, 0.95, 0.985, ReportUnit::share)), "97 % (95 to 98.5)");
  // A bound far below the value is small, not nothing: 0.003 s beside 11.2 s
  EXPECT_EQ(show(between(11.2, 0.003, 12, ReportUnit::seconds)), "11.2 s (0.0030 to 12.0)");
  Quantity half = known(5, ReportUnit::seconds);
  half.lower = 4;
  EXPECT_EQ(show(half), "5.00 s (at least 4.00)");
  half.lower.reset();
  half.upper = 6;
  EXPECT_EQ(show(half), "5.00 s (at most 6.00)");
}

TEST(Show, GoesOnToTheNextUnitWhenRoundingReachesIt) {
  EXPECT_EQ(shown(999.4e6, ReportUnit::bytes_per_second), "999 MB/s");
  EXPECT_EQ(shown(999.6e6, ReportUnit::bytes_per_second), "1.00 GB/s");
  EXPECT_EQ(shown(1023.4 * 1048576, ReportUnit::bytes), "1,023 MiB");
  EXPECT_EQ(shown(1023.6 * 1048576, ReportUnit::bytes), "1.00 GiB");
  EXPECT_EQ(shown(9.996e9, ReportUnit::bytes_per_second), "10.0 GB/s");  // three digits, not "10.00"
}

TEST(Show, SaysUnknownForWhatIsNoNumber) {
  EXPECT_EQ(show(absent(ReportUnit::bytes, "no such thing")), "unknown");
  EXPECT_EQ(shown(std::nan(""), ReportUnit::bytes), "unknown");
  EXPECT_EQ(shown(std::numeric_limits<double>::infinity(), ReportUnit::seconds), "unknown");
  EXPECT_EQ(show(between(2, std::nan(""), 3, ReportUnit::seconds)), "2.00 s (at most 3.00)");
}

TEST(Show, NeverShowsMinusZeroOrScientificNoise) {
  EXPECT_EQ(shown(-0.0, ReportUnit::bytes), "0 B");
  EXPECT_EQ(shown(-2.5e9, ReportUnit::bytes_per_second), "-2.50 GB/s");
  EXPECT_EQ(shown(-1e-30, ReportUnit::seconds), "about 0 ns");
  EXPECT_EQ(shown(0.0123, ReportUnit::tokens_per_second), "0.0123 tokens/s");
  for (const double value : {1e-300, 1e-12, 1e-5, 0.1, 1e5, 1e12, 1e100, 1e300}) {
    for (const ReportUnit unit :
         {ReportUnit::none, ReportUnit::count, ReportUnit::bytes, ReportUnit::seconds, ReportUnit::bytes_per_second,
          ReportUnit::flops_per_second, ReportUnit::tokens_per_second, ReportUnit::share, ReportUnit::hertz}) {
      EXPECT_LT(shown(value, unit).size(), 40U) << shown(value, unit);
      EXPECT_THAT(shown(-value, unit), ::testing::Not(::testing::MatchesRegex(".*[0-9]e[-+].*|-0 .*|-0")));
    }
  }
}

TEST(Show, TrimsTicks) {
  EXPECT_EQ(show_short(16.0 * 1073741824, ReportUnit::bytes), "16 GiB");
  EXPECT_EQ(show_short(2.5e12, ReportUnit::flops_per_second), "2.5 TFLOP/s");
  EXPECT_EQ(show_short(4096, ReportUnit::bytes), "4 KiB");
  EXPECT_EQ(show_short(0.1, ReportUnit::none), "0.1");
}

TEST(Sign, IsAWordAndASignInBothAlphabets) {
  EXPECT_EQ(sign(Answer::fits, false), "✓");
  EXPECT_EQ(sign(Answer::fits, true), "[ok]");
  EXPECT_EQ(sign(Answer::tight, true), "[~]");
  EXPECT_EQ(sign(Answer::does_not_fit, false), "✗");
  EXPECT_EQ(sign(Answer::does_not_fit, true), "[x]");
  EXPECT_EQ(sign(Answer::not_judged, true), "[?]");
  EXPECT_EQ(text(Answer::does_not_fit), "does not fit");
}

}  // namespace
}  // namespace assay
