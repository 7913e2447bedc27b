// The parts of the harness that need no process: durations, budget, filters, messages, telemetry, figures, summaries.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cmath>
#include <limits>

#include "bench/budget.h"
#include "bench/figures.h"
#include "bench/filter.h"
#include "bench/plan_run.h"
#include "bench/process.h"
#include "bench/protocol.h"
#include "bench/run_info.h"
#include "bench/signals.h"
#include "bench/summary.h"
#include "bench/telemetry_process.h"
#include "core/error.h"

namespace assay {
namespace {

using testing::HasSubstr;

TEST(Duration, ReadsWhatPeopleWrite) {
  EXPECT_EQ(parse_duration("10m"), 600);
  EXPECT_EQ(parse_duration("1h30m"), 5400);
  EXPECT_EQ(parse_duration("45s"), 45);
  EXPECT_EQ(parse_duration("90"), 90);
  EXPECT_EQ(parse_duration("0.5s"), 0.5);
  EXPECT_EQ(parse_duration("1m30s"), 90);
}

TEST(Duration, RefusesWhatIsNone) {
  for (const char* bad : {"", "0", "-5", "m", "10x", "1h30", "nan", "inf", "1e9h", "10 m", "10m ", "1e400s"})
    EXPECT_THROW(parse_duration(bad), BadInput) << bad;
}

TEST(Duration, IsWrittenAsItIsRead) {
  for (const char* text : {"10m", "1h30m", "45s", "0.25s", "1m30s", "2h"})
    EXPECT_EQ(duration_text(parse_duration(text)), text);
}

TEST(Budget, KeepsAReserveForCleaningUp) {
  // 5 % of 10 s is 0.5 s: measuring ends at 100 + 9.5.
  const Budget budget(10, 100);
  EXPECT_DOUBLE_EQ(budget.cut_off(), 109.5);
  EXPECT_TRUE(budget.fits(1, 108.4));
  EXPECT_FALSE(budget.fits(1, 108.6));
  EXPECT_EQ(budget.used_up(), "the budget of 10s was used up");
}

TEST(Budget, IsEndlessWhereNoneIsGiven) {
  EXPECT_TRUE(std::isinf(Budget(0, 100).cut_off()));
  EXPECT_TRUE(Budget(0, 100).fits(1e9, 1e9));
}

TEST(Filter, SearchesAndNegates) {
  EXPECT_TRUE(Filter("").takes("anything"));
  EXPECT_TRUE(Filter("bf16").takes("gemm/bf16/square/512"));
  EXPECT_FALSE(Filter("^bf16").takes("gemm/bf16/square/512"));
  EXPECT_FALSE(Filter("-bf16").takes("gemm/bf16/square/512"));
  EXPECT_TRUE(Filter("-bf16").takes("gemm/fp32/square/512"));
}

TEST(Filter, SaysWhatIsWrongWithAnExpression) {
  try {
    Filter("a[b");
    FAIL();
  } catch (const BadInput& error) {
    EXPECT_THAT(error.what(), HasSubstr("\"a[b\" is no regular expression: a [ without its ]"));
  }
}

TEST(Protocol, KeepsEveryFieldOfADevice) {
  DeviceInfo device;
  device.id = "fake:3";
  device.backend = "fake";
  device.name = "Name with \xff no UTF-8";
  device.vendor = "vendor";
  device.architecture = "arch";
  device.memory_total = 123456789012345;
  device.memory_available = 0;
  device.compute_units = 132;
  device.clock_hertz = 1.98e9;
  device.caches = {{1, 32768, 4}, {2, 1 << 20, 2}};
  device.driver = "driver";
  device.runtime = "runtime";
  device.unique_id = "id";
  Fact fact;
  fact.name = "fact";
  fact.value = 0.1;
  fact.unit = "cores";
  fact.text = "text";
  fact.reason = "reason";
  fact.source = "source";
  device.facts = {fact};
  const auto text = to_json(device).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  const DeviceInfo back = device_from(nlohmann::json::parse(text));
  EXPECT_EQ(back.id, device.id);
  EXPECT_EQ(back.vendor, "vendor");
  EXPECT_EQ(back.architecture, "arch");
  EXPECT_EQ(back.memory_total, device.memory_total);
  EXPECT_EQ(back.memory_available, 0) << "nothing is not the same as unknown";
  EXPECT_EQ(back.compute_units, 132);
  EXPECT_EQ(back.clock_hertz, 1.98e9);
  ASSERT_EQ(back.caches.size(), 2U);
  EXPECT_EQ(back.caches[1].bytes, 1 << 20);
  EXPECT_EQ(back.caches[0].instances, 4);
  EXPECT_EQ(back.driver, "driver");
  EXPECT_EQ(back.runtime, "runtime");
  EXPECT_EQ(back.unique_id, "id");
  ASSERT_EQ(back.facts.size(), 1U);
  EXPECT_EQ(back.facts[0].value, 0.1);
  EXPECT_EQ(back.facts[0].source, "source");
}

TEST(Protocol, KeepsUnknownThingsUnknown) {
  const DeviceInfo back = device_from(to_json(DeviceInfo{}));
  EXPECT_FALSE(back.memory_total.has_value());
  EXPECT_FALSE(back.compute_units.has_value());
  EXPECT_FALSE(sample_from(to_json(TelemetrySample{})).power_watts.has_value());
}

TEST(Protocol, KeepsARowToTheLastBit) {
  Row row;
  row.case_name = "gemm/\"quoted\",comma";
  row.metric = "seconds";
  row.value = 0.1 + 0.2;  // 0.30000000000000004
  row.status = Status::mistrusted;
  row.reason = "a reason";
  row.samples = 7;
  row.repetition = 2;
  const Row back = row_from(to_json(row));
  EXPECT_EQ(back.case_name, row.case_name);
  EXPECT_EQ(back.value, row.value);
  EXPECT_EQ(back.status, Status::mistrusted);
  EXPECT_EQ(back.samples, 7);
  EXPECT_EQ(back.repetition, 2);
  EXPECT_FALSE(back.lower.has_value());
}

TelemetrySample sample_at(double time, double watts, double celsius, const std::string& throttle) {
  TelemetrySample sample;
  sample.time = time;
  sample.power_watts = watts;
  sample.temperature_celsius = celsius;
  sample.throttle = throttle;
  return sample;
}

TEST(Weather, IsTheMeanPowerTheHighestTemperatureAndAllReasons) {
  const Weather weather = summarise(
      {sample_at(1, 100, 60, "none"), sample_at(2, 300, 70, "power,thermal"), sample_at(3, 200, 65, "power")});
  EXPECT_DOUBLE_EQ(weather.power_watts.value(), 200);
  EXPECT_DOUBLE_EQ(weather.temperature_celsius.value(), 70);
  EXPECT_EQ(weather.throttle, "power,thermal");
  EXPECT_FALSE(weather.clock_hertz.has_value());
}

TEST(Weather, SaysNothingWithoutSamples) {
  const Weather weather = summarise({});
  EXPECT_FALSE(weather.power_watts.has_value());
  EXPECT_EQ(weather.throttle, "");
}

TEST(Weather, DoesNotOverwriteWhatARowKnows) {
  Row row;
  row.power_watts = 50;
  Weather weather;
  weather.power_watts = 100;
  weather.clock_hertz = 1e9;
  weather.other_load = 0.3;
  row.conditions = "few_samples";
  apply(weather, row);
  EXPECT_EQ(row.power_watts, 50);
  EXPECT_EQ(row.clock_hertz, 1e9);
  EXPECT_EQ(row.conditions, "few_samples,other_load");
}

TEST(Ended, IsDescribedInWords) {
  EXPECT_EQ(describe({true, true, SIGSEGV}), "was killed by SIGSEGV (a bad memory access)");
  EXPECT_EQ(describe({true, false, 3}), "ended with exit code 3");
  EXPECT_THAT(describe({}), HasSubstr("stuck in the kernel"));
}

TEST(Figure, IsScaledForPeople) {
  EXPECT_EQ(figure(1.234e12, "flop/s"), "1.23 TFLOP/s");
  EXPECT_EQ(figure(45.67e9, "B/s"), "45.7 GB/s");
  EXPECT_EQ(figure(7.8e-6, "s"), "7.80 us");
  EXPECT_EQ(figure(1610612736, "B"), "1.50 GiB");  // 1.5 * 2^30
  EXPECT_EQ(figure(999.9e9, "B/s"), "1.00 TB/s");
  EXPECT_EQ(figure(std::numeric_limits<double>::quiet_NaN(), "s"), "unknown");
}

Row counted(const std::string& name, int repetition, Status status) {
  Row row;
  row.device = "fake:0";
  row.case_name = name;
  row.repetition = repetition;
  row.status = status;
  return row;
}

TEST(Tally, CountsACaseOnceByItsWorstRow) {
  const Tally counts =
      tally({counted("a", 0, Status::ok), counted("a", 0, Status::skipped), counted("b", 0, Status::ok),
             counted("b", 0, Status::mistrusted), counted("c", 0, Status::skipped), counted("a", 1, Status::failed)});
  EXPECT_EQ(counts.ok, 1);
  EXPECT_EQ(counts.mistrusted, 1);
  EXPECT_EQ(counts.skipped, 1);
  EXPECT_EQ(counts.failed, 1);
}

TEST(ExitCode, FollowsTheWorstCase) {
  EXPECT_EQ(exit_code({.ok = 1, .skipped = 3}), 0);
  EXPECT_EQ(exit_code({.ok = 5, .failed = 1}), 1);
  EXPECT_EQ(exit_code({.ok = 5, .mistrusted = 1}), 1);
  EXPECT_EQ(exit_code({.skipped = 2}), 2);
  EXPECT_EQ(exit_code({}), 2);
}

TEST(Summary, ShowsTheBestOfEachFamilyAndWhatWentWrong) {
  Row slow = counted("gemm/512", 0, Status::ok), fast = counted("gemm/1024", 0, Status::ok);
  for (Row* row : {&slow, &fast}) {
    row->family = "gemm";
    row->precision = "bf16";
    row->metric = "flops_per_second";
    row->unit = "flop/s";
    row->better = "higher";
  }
  slow.value = 1e12;
  fast.value = 2e12;
  Row bad = counted("memory/triad", 0, Status::failed);
  bad.reason = "it broke";
  DeviceInfo device;
  device.id = "fake:0";
  device.name = "Fake device";
  const std::string text = summary({slow, fast, bad}, {device});
  EXPECT_THAT(text, HasSubstr("2 ok, 0 skipped, 1 failed, 0 mistrusted"));
  EXPECT_THAT(text, HasSubstr("2.00 TFLOP/s  gemm/1024"));
  EXPECT_THAT(text, testing::Not(HasSubstr("gemm/512")));
  EXPECT_THAT(text, HasSubstr("failed: fake:0 memory/triad: it broke"));
}

TEST(Done, IsWhatNeedsNoSecondTry) {
  Row measured = counted("a", 0, Status::ok), broken = counted("b", 0, Status::failed),
      no_time = counted("c", 0, Status::skipped), impossible = counted("d", 0, Status::skipped);
  no_time.reason = "the budget of 10m was used up";
  impossible.reason = "no such instruction";
  EXPECT_EQ(done_in({measured, broken, no_time, impossible}),
            (Done{{"fake:0", "a", 0}, {"fake:0", "b", 0}, {"fake:0", "d", 0}}));
}

TEST(Environment, IsTakenByAllowList) {
  const char* const variables[] = {
      "OMP_PROC_BIND=close", "HOME=/root", "NCCL_DEBUG=INFO", "NVIDIA_TOKEN=abc", "NO_EQUALS_SIGN",
      "HIP_EMPTY=",          nullptr};
  EXPECT_EQ(
      recorded_environment(variables),
      (std::map<std::string, std::string>{{"OMP_PROC_BIND", "close"}, {"NCCL_DEBUG", "INFO"}, {"HIP_EMPTY", ""}}));
}

TEST(Signals, WaitUntilTheyAreAskedFor) {
  Signals signals;
  EXPECT_FALSE(signals.taken().has_value());
  raise(SIGHUP);
  EXPECT_EQ(signals.taken(), SIGHUP);
  EXPECT_EQ(signals.taken(), SIGHUP) << "it stays taken";
}

TEST(Signals, RespectWhatTheCallerIgnores) {
  // As under nohup.
  const auto before = ::signal(SIGHUP, SIG_IGN);
  {
    Signals signals;
    raise(SIGHUP);
    EXPECT_FALSE(signals.taken().has_value());
  }
  ::signal(SIGHUP, before);
}

}  // namespace
}  // namespace assay
