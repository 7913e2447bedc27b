// Columns and cells: what is written reads back exactly, and what could not be is refused.
// SPDX-License-Identifier: Apache-2.0
#include "results/row.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "core/error.h"
#include "results/cell.h"
#include "tests/results/examples.h"

namespace assay {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// The columns of schema 1 as they were released. This list may grow at its end and must never change otherwise.
constexpr const char* schema_1 =
    "schema,run,rank,number,case,family,backend,device,device_name,device_id,scope,op,precision,executed,accumulated,"
    "precision_proof,data,cache,phase,variant,method,process,repetition,metric,unit,value,lower,upper,better,minimum,"
    "quartile1,quartile3,maximum,samples,executions,stop,flops,bytes,clock_hertz,power_watts,temperature_celsius,"
    "throttle,conditions,status,reason,started_utc,elapsed_seconds";

std::string message_of(const auto& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Row, HasTheColumnsOfSchemaOneInTheirOrder) { EXPECT_EQ(csv_header(), std::string(schema_1) + "\n"); }

TEST(Row, GivesEveryColumnItsOwnField) {
  // Parsing each cell of a full row into an empty one, one column at a time, must change exactly that column.
  const Row full = full_row();
  for (const Column& changed : columns()) {
    if (changed.name == "schema") continue;  // there is one schema, so it cannot change
    Row row;
    changed.parse(row, changed.write(full));
    for (const Column& column : columns()) {
      EXPECT_EQ(column.write(row), column.write(&column == &changed ? full : Row())) << changed.name << column.name;
    }
  }
}

TEST(Row, WritesALineThatCanBeReadByEye) {
  EXPECT_EQ(csv_line(full_row()),
            "1,20261130T120000Z-4f1a,3,17,gemm/bf16/square/2048,gemm,cpu,cpu:0,\"Xeon \"\"Gold\"\", 2 cores\",0000,"
            "alone,\"gemm(b=1,m=2048,n=2048,k=2048)\",bf16,bf16,fp32,exact,typical,hot,burst,default,onednn 2.6.3,2,1,"
            "seconds,s,0.1,0.0999999999999999,0.3333333333333333,lower,5e-324,0.1,0.2,1.7976931348623157e+308,20,"
            "4000000000,steady,17179869184,0,2.97e+09,350.5,-1.5,none,\"other_load,few_samples\",mistrusted,"
            "grün ist es nicht,2026-11-30T12:00:00Z,0.5\n");
}

TEST(Row, LeavesAbsentNumbersEmptyAndZeroZero) {
  Row row = full_row();
  row.value.reset();
  row.samples.reset();
  row.flops = 0.0;
  Row read;
  read.value = 1;  // to be overwritten
  for (const Column& column : columns()) column.parse(read, column.write(row));
  EXPECT_FALSE(read.value.has_value());
  EXPECT_FALSE(read.samples.has_value());
  EXPECT_EQ(read.flops, 0.0);
}

TEST(Row, RefusesNumbersThatAreNotFiniteByColumn) {
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    Row row = full_row();
    row.power_watts = bad;
    EXPECT_THAT(message_of([&] { csv_line(row); }),
                AllOf(HasSubstr("\"power_watts\""), HasSubstr("gemm/bf16/square/2048"), HasSubstr("finite")));
  }
}

TEST(Row, RefusesToWriteWhatCouldNotBeRead) {
  Row row = full_row();
  row.samples = -1;
  EXPECT_THAT(message_of([&] { csv_line(row); }), HasSubstr("\"samples\""));
  row = full_row();
  row.better = "bigger";
  EXPECT_THAT(message_of([&] { csv_line(row); }), HasSubstr("\"better\""));
  row = full_row();
  row.started_utc = "yesterday";
  EXPECT_THAT(message_of([&] { csv_line(row); }), HasSubstr("\"started_utc\""));
  row = full_row();
  row.number = 0;
  EXPECT_THAT(message_of([&] { csv_line(row); }), HasSubstr("\"number\""));
}

TEST(Row, StaysOneLineWhateverItsTextsHold) {
  Row row = full_row();
  row.reason = std::string("first\nsecond\r\nthird\tend") + '\0' + "\x1b[31mred\x7f";
  const std::string line = csv_line(row);
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
  EXPECT_THAT(line, HasSubstr("first second  third end[31mred"));
}

TEST(Cell, CleansTextsThatAreNotUtf8) {
  EXPECT_EQ(clean_text("a\xFF"
                       "b"),
            "a?b");
  EXPECT_EQ(clean_text("\xC0\xAF"), "??");            // an overlong slash
  EXPECT_EQ(clean_text("\xED\xA0\x80"), "???");       // a surrogate
  EXPECT_EQ(clean_text("\xF4\x90\x80\x80"), "????");  // beyond U+10FFFF
  EXPECT_EQ(clean_text("\xE2\x82"), "??");            // a euro sign cut short
  EXPECT_EQ(clean_text("5 \xE2\x82\xAC \xF0\x9F\x98\x80"), "5 \xE2\x82\xAC \xF0\x9F\x98\x80");
  EXPECT_EQ(clean_text("\xC2\x9B"
                       "31m"),
            "31m");  // the one-character form of ESC [
}

TEST(Cell, CutsEndlessTexts) {
  const std::string cut = clean_text(std::string(1 << 20, 'x'));
  EXPECT_LT(cut.size(), 65 * 1024u);
  EXPECT_EQ(cut.substr(cut.size() - 3), "...");
}

TEST(Cell, WritesTheShortestNumberThatReadsBackTheSame) {
  EXPECT_EQ(write_number(0.1), "0.1");
  EXPECT_EQ(write_number(1e22), "1e+22");
  EXPECT_EQ(write_number(123456.0), "123456");
  // A walk over exponents and mantissas; bits must survive.
  std::uint64_t bits = 0x123456789ABCDEF;
  for (int i = 0; i < 20000; ++i) {
    bits = bits * 6364136223846793005u + 1442695040888963407u;
    double number = 0;
    std::memcpy(&number, &bits, sizeof number);
    if (!std::isfinite(number)) continue;
    const double back = parse_double(write_number(number));
    EXPECT_EQ(std::memcmp(&back, &number, sizeof number), 0) << write_number(number);
  }
}

TEST(Cell, ReadsNumbersStrictly) {
  EXPECT_EQ(parse_double("-1.5e-3"), -0.0015);
  for (const char* bad : {"", " 1", "1 ", "+1", "1,5", "1e", "0x10", "nan", "inf", "-inf", "1e999", "abc", "1.5x"}) {
    EXPECT_THROW(parse_double(bad), BadInput) << bad;
  }
  EXPECT_EQ(parse_whole_number("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  for (const char* bad : {"", "-1", "1.0", "9223372036854775808", "1e3", " 1"}) {
    EXPECT_THROW(parse_whole_number(bad), BadInput) << bad;
  }
}

TEST(Cell, SaysWhatWasExpectedAndWhatWasFound) {
  EXPECT_EQ(message_of([] { parse_double("fast"); }), "expected a number such as 1.25e-3, found \"fast\"");
  EXPECT_EQ(message_of([] { parse_double(""); }), "expected a number such as 1.25e-3, found an empty cell");
  EXPECT_THAT(message_of([] { parse_double("\x1b[31m"); }), HasSubstr("found \"[31m\""));  // nothing a terminal obeys
}

}  // namespace
}  // namespace assay
