// Layouts of gpu_metrics by the kernel's drivers/gpu/drm/amd/include/kgd_pp_interface.h.
// SPDX-License-Identifier: Apache-2.0
#include "gpu/card_metrics.h"

#include <cstring>

namespace vendor {
namespace {

// Every layout begins with its size (16 bits), format and content.
bool has_layout(const std::string& content, unsigned char revision, std::size_t least) {
  if (content.size() < least || content[2] != 1 || static_cast<unsigned char>(content[3]) != revision) return false;
  std::uint16_t told = 0;
  std::memcpy(&told, content.data(), sizeof told);
  return told >= least && told <= content.size();
}

template <class Number>
std::optional<Number> number_at(const std::string& content, std::size_t offset) {
  Number number = 0;
  std::memcpy(&number, content.data() + offset, sizeof number);
  if (number == static_cast<Number>(~Number{0})) return std::nullopt;  // the driver does not know
  return number;
}

std::optional<double> energy_at(const std::string& content, std::size_t offset) {
  const auto counted = number_at<std::uint64_t>(content, offset);
  if (!counted || *counted == 0) return std::nullopt;
  return static_cast<double>(*counted) / 65536;  // counts are 2^-16 J, 15.259 uJ
}

std::string joined(bool power, bool software, bool hardware, bool slowdown) {
  std::string words;
  const auto add = [&](bool yes, const char* word) {
    if (yes) words += (words.empty() ? "" : ",") + std::string(word);
  };
  add(power, "power cap");
  add(software, "thermal (software)");
  add(hardware, "thermal (hardware)");
  add(slowdown, "hardware slowdown");
  return words.empty() ? "none" : words;
}

}  // namespace

CardMetrics metrics_in(const std::string& content) {
  CardMetrics metrics;
  if (has_layout(content, 3, 120)) metrics.throttle_bits = number_at<std::uint64_t>(content, 112);
  // Three temperatures, power and two activities take 16 bytes with the header; then come the activities of 4 video
  // and, from 1.5 on, 32 JPEG engines, 16 bits each.
  if (has_layout(content, 4, 48)) metrics.energy_joules = energy_at(content, 24);
  if (has_layout(content, 5, 112) || has_layout(content, 6, 128)) metrics.energy_joules = energy_at(content, 88);
  if (has_layout(content, 6, 128)) {
    const auto count = [&](std::size_t offset) { return number_at<std::uint32_t>(content, offset).value_or(0); };
    ThrottleCounts counts;
    counts.hardware = count(108) + count(120);  // PROCHOT, voltage regulators
    counts.power = count(112);
    counts.thermal = count(116) + count(124);  // socket, HBM
    metrics.throttle_counts = counts;
  }
  return metrics;
}

std::string throttle_words(std::uint64_t bits) {
  const auto any = [&](unsigned first, unsigned last) {
    for (unsigned bit = first; bit <= last; ++bit) {
      if ((bits >> bit & 1U) != 0) return true;
    }
    return false;
  };
  // Package power and the currents of its supplies; temperatures; VRHOT and PROCHOT.
  return joined(any(0, 7) || any(16, 23), any(32, 43), any(44, 47), any(56, 57));
}

std::string throttle_words(const ThrottleCounts& before, const ThrottleCounts& now) {
  return joined(now.power != before.power, now.thermal != before.thermal, now.hardware != before.hardware, false);
}

}  // namespace vendor
