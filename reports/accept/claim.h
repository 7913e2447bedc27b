// What an offer promises, in the words that offers use: "8x H100 SXM 80GB, 2 TB NVMe, 26 vCPU, 240 GB RAM, NVLink".
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reports/catalogue.h"

namespace assay {

// "H100 is 30x A100 at inference"
struct SpeedClaim {
  std::string fast, slow;  // as written
  double factor = 1;
  bool training = false;
};

struct Claim {
  std::string text;  // as given
  std::optional<int> devices;
  std::string gpu_words;          // as written; empty: no card is named
  std::vector<const Gpu*> gpus;   // the catalogue's cards that the words can mean
  std::optional<double> memory;   // bytes a card, as sold: "80 GB" is 80 GiB
  std::optional<double> storage;  // bytes
  std::string storage_kind;       // "nvme", "ssd" or ""
  std::optional<double> cores;    // vCPUs
  std::optional<double> ram;      // bytes
  std::string link;               // "NVLink", "xGMI" or ""
  std::optional<int> pcie_generation, pcie_lanes;
  std::optional<double> price_per_hour;
  std::string currency;
  std::optional<SpeedClaim> speed;
};

// Throws BadInput with a sentence that names the words that are not understood, what could be meant, and an example.
Claim parse_claim(const std::string& text);

}  // namespace assay
