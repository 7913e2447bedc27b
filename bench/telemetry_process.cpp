// Telemetry, from both sides.
// SPDX-License-Identifier: Apache-2.0
#include "bench/telemetry_process.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "bench/children.h"
#include "bench/protocol.h"
#include "bench/rows.h"
#include "core/loader.h"

namespace assay {
namespace {

constexpr std::size_t samples_kept = 36000;  // an hour at ten a second
constexpr double other_load_that_counts = 0.05;
constexpr double busy_that_counts = 0.1;    // an idle link slows down to save power
constexpr int busy_samples_that_count = 2;  // and needs a moment to wake up

std::optional<double> mean(const std::vector<TelemetrySample>& samples, std::optional<double> TelemetrySample::*field) {
  double sum = 0;
  int count = 0;
  for (const TelemetrySample& sample : samples) {
    if (!(sample.*field)) continue;
    sum += *(sample.*field);
    ++count;
  }
  if (count == 0) return std::nullopt;
  return sum / count;
}

// An idle clock says nothing about the work: where the device tells when it was busy, only those moments count.
std::optional<double> clock_at_work(const std::vector<TelemetrySample>& samples) {
  std::vector<TelemetrySample> busy;
  for (const TelemetrySample& sample : samples)
    if (sample.busy.value_or(0) >= busy_that_counts) busy.push_back(sample);
  const auto clock = mean(busy, &TelemetrySample::clock_hertz);
  return clock ? clock : mean(samples, &TelemetrySample::clock_hertz);
}

std::string all_reasons(const std::vector<TelemetrySample>& samples) {
  std::set<std::string> reasons;
  for (const TelemetrySample& sample : samples) {
    std::istringstream text(sample.throttle.value_or(""));
    for (std::string reason; std::getline(text, reason, ',');)
      if (!reason.empty()) reasons.insert(reason);
  }
  if (reasons.size() > 1) reasons.erase("none");
  return fmt::format("{}", fmt::join(reasons, ","));
}

// Counts that grew since they were first heard of. One that fell was set back, which is no error.
void add_errors(const std::vector<TelemetrySample>& samples, const TelemetrySample* before,
                std::vector<std::string>& conditions) {
  std::map<std::string, std::int64_t> last;
  const auto look = [&](const TelemetrySample& sample) {
    for (const ErrorCount& error : sample.errors) {
      const auto known = last.find(error.name);
      if (known != last.end() && error.count > known->second) conditions.push_back(error.name);
      last[error.name] = error.count;
    }
  };
  if (before != nullptr) look(*before);
  for (const TelemetrySample& sample : samples) look(sample);
}

// Whether a link stayed below what card and slot can do together, although the device was at work.
bool downgraded(const std::vector<TelemetrySample>& samples, std::optional<int> TelemetrySample::*now,
                std::optional<int> TelemetrySample::*most) {
  std::optional<int> best, possible;
  int count = 0;
  for (const TelemetrySample& sample : samples) {
    if (sample.busy.value_or(0) < busy_that_counts || !(sample.*now) || !(sample.*most)) continue;
    best = std::max(best.value_or(0), *(sample.*now));
    possible = std::max(possible.value_or(0), *(sample.*most));
    ++count;
  }
  return count >= busy_samples_that_count && *best < *possible;
}

void add_throttling(const std::string& throttle, std::vector<std::string>& conditions) {
  std::istringstream reasons(throttle);
  for (std::string reason; std::getline(reasons, reason, ',');) {
    if (reason.rfind("power", 0) == 0) conditions.push_back("power_capped");
    if (reason.rfind("thermal", 0) == 0) conditions.push_back("thermal_throttle");
    if (reason == "hardware slowdown") conditions.push_back("hardware_slowdown");
  }
}

}  // namespace

Weather summarise(const std::vector<TelemetrySample>& samples, const TelemetrySample* before) {
  Weather weather;
  weather.clock_hertz = clock_at_work(samples);
  weather.power_watts = mean(samples, &TelemetrySample::power_watts);
  weather.other_load = mean(samples, &TelemetrySample::other_load);
  for (const TelemetrySample& sample : samples)
    if (sample.temperature_celsius)
      weather.temperature_celsius =
          std::max(weather.temperature_celsius.value_or(*sample.temperature_celsius), *sample.temperature_celsius);
  weather.throttle = all_reasons(samples);
  for (const TelemetrySample& sample : samples)
    weather.conditions.insert(weather.conditions.end(), sample.conditions.begin(), sample.conditions.end());
  add_errors(samples, before, weather.conditions);
  add_throttling(weather.throttle, weather.conditions);
  if (downgraded(samples, &TelemetrySample::pcie_generation, &TelemetrySample::pcie_generation_most) ||
      downgraded(samples, &TelemetrySample::pcie_width, &TelemetrySample::pcie_width_most))
    weather.conditions.push_back("pcie_downgraded");
  return weather;
}

void apply(const Weather& weather, Row& row) {
  if (row.status == Status::skipped) return;
  std::vector<std::string> conditions;
  if (!row.conditions.empty()) {
    std::istringstream known(row.conditions);
    for (std::string condition; std::getline(known, condition, ',');) conditions.push_back(condition);
  }
  conditions.insert(conditions.end(), weather.conditions.begin(), weather.conditions.end());
  if (weather.other_load.value_or(0) > other_load_that_counts) conditions.push_back("other_load");
  row.conditions = joined(conditions);
  if (row.status == Status::failed) return;
  if (!row.clock_hertz) row.clock_hertz = weather.clock_hertz;
  if (!row.power_watts) row.power_watts = weather.power_watts;
  if (!row.temperature_celsius) row.temperature_celsius = weather.temperature_celsius;
  if (row.throttle.empty()) row.throttle = weather.throttle;
}

TelemetryProcesses::TelemetryProcesses(const std::filesystem::path& folder, const std::vector<Watched>& devices,
                                       double interval, double patience)
    : patience_(patience) {
  std::map<std::string, nlohmann::json> by_plugin;
  for (const Watched& device : devices)
    by_plugin[device.plugin].push_back({{"id", device.id}, {"index", device.index}});
  for (const auto& [plugin, watched] : by_plugin) {
    Source source{plugin, nullptr, monotonic_seconds()};
    try {
      source.child = std::make_unique<Child>("__telemetry");
      source.child->send(
          {{"folder", folder.string()}, {"plugin", plugin}, {"devices", watched}, {"interval", interval}});
      sources_.push_back(std::move(source));
    } catch (const std::exception& error) {
      remarks_.push_back(fmt::format("no telemetry of {}: {}", plugin, error.what()));
    }
  }
}

std::vector<int> TelemetryProcesses::files() const {
  std::vector<int> all;
  for (const Source& source : sources_) {
    if (source.child == nullptr) continue;
    const auto files = source.child->files();
    all.insert(all.end(), files.begin(), files.end());
  }
  return all;
}

void TelemetryProcesses::receive() {
  const double now = monotonic_seconds();
  for (Source& source : sources_) {
    if (source.child == nullptr) continue;
    source.child->receive();
    try {
      bool none_to_come = false;
      while (const auto said = source.child->next()) {
        source.heard = now;
        none_to_come = none_to_come || said->contains("none");
        if (said->contains("device")) keep(*said);
      }
      if (none_to_come)
        source.child = nullptr;
      else if (source.child->closed())
        give_up(source, "its process " + describe(source.child->end()));
      else if (now - source.heard > patience_)
        give_up(source, fmt::format("it said nothing for {:.0f} s", patience_));
    } catch (const std::exception& error) {
      give_up(source, error.what());
    }
  }
}

void TelemetryProcesses::keep(const nlohmann::json& said) {
  auto& samples = samples_[said.at("device").get<std::string>()];
  samples.push_back(sample_from(said.at("sample")));
  if (samples.size() > samples_kept) samples.pop_front();
}

void TelemetryProcesses::give_up(Source& source, const std::string& why) {
  source.child->end(0.2);
  const std::string words = source.child->last_words();
  remarks_.push_back(fmt::format("telemetry of {} was given up: {}{}", source.plugin, why,
                                 words.empty() ? "" : "; its last words: " + words));
  source.child = nullptr;
}

Weather TelemetryProcesses::between(const std::string& device, double start, double end) const {
  std::vector<TelemetrySample> inside;
  const TelemetrySample* before = nullptr;
  if (const auto found = samples_.find(device); found != samples_.end()) {
    for (const TelemetrySample& sample : found->second) {
      if (sample.time < start)
        before = &sample;
      else if (sample.time <= end)
        inside.push_back(sample);
    }
  }
  return summarise(inside, before);
}

std::vector<TelemetrySample> TelemetryProcesses::heard(const std::string& device) const {
  const auto found = samples_.find(device);
  if (found == samples_.end()) return {};
  return {found->second.begin(), found->second.end()};
}

std::vector<pid_t> TelemetryProcesses::pids() const {
  std::vector<pid_t> all;
  for (const Source& source : sources_)
    if (source.child != nullptr) all.push_back(source.child->pid());
  return all;
}

void telemetry_main(Channel& front) {
  const auto question = front.read();
  if (!question) return;
  const auto loaded = load_plugin(question->at("folder").get<std::string>(), question->at("plugin"));
  std::unique_ptr<Telemetry> telemetry;
  if (loaded.plugin != nullptr && loaded.plugin->create_telemetry != nullptr)
    telemetry = loaded.plugin->create_telemetry();
  if (telemetry == nullptr) {
    front.write({{"none", true}});
    return;
  }
  const double interval = question->at("interval");
  double next = monotonic_seconds();
  do {
    for (const auto& device : question->at("devices")) {
      const TelemetrySample sample = telemetry->sample(device.at("index"));
      front.write_or_drop({{"device", device.at("id")}, {"sample", to_json(sample)}});
    }
    next = std::max(next + interval, monotonic_seconds());
  } while (!front.front_gone(next - monotonic_seconds()));
}

}  // namespace assay
