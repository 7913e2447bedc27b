// Clocks, power and temperature while the workers work, from processes that may hang without harm.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/process.h"
#include "core/telemetry.h"
#include "results/row.h"

namespace assay {

// What a device did during a stretch of time. Absent where nothing was heard.
struct Weather {
  std::optional<double> clock_hertz;          // mean
  std::optional<double> power_watts;          // mean
  std::optional<double> temperature_celsius;  // highest
  std::optional<double> other_load;           // mean
  std::string throttle;                       // all reasons seen, comma-separated; "none" where none was
  // What a reader of the row must know: errors that grew ("ecc_errors", "link_errors"), "pcie_downgraded",
  // "power_capped", "thermal_throttle", and what the device itself said was true ("other_process", "xid_79").
  std::vector<std::string> conditions;
};

// `before` is the last sample before that time: errors are counted from there.
Weather summarise(const std::vector<TelemetrySample>& samples, const TelemetrySample* before = nullptr);

// Puts it into a row where the row does not know better. A failed row gets the conditions alone, a skipped one nothing.
void apply(const Weather& weather, Row& row);

// One process for each plug-in, so that one that hangs does not silence the others.
class TelemetryProcesses {
 public:
  struct Watched {
    std::string plugin;
    std::string id;  // "cuda:1"
    int index = 0;   // within the plug-in
  };
  TelemetryProcesses(const std::filesystem::path& folder, const std::vector<Watched>& devices, double interval = 0.1,
                     double patience = 10);

  std::vector<int> files() const;
  void receive();  // takes in what has been said; gives up a process that has been silent for too long
  Weather between(const std::string& device, double start, double end) const;
  std::vector<TelemetrySample> heard(const std::string& device) const;  // all that is kept, oldest first
  std::vector<pid_t> pids() const;                                      // of those that still speak
  const std::vector<std::string>& remarks() const { return remarks_; }  // about those that were given up

 private:
  struct Source {
    std::string plugin;
    std::unique_ptr<Child> child;
    double heard = 0;  // when it last said something
  };
  void keep(const nlohmann::json& said);
  void give_up(Source& source, const std::string& why);

  double patience_;
  std::vector<Source> sources_;
  std::map<std::string, std::deque<TelemetrySample>> samples_;  // by device
  std::vector<std::string> remarks_;
};

}  // namespace assay
