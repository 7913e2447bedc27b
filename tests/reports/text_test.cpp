// Tests of what makes outside strings safe, and of their width.
// SPDX-License-Identifier: Apache-2.0
#include "reports/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using ::testing::ElementsAre;

const std::string broken = "\xEF\xBF\xBD";  // U+FFFD

TEST(Clean, NeutralisesWhatSteersATerminal) {
  EXPECT_EQ(clean("a\x1b[31mb"), "a" + broken + "[31mb");
  EXPECT_EQ(clean(std::string("a\0b", 3)), "a" + broken + "b");
  EXPECT_EQ(clean("a\tb\nc\rd"), "a b c d");
  EXPECT_EQ(clean("\x7f"), broken);
  EXPECT_EQ(clean("\xC2\x9B"), broken);      // U+009B, an escape sequence's start in one byte
  EXPECT_EQ(clean("\xE2\x80\xAE"), broken);  // U+202E, right to left
  EXPECT_EQ(clean("\xE2\x80\xA8"), broken);  // U+2028, line separator
}

TEST(Clean, KeepsGoodUtf8AndReplacesBrokenBytes) {
  EXPECT_EQ(clean("µ × ✓ 漢 🚀"), "µ × ✓ 漢 🚀");
  EXPECT_EQ(clean("\xFF"), broken);
  EXPECT_EQ(clean("\xC0\xAF"), broken + broken);                            // overlong slash
  EXPECT_EQ(clean("\xE0\x80\xAF"), broken + broken + broken);               // overlong in three bytes
  EXPECT_EQ(clean("\xED\xA0\x80"), broken + broken + broken);               // a surrogate
  EXPECT_EQ(clean("\xF5\x80\x80\x80"), broken + broken + broken + broken);  // above U+10FFFF
  EXPECT_EQ(clean("\xE2\x9C"), broken + broken);                            // cut short
}

TEST(ToAscii, LeavesNoByteAbove127) { EXPECT_EQ(to_ascii("✓ 3 × 10^5 – µs … 漢"), "[ok] 3 x 10^5 - us ... ?"); }

TEST(DisplayWidth, KnowsWideAndCombiningCharacters) {
  EXPECT_EQ(display_width("abc"), 3U);
  EXPECT_EQ(display_width("é"), 1U);
  EXPECT_EQ(display_width("e\xCC\x81"), 1U);  // e and a combining accent
  EXPECT_EQ(display_width("漢字"), 4U);
  EXPECT_EQ(display_width("🚀"), 2U);
}

TEST(Wrap, BreaksAtSpacesAndInsideWordsThatAreTooLong) {
  EXPECT_THAT(wrap("one two three", 7), ElementsAre("one two", "three"));
  EXPECT_THAT(wrap("abcdefgh", 3), ElementsAre("abc", "def", "gh"));
  EXPECT_THAT(wrap("漢字漢字", 4), ElementsAre("漢字", "漢字"));
  EXPECT_THAT(wrap("", 10), ElementsAre(""));
  EXPECT_THAT(wrap("a  b", 10), ElementsAre("a b"));
}

TEST(Clip, CutsToTheWidthWithItsMark) {
  EXPECT_EQ(clip("abcdef", 6, "…"), "abcdef");
  EXPECT_EQ(clip("abcdefg", 6, "…"), "abcde…");
  EXPECT_EQ(clip("abcdefg", 6, "..."), "abc...");
  EXPECT_EQ(clip("漢字漢字", 6, "…"), "漢字…");  // four columns and the mark; a half character is not to be had
}

TEST(Words, GiveTheReasonOfWhatIsUnknown) {
  EXPECT_EQ(words(Quantity{.value = {}, .unit = ReportUnit::bytes, .lower = {}, .upper = {}, .reason = "no meter"}),
            "unknown (no meter)");
  EXPECT_EQ(words(Cell(Answer::tight)), "~ tight");
}

}  // namespace
}  // namespace assay
