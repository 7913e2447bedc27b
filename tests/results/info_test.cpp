// run.json: nothing is lost by writing and reading, and damaged or hostile files are refused by place.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/error.h"
#include "results/run.h"
#include "tests/results/examples.h"

namespace assay {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::string message_of(const std::string& text) {
  try {
    parse_run_info(text, "run.json");
  } catch (const BadInput& error) {
    return error.what();
  }
  return "nothing was thrown";
}

// The least run.json there is, with more fields put into it.
std::string with(const std::string& fields) {
  return "{\"schema\": 1, \"id\": \"r\", \"ending\": \"complete\"" + (fields.empty() ? "" : ", " + fields) + "}";
}

TEST(RunInfo, LosesNothingByWritingAndReading) {
  const RunInfo info = full_info();
  const RunInfo read = parse_run_info(write_run_info(info), "run.json");
  // Field by field: comparing two written texts would miss a field that writing forgets.
  EXPECT_EQ(read.schema, 1);
  EXPECT_EQ(read.id, info.id);
  EXPECT_EQ(read.program_version, info.program_version);
  EXPECT_EQ(read.commit, info.commit);
  EXPECT_EQ(read.build_type, info.build_type);
  EXPECT_EQ(read.compiler, info.compiler);
  EXPECT_EQ(read.profile, info.profile);
  EXPECT_EQ(read.filter, info.filter);
  EXPECT_EQ(read.command, info.command);
  EXPECT_EQ(read.labels, info.labels);
  EXPECT_EQ(read.environment, info.environment);
  EXPECT_EQ(read.host, info.host);
  EXPECT_EQ(read.kernel, info.kernel);
  EXPECT_EQ(read.distribution, info.distribution);
  EXPECT_EQ(read.started_utc, info.started_utc);
  EXPECT_EQ(read.ended_utc, info.ended_utc);
  EXPECT_EQ(read.planned, info.planned);
  EXPECT_EQ(read.budget_seconds, info.budget_seconds);
  EXPECT_EQ(read.ending, info.ending);
  EXPECT_EQ(read.ending_reason, info.ending_reason);
  ASSERT_EQ(read.facts.size(), 2u);
  EXPECT_EQ(read.facts[0].name, "cpu_quota_cores");
  EXPECT_EQ(read.facts[0].value, 2.5);
  EXPECT_EQ(read.facts[0].unit, "cores");
  EXPECT_EQ(read.facts[0].source, "/sys/fs/cgroup/cpu.max");
  EXPECT_FALSE(read.facts[1].value.has_value());
  EXPECT_EQ(read.facts[1].reason, "no control group sets a limit");
}

TEST(RunInfo, LosesNothingOfADevice) {
  const DeviceInfo device = full_info().devices.front();
  const RunInfo info = parse_run_info(write_run_info(full_info()), "run.json");
  ASSERT_EQ(info.devices.size(), 1u);
  const DeviceInfo& read = info.devices.front();
  EXPECT_EQ(read.id, device.id);
  EXPECT_EQ(read.backend, device.backend);
  EXPECT_EQ(read.name, device.name);
  EXPECT_EQ(read.vendor, device.vendor);
  EXPECT_EQ(read.architecture, device.architecture);
  EXPECT_EQ(read.memory_total, device.memory_total);
  EXPECT_EQ(read.memory_available, 0);
  EXPECT_EQ(read.compute_units, device.compute_units);
  EXPECT_EQ(read.clock_hertz, device.clock_hertz);
  ASSERT_EQ(read.caches.size(), 2u);
  EXPECT_EQ(read.caches[1].level, 3);
  EXPECT_EQ(read.caches[1].bytes, 272629760);
  EXPECT_EQ(read.caches[0].instances, 2);
  EXPECT_EQ(read.driver, device.driver);
  EXPECT_EQ(read.runtime, device.runtime);
  EXPECT_EQ(read.unique_id, device.unique_id);
  ASSERT_EQ(read.facts.size(), 1u);
  EXPECT_EQ(read.facts[0].text, "madvise");
}

TEST(RunInfo, LeavesAbsentThingsAbsent) {
  const RunInfo info = parse_run_info(with("\"devices\": [{\"id\": \"cuda:0\"}]"), "run.json");
  EXPECT_EQ(info.ending, Ending::complete);
  EXPECT_EQ(info.budget_seconds, 0);
  EXPECT_TRUE(info.planned.empty());
  ASSERT_EQ(info.devices.size(), 1u);
  EXPECT_FALSE(info.devices[0].memory_total.has_value());
  EXPECT_FALSE(info.devices[0].compute_units.has_value());
  EXPECT_FALSE(info.devices[0].clock_hertz.has_value());
}

TEST(RunInfo, KnowsEveryEnding) {
  for (const Ending ending : {Ending::running, Ending::complete, Ending::budget, Ending::interrupted, Ending::failed}) {
    RunInfo info;
    info.ending = ending;
    EXPECT_EQ(parse_run_info(write_run_info(info), "run.json").ending, ending);
  }
}

TEST(RunInfo, WritesWhatJsonCannotHoldAsAbsent) {
  RunInfo info = full_info();
  info.facts[0].value = std::numeric_limits<double>::quiet_NaN();
  info.labels["broken"] = "a\xFF";
  const RunInfo read = parse_run_info(write_run_info(info), "run.json");
  EXPECT_FALSE(read.facts[0].value.has_value());
  EXPECT_EQ(read.labels.at("broken"), "a\xEF\xBF\xBD");  // U+FFFD, the replacement character
}

TEST(RunInfo, IgnoresFieldsOfNewerVersions) {
  const RunInfo info = parse_run_info(with("\"weather\": {\"sun\": [1, 2]}, \"host\": \"box\""), "run.json");
  EXPECT_EQ(info.host, "box");
}

TEST(RunInfo, LetsNothingThroughThatATerminalObeys) {
  EXPECT_EQ(parse_run_info(with("\"host\": \"a\\u001b[2Jb\\nc\""), "run.json").host, "a[2Jb c");
}

TEST(RunInfo, OfTheWrongKindIsRefusedByPlace) {
  EXPECT_THAT(message_of(with("\"host\": 5")), HasSubstr("run.json: host: expected a text, found \"5\""));
  EXPECT_THAT(message_of(with("\"labels\": [1]")), HasSubstr("run.json: labels: expected an object"));
  EXPECT_THAT(message_of(with("\"labels\": {\"a\": 1}")), HasSubstr("run.json: labels.a: expected a text"));
  EXPECT_THAT(message_of(with("\"planned\": [\"a\", null]")), HasSubstr("run.json: planned[1]: expected a text"));
  EXPECT_THAT(message_of(with("\"devices\": {}")), HasSubstr("run.json: devices: expected a list"));
  EXPECT_THAT(message_of(with("\"devices\": [3]")), HasSubstr("run.json: devices[0]: expected an object"));
  EXPECT_THAT(message_of(with("\"devices\": [{}]")), HasSubstr("devices[0]: expected a device with an \"id\""));
  EXPECT_THAT(message_of(with("\"devices\": [{\"id\": \"a\", \"memory_total\": -1}]")),
              HasSubstr("run.json: devices[0].memory_total: expected a whole number from 0 to 9223372036854775807"));
  EXPECT_THAT(message_of(with("\"devices\": [{\"id\": \"a\", \"memory_total\": 18446744073709551615}]")),
              HasSubstr("devices[0].memory_total: expected a whole number from 0"));
  EXPECT_THAT(message_of(with("\"devices\": [{\"id\": \"a\", \"compute_units\": 4294967296}]")),
              HasSubstr("devices[0].compute_units: expected a whole number from 0 to 2147483647"));
  EXPECT_THAT(message_of(with("\"devices\": [{\"id\": \"a\", \"memory_total\": 1.5}]")),
              HasSubstr("devices[0].memory_total: expected a whole number"));
  EXPECT_THAT(message_of(with("\"budget_seconds\": \"long\"")),
              HasSubstr("run.json: budget_seconds: expected a number"));
}

TEST(RunInfo, OfAnUnknownEndingIsRefused) {
  EXPECT_THAT(message_of("{\"schema\": 1, \"id\": \"r\", \"ending\": \"tired\"}"),
              HasSubstr("run.json: ending: expected running, complete, budget, interrupted or failed, found"));
}

TEST(RunInfo, OfANewerSchemaIsRefusedWithTheCure) {
  EXPECT_THAT(
      message_of("{\"schema\": 2, \"id\": \"r\", \"ending\": \"complete\"}"),
      AllOf(HasSubstr("run.json: its schema is 2"), HasSubstr("this program reads 1 to 1"), HasSubstr("newer")));
  EXPECT_THAT(message_of("{\"schema\": \"1\", \"id\": \"r\", \"ending\": \"complete\"}"),
              HasSubstr("schema: expected a whole"));
}

TEST(RunInfo, OfAForeignOrCutFileIsRefused) {
  EXPECT_THAT(message_of("{}"), HasSubstr("it is not the run.json of an Assay run"));
  EXPECT_THAT(message_of("[1, 2]"), HasSubstr("it is not the run.json of an Assay run"));
  EXPECT_THAT(message_of("null"), HasSubstr("it is not the run.json of an Assay run"));
  EXPECT_THAT(message_of(""), HasSubstr("run.json: it is not JSON"));
  EXPECT_THAT(message_of(std::string(10, '\0')), HasSubstr("run.json: it is not JSON"));
  const std::string whole = write_run_info(full_info());
  EXPECT_THAT(message_of(whole.substr(0, whole.size() / 2)), AllOf(HasSubstr("only the beginning"), HasSubstr("line")));
}

TEST(RunInfo, NestedWithoutEndIsRefusedBeforeItHarms) {
  const std::string bomb = with("\"weather\": " + std::string(1'000'000, '['));
  EXPECT_THAT(message_of(bomb), HasSubstr("nested more than 32 deep"));
}

TEST(RunInfo, WithANumberBeyondAllBoundsIsRefused) {
  EXPECT_THAT(message_of(with("\"budget_seconds\": 1e999")), HasSubstr("run.json: "));
}

}  // namespace
}  // namespace assay
