// Questions to a run: facts of a card and of the host, rows of a case, rates.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reports/catalogue.h"
#include "reports/rates.h"
#include "results/run.h"

namespace assay {

// A rate and the case it was measured in.
struct Reached {
  double rate = 0;  // bytes/s or flops/s
  std::string case_name;
};

class Machine {
 public:
  explicit Machine(const Run& run);

  const Run& run() const { return *run_; }
  const std::vector<const DeviceInfo*>& cards() const { return cards_; }
  const Gpu* gpu(const DeviceInfo& device) const;  // the catalogue's; null where the name is not known

  static const Fact* fact(const DeviceInfo& device, const std::string& name);
  static std::optional<double> number(const DeviceInfo& device, const std::string& name);
  static std::string word(const DeviceInfo& device, const std::string& name);  // "" where there is none
  // Bytes a second in one direction, by the generation and lanes that the driver reports.
  static std::optional<double> host_link(const DeviceInfo& device);
  // Whether the run holds what the card says of itself while it works.
  bool telemetry(const DeviceInfo& device) const;
  // Whether health and limits could be read.
  bool managed(const DeviceInfo& device) const;

  // Of the host survey, or of run.json.
  std::optional<double> host_number(const std::string& name) const;
  std::string host_word(const std::string& name) const;

  // Rows of a device whose case begins with `prefix` and that `wanted` likes.
  std::vector<const Row*> rows(const std::string& device, const std::string& prefix,
                               const std::function<bool(const Row&)>& wanted) const;
  // Timed ok rows.
  std::vector<const Row*> timed(const std::string& device, const std::string& prefix) const;

  // Fastest copy whose case begins with `prefix`, bytes a second in one direction.
  std::optional<Reached> copy(const std::string& device, const std::string& prefix) const;
  std::optional<Reached> products(const DeviceInfo& device, Element element) const;
  std::optional<Reached> memory(const DeviceInfo& device) const;

 private:
  const Rates& rates(const std::string& device) const;

  const Run* run_;
  std::vector<const DeviceInfo*> cards_;
  mutable std::map<std::string, Rates> rates_;
};

// Bytes a second in one direction of a PCI Express link, less the line code; absent for generations not known here.
std::optional<double> host_link_rate(int generation, int lanes);

// The middle one; the lower of two. Of nothing: 0.
double middle(std::vector<double> values);

}  // namespace assay
