// Telemetry of the processor: cpufreq, RAPL, hwmon, memory and the load of others.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/telemetry.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "core/host.h"
#include "kernels/cpu/clock.h"
#include "kernels/cpu/device.h"

namespace assay::cpu {
namespace {

std::optional<double> number_in(const std::filesystem::path& path) {
  std::ifstream file(path);
  double value = 0;
  if (file >> value) {
    return value;
  }
  return std::nullopt;
}

std::string word_in(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

std::vector<std::filesystem::path> entries(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> found;
  std::error_code failed;
  for (std::filesystem::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    found.push_back(at->path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

// One energy counter of a socket; it starts again at `range`.
struct Counter {
  std::filesystem::path file;
  double range = 0;  // joules
  double last = 0;
  double sum = 0;  // since the start, without jumps
};

class CpuTelemetry : public Telemetry {
 public:
  explicit CpuTelemetry(const std::filesystem::path& root)
      : root_(root), processors_(allowed_processors(root)), virtual_(is_virtual(root)) {
    find_counters();
    find_thermometer();
  }

  TelemetrySample sample(int) override {
    TelemetrySample sample;
    sample.time = monotonic_seconds();
    sample.clock_hertz = clock();
    read_energy(sample);
    if (!thermometer_.empty()) {
      if (const auto millidegrees = number_in(thermometer_)) {
        sample.temperature_celsius = *millidegrees * 1e-3;
      }
    }
    // Whoever asks is not the one who measures, and from here the two look the same: what others use of the processor
    // only the measuring process itself can tell, with its own LoadMeter.
    const HostLimits limits = host_limits(root_);
    if (limits.memory_total > 0 && limits.memory_available > 0) {
      sample.memory_used = limits.memory_total - limits.memory_available;
    }
    return sample;
  }

 private:
  // The mean over the allowed processors. What /proc/cpuinfo shows in a virtual machine is a constant, so there the
  // clock is unknown.
  std::optional<double> clock() const {
    double sum = 0;
    int count = 0;
    for (const int processor : processors_) {
      const auto kilohertz = number_in(root_ / "sys/devices/system/cpu" / ("cpu" + std::to_string(processor)) /
                                       "cpufreq/scaling_cur_freq");
      if (kilohertz && *kilohertz > 0) {
        sum += *kilohertz * 1e3;
        ++count;
      }
    }
    if (count > 0) {
      return sum / count;
    }
    return virtual_ ? std::nullopt : clock_in_cpuinfo();
  }

  std::optional<double> clock_in_cpuinfo() const {
    std::ifstream file(root_ / "proc/cpuinfo");
    double sum = 0;
    int count = 0;
    int processor = -1;
    for (std::string line; std::getline(file, line);) {
      const auto colon = line.find(':');
      if (colon == std::string::npos) {
        continue;
      }
      std::istringstream value(line.substr(colon + 1));
      double megahertz = 0;
      if (line.rfind("processor", 0) == 0) {
        value >> processor;
      } else if (line.rfind("cpu MHz", 0) == 0 && value >> megahertz && megahertz > 0 &&
                 std::find(processors_.begin(), processors_.end(), processor) != processors_.end()) {
        sum += megahertz * 1e6;
        ++count;
      }
    }
    return count > 0 ? std::optional<double>(sum / count) : std::nullopt;
  }

  // Sockets only ("intel-rapl:0"): their parts ("intel-rapl:0:1") are contained in them.
  void find_counters() {
    for (const auto& folder : entries(root_ / "sys/class/powercap")) {
      const std::string name = folder.filename().string();
      if (std::count(name.begin(), name.end(), ':') != 1 || word_in(folder / "name").rfind("package", 0) != 0) {
        continue;
      }
      const auto now = number_in(folder / "energy_uj");  // readable for root only on most systems
      const auto range = number_in(folder / "max_energy_range_uj");
      if (now && range) {
        counters_.push_back({folder / "energy_uj", *range * 1e-6, *now * 1e-6, 0});
      }
    }
    energy_time_ = monotonic_seconds();
  }

  void read_energy(TelemetrySample& sample) {
    if (counters_.empty()) {
      return;
    }
    double gained = 0;
    double total = 0;
    for (Counter& counter : counters_) {
      const auto microjoules = number_in(counter.file);
      if (!microjoules) {
        return;
      }
      const double now = *microjoules * 1e-6;
      const double more = now >= counter.last ? now - counter.last : now + counter.range - counter.last;
      counter.last = now;
      counter.sum += more;
      gained += more;
      total += counter.sum;
    }
    const double elapsed = sample.time - energy_time_;
    energy_time_ = sample.time;
    sample.energy_joules = total;
    if (elapsed > 1e-3) {  // the counters step once a millisecond
      sample.power_watts = gained / elapsed;
    }
  }

  // The first sensor of the processor's own driver: on Intel the whole package, on AMD the control temperature.
  void find_thermometer() {
    for (const auto& folder : entries(root_ / "sys/class/hwmon")) {
      const std::string name = word_in(folder / "name");
      if ((name == "coretemp" || name == "k10temp" || name == "zenpower") && number_in(folder / "temp1_input")) {
        thermometer_ = folder / "temp1_input";
        return;
      }
    }
  }

  std::filesystem::path root_;
  std::vector<int> processors_;
  bool virtual_;
  std::vector<Counter> counters_;
  double energy_time_ = 0;
  std::filesystem::path thermometer_;
};

}  // namespace

std::unique_ptr<Telemetry> make_telemetry(const std::filesystem::path& root) {
  return std::make_unique<CpuTelemetry>(root);
}

}  // namespace assay::cpu
