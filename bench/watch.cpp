// Watches a command of the user's own.
// SPDX-License-Identifier: Apache-2.0
#include "bench/watch.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "bench/probe.h"
#include "bench/process_tree.h"
#include "bench/run_info.h"
#include "bench/telemetry_process.h"
#include "bench/watched_command.h"
#include "core/control_groups.h"

namespace assay {
namespace {

constexpr double first_gap = 0.002;    // short commands are looked at more often
constexpr double dear_share = 0.25;    // a look at shared pages may take this share of the period
constexpr double dear_pause = 4;       // else there is a pause of so many times what it took
constexpr double first_telemetry = 2;  // seconds to wait for what the devices hold before the command

template <class Value>
void raise(std::optional<Value>& most, const std::optional<Value>& value) {
  if (value && (!most || *value > *most)) most = value;
}

// The devices, and what their telemetry says all the while.
class Devices {
 public:
  Devices(const std::filesystem::path& plugins, double period, std::vector<std::string>& remarks) {
    if (plugins.empty()) return;
    ProbeQuestion question;
    question.folder = plugins;
    std::vector<TelemetryProcesses::Watched> watched;
    for (const Probed& answer : probe(question)) {
      for (std::size_t index = 0; index < answer.devices.size(); ++index) {
        devices_.push_back(answer.devices[index]);
        watched.push_back({answer.plugin, answer.devices[index].id, static_cast<int>(index)});
      }
      if (answer.devices.empty()) remarks.push_back(answer.plugin + ": " + answer.reason);
    }
    telemetry_ = std::make_unique<TelemetryProcesses>(plugins, watched, period);
    const double until = monotonic_seconds() + first_telemetry;
    while (!all_heard() && monotonic_seconds() < until && !telemetry_->files().empty()) {
      wait_readable(telemetry_->files(), until - monotonic_seconds());
      telemetry_->receive();
    }
  }

  void receive() const {
    if (telemetry_) telemetry_->receive();
  }
  std::set<pid_t> helpers() const {
    if (!telemetry_) return {};
    const auto pids = telemetry_->pids();
    return {pids.begin(), pids.end()};
  }

  void tell(Watched& watched, double start, double end) const {
    if (!telemetry_) return;
    for (const DeviceInfo& device : devices_) watched.devices.push_back(told(device, start, end));
    const auto& remarks = telemetry_->remarks();
    watched.remarks.insert(watched.remarks.end(), remarks.begin(), remarks.end());
  }

 private:
  bool all_heard() const {
    return std::all_of(devices_.begin(), devices_.end(),
                       [&](const DeviceInfo& device) { return !telemetry_->heard(device.id).empty(); });
  }

  WatchedDevice told(const DeviceInfo& device, double start, double end) const {
    WatchedDevice result;
    result.device = device;
    double power = 0, busy = 0;
    int powers = 0, busies = 0;
    std::optional<double> first_energy;
    for (const TelemetrySample& sample : telemetry_->heard(device.id)) {
      if (sample.time < start) {
        if (sample.memory_used) result.memory_before = sample.memory_used;
        if (sample.energy_joules) first_energy = sample.energy_joules;
        continue;
      }
      if (sample.time > end) break;
      ++result.samples;
      raise(result.memory_peak, sample.memory_used);
      raise(result.power_peak, sample.power_watts);
      raise(result.temperature_peak, sample.temperature_celsius);
      if (sample.power_watts) power += *sample.power_watts, ++powers;
      if (sample.busy) busy += *sample.busy, ++busies;
      if (sample.energy_joules) {
        if (!first_energy) first_energy = sample.energy_joules;
        result.energy = *sample.energy_joules - *first_energy;
      }
    }
    if (powers > 0) result.power_mean = power / powers;
    if (busies > 0) result.busy = busy / busies;
    const Weather weather = telemetry_->between(device.id, start, end);
    result.throttle = weather.throttle;
    result.conditions = weather.conditions;
    return result;
  }

  std::vector<DeviceInfo> devices_;
  std::unique_ptr<TelemetryProcesses> telemetry_;
};

// The memory control group that this process lives in, if any.
struct Group {
  std::filesystem::path usage, limit;

  static Group own() {
    const auto groups = control_groups("/", "memory");
    if (groups.empty()) return {};
    const auto& first = groups.front();
    return first.unified ? Group{first.folder / "memory.current", first.folder / "memory.max"}
                         : Group{first.folder / "memory.usage_in_bytes", first.folder / "memory.limit_in_bytes"};
  }
  std::optional<std::int64_t> used() const { return usage.empty() ? std::nullopt : read_whole_number(usage); }
};

std::optional<std::int64_t> memory_line(const std::string& key) {
  const auto value = read_keyed_number("/proc/meminfo", key);
  if (!value) return std::nullopt;
  return *value * 1024;
}

// Takes looks at the processes and keeps the highest of everything.
class Looker {
 public:
  Looker(Watched& watched, const Group& group) : watched_(watched), group_(group) {}

  void look(const std::set<pid_t>& helpers) {
    const double before = monotonic_seconds();
    const bool dear = before >= next_dear_;
    const TreeUse tree = look_at_tree(getpid(), helpers, dear);
    const double after = monotonic_seconds();
    if (dear) {
      ++watched_.proportional_samples;
      raise(watched_.proportional_peak, tree.proportional);
      const double took = after - before;
      next_dear_ = took > dear_share * watched_.period ? after + dear_pause * took : 0;
    }
    if (last_ > 0) {
      watched_.longest_gap = std::max(watched_.longest_gap, before - last_);
      // The clock of processes ticks at 100 Hz, so short stretches say nothing.
      const bool steady = before - last_ > 0.05 && tree.cpu_seconds >= last_cpu_;
      if (steady)
        watched_.cores_peak = std::max(watched_.cores_peak, (tree.cpu_seconds - last_cpu_) / (before - last_));
    }
    last_ = before;
    last_cpu_ = tree.cpu_seconds;
    ++watched_.samples;
    keep(tree);
  }

  std::vector<WatchedProcess> processes() const {
    std::vector<WatchedProcess> all;
    for (const auto& [pid, process] : processes_) all.push_back(process);
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.resident_peak > b.resident_peak; });
    return all;
  }

 private:
  void keep(const TreeUse& tree) {
    watched_.resident_peak = std::max(watched_.resident_peak, tree.resident);
    watched_.processes_peak = std::max(watched_.processes_peak, static_cast<int>(tree.processes.size()));
    const auto available = memory_line("MemAvailable");
    if (available)
      watched_.host_available_least = std::min(watched_.host_available_least.value_or(*available), *available);
    raise(watched_.group_peak, group_.used());
    for (const ProcessUse& use : tree.processes) {
      WatchedProcess& process = processes_[use.pid];
      process.pid = use.pid;
      process.name = use.name;
      process.resident_peak = std::max(process.resident_peak, use.resident_peak);
      process.cpu_seconds = std::max(process.cpu_seconds, use.cpu_seconds);
      raise(process.proportional_peak, use.proportional);
    }
  }

  Watched& watched_;
  const Group& group_;
  std::map<pid_t, WatchedProcess> processes_;
  double next_dear_ = 0, last_ = 0, last_cpu_ = 0;
};

// Orphans of the command came to us when their parents ended: those that have ended are waited for, the others left.
void leave_orphans(const std::set<pid_t>& helpers, Watched& watched) {
  const TreeUse left = look_at_tree(getpid(), helpers, false);
  int running = 0;
  for (const ProcessUse& use : left.processes) running += waitpid(use.pid, nullptr, WNOHANG) > 0 ? 0 : 1;
  if (running > 0)
    watched.remarks.push_back(
        fmt::format("{} processes of the command were still running when it ended; they were left alone", running));
}

}  // namespace

Watched watch(const WatchQuestion& question) {
  Watched watched;
  watched.command = question.command;
  watched.period = question.period;
  const Devices devices(question.plugins, question.period, watched.remarks);
  const Group group = Group::own();
  watched.group_before = watched.group_peak = group.used();
  if (!group.limit.empty()) watched.group_limit = read_whole_number(group.limit);
  watched.host_total = memory_line("MemTotal");

  watched.started_utc = utc_now();
  const double start = monotonic_seconds();
  WatchedCommand command(question.command);
  Looker looker(watched, group);
  double gap = std::min(first_gap, question.period);
  double next = start;
  bool ended = false;
  while (!ended) {
    looker.look(devices.helpers());
    devices.receive();
    next = std::max(next + gap, monotonic_seconds());
    gap = std::min(question.period, gap * 1.5);
    ended = command.wait(next - monotonic_seconds());
  }
  const double end = monotonic_seconds();
  watched.seconds = end - start;
  watched.ended = command.ended();
  watched.cpu_seconds = command.cpu_seconds();
  watched.largest_process_peak = command.largest();
  watched.processes = looker.processes();
  devices.receive();
  devices.tell(watched, start, end);
  leave_orphans(devices.helpers(), watched);
  return watched;
}

int exit_code_of(const Ended& ended) {
  constexpr int unknown = 70;
  if (!ended.known) return unknown;
  return ended.by_signal ? 128 + ended.code : ended.code;
}

}  // namespace assay
