// The files of each card, and the processes on it.
// SPDX-License-Identifier: Apache-2.0
#include "gpu/card_telemetry.h"

#include <time.h>

#include <exception>
#include <utility>

#include "gpu/card_files.h"
#include "gpu/card_processes.h"
#include "gpu/topology.h"

namespace vendor {
namespace {

using assay::Fact;

double monotonic_seconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

class CardTelemetry : public assay::Telemetry {
 public:
  CardTelemetry(const std::vector<PlacedDevice>& placed, EnergyOf energy, const std::filesystem::path& root)
      : placed_(placed), energy_(std::move(energy)), root_(root), family_(root) {
    for (const PlacedDevice& device : placed_) cards_.emplace_back(device.pci, root);
  }

  assay::TelemetrySample sample(int number) override {
    assay::TelemetrySample sample;
    sample.time = monotonic_seconds();
    const auto index = static_cast<std::size_t>(number);
    if (number < 0 || index >= cards_.size()) return sample;
    cards_[index].read(sample);
    if (energy_ && !sample.energy_joules) sample.energy_joules = energy_(placed_[index].pci);
    if (!cards_[index].there()) sample.conditions.emplace_back("device_lost");
    read_others(placed_[index], sample);
    return sample;
  }

 private:
  // Processes of ours come and go, so a stranger counts only if it is one to a fresh look, too.
  void read_others(const PlacedDevice& device, assay::TelemetrySample& sample) {
    const auto listed = card_processes(device.gpu_id, root_);
    if (!listed || listed->empty() || family_.strangers(*listed) == 0) return;
    family_ = Family(root_);
    if (family_.strangers(*listed).value_or(0) > 0) sample.conditions.emplace_back("other_process");
  }

  std::vector<PlacedDevice> placed_;
  std::vector<CardFiles> cards_;
  EnergyOf energy_;
  std::filesystem::path root_;
  Family family_;
};

class Silence : public assay::Telemetry {
 public:
  assay::TelemetrySample sample(int) override {
    assay::TelemetrySample sample;
    sample.time = monotonic_seconds();
    return sample;
  }
};

void add_number(std::vector<Fact>& facts, const std::string& name, const std::filesystem::path& file, double factor,
                const std::string& unit) {
  const auto value = number_in(file);
  if (!value) return;
  Fact fact;
  fact.name = name;
  fact.value = *value * factor;
  fact.unit = unit;
  fact.source = file.string();
  facts.push_back(fact);
}

void add_word(std::vector<Fact>& facts, const std::string& name, const std::filesystem::path& file) {
  Fact fact;
  fact.name = name;
  fact.text = word_in(file);
  fact.source = file.string();
  if (!fact.text.empty()) facts.push_back(fact);
}

}  // namespace

std::unique_ptr<assay::Telemetry> card_telemetry(const std::vector<PlacedDevice>& placed, EnergyOf energy,
                                                 const std::filesystem::path& root) {
  return std::make_unique<CardTelemetry>(placed, std::move(energy), root);
}

std::unique_ptr<assay::Telemetry> silent_telemetry() { return std::make_unique<Silence>(); }

std::vector<Fact> card_facts(const std::string& pci) {
  std::vector<Fact> facts;
  try {
    const CardFiles card(pci, "/");
    if (!card.there() || card.sensors().empty()) {
      Fact fact;
      fact.name = "management";
      fact.reason = "/sys does not show the sensors of " + pci + ": clocks, power and temperature stay unknown";
      return {fact};
    }
    add_number(facts, "power_limit_watts", card.sensors() / "power1_cap", 1e-6, "watts");
    add_number(facts, "power_limit_most_watts", card.sensors() / "power1_cap_max", 1e-6, "watts");
    add_number(facts, "power_limit_default_watts", card.sensors() / "power1_cap_default", 1e-6, "watts");
    add_number(facts, "vram_bytes", card.folder() / "mem_info_vram_total", 1, "bytes");
    add_word(facts, "performance_level", card.folder() / "power_dpm_force_performance_level");
    add_word(facts, "vbios", card.folder() / "vbios_version");
    add_word(facts, "memory_vendor", card.folder() / "mem_info_vram_vendor");
  } catch (const std::exception&) {
    return facts;
  }
  return facts;
}

}  // namespace vendor
