// Watches a command of the user's own: what it and everything that it starts take of the host and of the devices, how
// long it runs and how it ends. Needs no root and changes nothing about the command.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "bench/process.h"
#include "core/device.h"

namespace assay {

struct WatchQuestion {
  std::vector<std::string> command;  // program and arguments; looked up on the PATH
  double period = 0.1;               // seconds between two looks
  std::filesystem::path plugins;     // where telemetry comes from; empty: none is asked
};

// The most that one process ever took, and how much processor time it used.
struct WatchedProcess {
  pid_t pid = 0;
  std::string name;
  std::int64_t resident_peak = 0;
  std::optional<std::int64_t> proportional_peak;
  double cpu_seconds = 0;
};

// A device while the command ran, everything on it together: another user's work counts here, too.
struct WatchedDevice {
  DeviceInfo device;
  int samples = 0;
  std::optional<std::int64_t> memory_before, memory_peak;  // bytes in use
  std::optional<double> power_mean, power_peak;            // W
  std::optional<double> energy;                            // J, from the device's counter
  std::optional<double> busy;                              // mean share of the time
  std::optional<double> temperature_peak;
  std::string throttle;
  std::vector<std::string> conditions;
};

struct Watched {
  std::vector<std::string> command;
  std::string started_utc;
  double seconds = 0;
  Ended ended;
  double period = 0;       // asked for
  double longest_gap = 0;  // between two looks at the processes
  int samples = 0;         // looks at the processes
  int proportional_samples = 0;
  std::int64_t resident_peak = 0;                 // of all processes at one moment
  std::optional<std::int64_t> proportional_peak;  // the same, shared pages counted once
  std::int64_t largest_process_peak = 0;          // the kernel's own highest of any one process, nothing missed
  int processes_peak = 0;
  double cpu_seconds = 0;  // as the kernel accounts it at the end
  double cores_peak = 0;   // processors busy at once, over one period
  std::optional<std::int64_t> host_total, host_available_least;
  std::optional<std::int64_t> group_before, group_peak, group_limit;  // memory control group of this process
  std::vector<WatchedProcess> processes;                              // largest first
  std::vector<WatchedDevice> devices;
  std::vector<std::string> remarks;
};

// Throws BadInput where the command cannot be started (no such file, not executable). Signals that reach this program
// are passed on to the command; its terminal stays its own.
Watched watch(const WatchQuestion& question);

// The exit code to pass on: the command's own, or 128 and the signal that ended it.
int exit_code_of(const Ended& ended);

}  // namespace assay
