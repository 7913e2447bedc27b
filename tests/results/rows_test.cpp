// Reading results.csv: whole, torn, damaged, foreign and hostile.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/error.h"
#include "results/run.h"
#include "tests/results/examples.h"

namespace assay {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string message_of(const std::string& text) {
  try {
    parse_rows(text, "results.csv");
  } catch (const BadInput& error) {
    return error.what();
  }
  return "nothing was thrown";
}

// A line with one cell replaced; the full row's cells hold no commas after this.
std::string line_with(const std::string& column_name, const std::string& cell) {
  std::string line;
  for (const Column& column : columns()) {
    if (!line.empty()) line += ',';
    std::string written = column.write(full_row());
    std::replace(written.begin(), written.end(), ',', ';');
    std::replace(written.begin(), written.end(), '"', '\'');
    line += column.name == column_name ? cell : written;
  }
  return line + '\n';
}

TEST(Rows, ReadBackEverythingThatWasWritten) {
  Row sparse;
  sparse.run = "r";
  sparse.number = 2;
  sparse.status = Status::skipped;
  sparse.reason = "no \"fp16\", anywhere";
  const RowList list = parse_rows(csv_header() + csv_line(full_row()) + csv_line(sparse), "results.csv");
  ASSERT_EQ(list.rows.size(), 2u);
  EXPECT_THAT(list.remarks, IsEmpty());
  EXPECT_EQ(csv_line(list.rows[0]), csv_line(full_row()));
  EXPECT_EQ(csv_line(list.rows[1]), csv_line(sparse));
  EXPECT_EQ(list.rows[0].device_name, "Xeon \"Gold\", 2 cores");
  EXPECT_FALSE(list.rows[1].value.has_value());
}

TEST(Rows, DropATornLastLineAndSaySo) {
  const std::string whole = csv_header() + csv_line(full_row());
  const std::string last = csv_line(full_row());
  for (std::size_t length = 1; length < last.size(); ++length) {
    const RowList list = parse_rows(whole + last.substr(0, length), "results.csv");
    ASSERT_EQ(list.rows.size(), 1u) << length;
    ASSERT_EQ(list.remarks.size(), 1u) << length;
    EXPECT_THAT(list.remarks[0], HasSubstr("torn"));
  }
}

TEST(Rows, OfARunKilledInItsHeaderAreNone) {
  const std::string header = csv_header();
  for (std::size_t length = 0; length < header.size(); length += 7) {
    const RowList list = parse_rows(header.substr(0, length), "results.csv");
    EXPECT_THAT(list.rows, IsEmpty());
    EXPECT_EQ(list.remarks.size(), 1u);
  }
}

TEST(Rows, WithABadValueAreRefusedByFileLineAndColumn) {
  struct Bad {
    const char* column;
    const char* cell;
    const char* expected;
  };
  for (const Bad& bad :
       {Bad{"value", "fast", "expected a number such as 1.25e-3, found \"fast\""}, Bad{"value", "nan", "found \"nan\""},
        Bad{"lower", "1;5", "found \"1;5\""}, Bad{"samples", "-1", "expected a whole number"},
        Bad{"rank", "", "found an empty cell"}, Bad{"rank", "4294967296", "expected a smaller number"},
        Bad{"number", "0", "counted from 1"}, Bad{"status", "fine", "expected ok, skipped, failed or mistrusted"},
        Bad{"better", "less", "expected \"lower\", \"higher\""}, Bad{"started_utc", "2026-11-30", "expected a time"},
        Bad{"schema", "2", "a newer Assay wrote it"}, Bad{"schema", "x", "expected a whole number"},
        Bad{"reason", "\x1b[2J", "without control characters"}, Bad{"case", "\xFF", "UTF-8"}}) {
    EXPECT_THAT(message_of(csv_header() + csv_line(full_row()) + line_with(bad.column, bad.cell)),
                AllOf(HasSubstr("results.csv, line 3, column \"" + std::string(bad.column) + "\": "),
                      HasSubstr(bad.expected), HasSubstr("restore the file, or delete that line")));
  }
}

TEST(Rows, WithTooFewOrTooManyCellsAreRefusedByLine) {
  std::string shorter = csv_line(full_row());
  shorter = shorter.substr(0, shorter.rfind(',')) + "\n";
  EXPECT_THAT(message_of(csv_header() + shorter), HasSubstr("line 2: it has fewer cells"));
  std::string longer = csv_line(full_row());
  longer.insert(longer.size() - 1, ",1");
  EXPECT_THAT(message_of(csv_header() + csv_line(full_row()) + longer), HasSubstr("line 3: it has more cells"));
  EXPECT_THAT(message_of(csv_header() + "\n" + csv_line(full_row())), HasSubstr("line 2: the line is empty"));
}

TEST(Rows, WithQuotesAstrayAreRefusedByLine) {
  EXPECT_THAT(message_of(csv_header() + line_with("reason", "\"first")),
              HasSubstr("line 2: a quoted cell does not end"));
  EXPECT_THAT(message_of(csv_header() + line_with("reason", "\"first\nsecond\"")),
              HasSubstr("line 2: a quoted cell does not end on its line"));
  EXPECT_THAT(message_of(csv_header() + line_with("reason", "so \"called\"")), HasSubstr("line 2: a quote stands in"));
  EXPECT_THAT(message_of(csv_header() + line_with("reason", "\"so\" called")), HasSubstr("line 2: a quote stands in"));
}

TEST(Rows, KeepQuotedCellsToTheLetter) {
  const RowList list =
      parse_rows(csv_header() + line_with("reason", "\" a, \"\"b\"\" \"") + line_with("reason", "\"\"\"\"") +
                     line_with("reason", "\"\"") + line_with("reason", " spaced "),
                 "results.csv");
  ASSERT_EQ(list.rows.size(), 4u);
  EXPECT_EQ(list.rows[0].reason, " a, \"b\" ");
  EXPECT_EQ(list.rows[1].reason, "\"");
  EXPECT_EQ(list.rows[2].reason, "");
  EXPECT_EQ(list.rows[3].reason, " spaced ");
}

TEST(Rows, WithANulByteAreRefusedByLine) {
  std::string text = csv_header() + csv_line(full_row()) + csv_line(full_row());
  text[text.size() - 5] = '\0';
  EXPECT_THAT(message_of(text), HasSubstr("results.csv, line 3: it holds a NUL byte"));
  EXPECT_THAT(message_of(std::string(1 << 20, '\0')), HasSubstr("line 1: it holds a NUL byte"));
}

TEST(Rows, WithAnEndlessLineAreRefused) {
  const std::string endless((std::size_t{1} << 24) + 10, 'x');
  EXPECT_THAT(message_of(endless), HasSubstr("line 1: the line is longer than 16 MiB"));
  EXPECT_THAT(message_of(csv_header() + endless + "\n"), HasSubstr("line 2: the line is longer than 16 MiB"));
}

TEST(Rows, OfAForeignFileAreRefused) {
  EXPECT_THAT(message_of("name,value\na,1\n"), AllOf(HasSubstr("line 1: it is no results.csv"), HasSubstr("\"name\"")));
  EXPECT_THAT(message_of("{\"schema\": 1}"), HasSubstr("it is no results.csv"));
  EXPECT_THAT(message_of("\n\n"), HasSubstr("it is no results.csv"));
}

TEST(Rows, WithoutAColumnOfTheirSchemaAreRefused) {
  std::string header = csv_header();
  header.replace(header.find("quartile3"), 9, "quantile3");
  EXPECT_THAT(message_of(header + csv_line(full_row())), HasSubstr("the column \"quartile3\" is missing"));
}

TEST(Rows, WithAColumnTwiceAreRefused) {
  std::string header = csv_header();
  header.replace(header.find("quartile3"), 9, "quartile1");
  EXPECT_THAT(message_of(header), HasSubstr("the column \"quartile1\" is there twice"));
}

TEST(Rows, LeaveOutAColumnOfANewerVersionWithARemark) {
  std::string header = csv_header(), line = csv_line(full_row());
  header.insert(header.size() - 1, ",joules");
  line.insert(line.size() - 1, ",12.5");
  const RowList list = parse_rows(header + line, "results.csv");
  ASSERT_EQ(list.rows.size(), 1u);
  EXPECT_EQ(csv_line(list.rows[0]), csv_line(full_row()));
  EXPECT_THAT(list.remarks, ElementsAre(HasSubstr("the column \"joules\" is unknown")));
}

TEST(Rows, AreFoundByNameWhateverTheirOrder) {
  // As a spreadsheet may save them: columns moved, a byte order mark, carriage returns, names in quotes.
  std::string header =
                  "\xEF\xBB\xBF"
                  "\"value\"",
              line = "0.25";
  for (const Column& column : columns()) {
    if (column.name == "value") continue;
    header += ",\"" + std::string(column.name) + "\"";
    line += ",\"" + column.write(Row()) + "\"";
  }
  line.replace(line.find("\"0\",\"0\""), 7, "\"0\",\"5\"");  // rank 0, number 5
  const RowList list = parse_rows(header + "\r\n" + line + "\r\n", "results.csv");
  ASSERT_EQ(list.rows.size(), 1u);
  EXPECT_EQ(list.rows[0].value, 0.25);
  EXPECT_EQ(list.rows[0].number, 5);
}

TEST(Rows, OfManyMegabytesComeWhole) {
  // More than twice the CSV library's block of 16 MiB, so that its buffer is turned over.
  Row row = full_row();
  row.reason = std::string(60'000, 'r');
  std::string text = csv_header();
  constexpr std::int64_t count = 700;
  for (row.number = 1; row.number <= count; ++row.number) text += csv_line(row);
  ASSERT_GT(text.size(), std::size_t{40} << 20);
  const RowList list = parse_rows(text, "results.csv");
  ASSERT_EQ(list.rows.size(), static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    ASSERT_EQ(list.rows[static_cast<std::size_t>(i)].number, i + 1);
    ASSERT_EQ(list.rows[static_cast<std::size_t>(i)].reason.size(), 60'000u);
  }
}

TEST(Rows, ReadInSeveralPiecesAreRefusedAtTheFirstFaultInTheFile) {
  // 24 MB are cut into pieces that are read at the same time; the later fault may well be found first.
  Row row = full_row();
  row.reason = std::string(60'000, 'r');
  std::string text = csv_header();
  for (row.number = 1; row.number <= 400; ++row.number) {
    std::string line = csv_line(row);
    if (row.number == 250 || row.number == 390) line.replace(line.find("mistrusted"), 10, "mysterious");
    text += line;
  }
  EXPECT_THAT(message_of(text), HasSubstr("results.csv, line 251, column \"status\""));  // after the header's line
  text[text.find("mysterious")] = '\0';
  EXPECT_THAT(message_of(text), HasSubstr("results.csv, line 251: it holds a NUL byte"));
}

}  // namespace
}  // namespace assay
