// Reading the files of one card.
// SPDX-License-Identifier: Apache-2.0
#include "gpu/card_files.h"

#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <system_error>

namespace vendor {
namespace {

using Path = std::filesystem::path;

std::string all_of(const Path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

std::optional<double> scaled(std::optional<double> value, double factor) {
  if (!value) return std::nullopt;
  return *value * factor;
}

std::optional<int> whole(std::optional<double> value) {
  if (!value || *value <= 0) return std::nullopt;
  return static_cast<int>(*value);
}

// The sensor temp1, temp2 or temp3 whose label says what it is of, in degrees.
std::optional<double> temperature(const Path& sensors, const std::string& wanted) {
  for (const char* name : {"temp1", "temp2", "temp3"}) {
    std::string label = all_of(sensors / (std::string(name) + "_label"));
    if (!label.empty() && label.back() == '\n') label.pop_back();
    if (label == wanted) return scaled(number_in(sensors / (std::string(name) + "_input")), 1e-3);
  }
  return std::nullopt;
}

// "ue: 0" and "ce: 12", a line each: errors not corrected and corrected.
void add_errors(assay::TelemetrySample& sample, const Path& file) {
  std::ifstream stream(file);
  std::string name;
  std::int64_t count = 0;
  while (stream >> name >> count) {
    if (name == "ue:") sample.errors.push_back({"ecc_errors", count});
    if (name == "ce:") sample.errors.push_back({"ecc_corrected", count});
  }
}

void read_link(assay::TelemetrySample& sample, const Path& card) {
  sample.pcie_generation = pcie_generation(all_of(card / "current_link_speed"));
  sample.pcie_generation_most = pcie_generation(all_of(card / "max_link_speed"));
  sample.pcie_width = whole(number_in(card / "current_link_width"));
  sample.pcie_width_most = whole(number_in(card / "max_link_width"));
  if (const auto replays = number_in(card / "pcie_replay_count")) {
    sample.errors.push_back({"pcie_replays", static_cast<std::int64_t>(*replays)});
  }
}

}  // namespace

std::optional<double> number_in(const Path& file) {
  std::ifstream stream(file);
  double value = 0;
  if (stream >> value) return value;
  return std::nullopt;
}

CardFiles::CardFiles(const std::string& pci, const Path& root) : card_(root / "sys/bus/pci/devices" / pci) {
  std::error_code failed;
  for (std::filesystem::directory_iterator at(card_ / "hwmon", failed), end; !failed && at != end;
       at.increment(failed)) {
    sensors_ = at->path();
  }
}

bool CardFiles::there() const {
  std::error_code failed;
  return std::filesystem::exists(card_, failed);
}

// What is counted was so at this moment where it has grown since the sample before.
void CardFiles::read_metrics(assay::TelemetrySample& sample) {
  const CardMetrics metrics = metrics_in(all_of(card_ / "gpu_metrics"));
  sample.energy_joules = metrics.energy_joules;
  if (metrics.throttle_bits) sample.throttle = throttle_words(*metrics.throttle_bits);
  if (metrics.throttle_counts && counts_) sample.throttle = throttle_words(*counts_, *metrics.throttle_counts);
  counts_ = metrics.throttle_counts;
}

void CardFiles::read(assay::TelemetrySample& sample) {
  if (!sensors_.empty()) {
    sample.clock_hertz = number_in(sensors_ / "freq1_input");
    sample.memory_clock_hertz = number_in(sensors_ / "freq2_input");
    sample.power_watts = scaled(number_in(sensors_ / "power1_average"), 1e-6);
    if (!sample.power_watts) sample.power_watts = scaled(number_in(sensors_ / "power1_input"), 1e-6);
    sample.temperature_celsius = temperature(sensors_, "junction");
    if (!sample.temperature_celsius) sample.temperature_celsius = temperature(sensors_, "edge");
    sample.memory_temperature_celsius = temperature(sensors_, "mem");
  }
  sample.busy = scaled(number_in(card_ / "gpu_busy_percent"), 1e-2);
  if (const auto used = number_in(card_ / "mem_info_vram_used")) sample.memory_used = static_cast<std::int64_t>(*used);
  read_metrics(sample);
  read_link(sample, card_);
  add_errors(sample, card_ / "ras/umc_err_count");
}

std::optional<int> pcie_generation(const std::string& speed) {
  constexpr double transfers[] = {2.5, 5, 8, 16, 32, 64};  // GT/s of generation 1, 2, ...
  double told = 0;
  if (std::sscanf(speed.c_str(), "%lf", &told) != 1) return std::nullopt;  // "Unknown"
  for (int i = 0; i < 6; ++i) {
    if (std::fabs(told - transfers[i]) < 0.1) return i + 1;
  }
  return std::nullopt;
}

}  // namespace vendor
