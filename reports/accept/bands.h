// What others measured on healthy cards of a kind, and where they draw their pass lines.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace assay {

// One line of reports/accept/bands.csv.
struct Band {
  std::string gpu;       // the catalogue's name
  std::string quantity;  // "bf16", "fp8", "memory", "host", "peer", "allreduce"
  bool healthy = false;  // measured on a healthy card; else a pass line
  double value = 0;      // flops/s or bytes/s
  int cards = 0;         // of an all-reduce; 0: any
  std::string who;
  std::string source;
};

const std::vector<Band>& builtin_bands();

// For `cards` cards together where the band is of several. Null where nobody publishes one.
const Band* find_band(const std::string& gpu, const std::string& quantity, bool healthy, int cards = 0);

}  // namespace assay
