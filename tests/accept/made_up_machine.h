// A healthy rented machine of two H100, made up in memory so that every rule knows what it needs and none complains.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/op.h"
#include "reports/accept/claim.h"
#include "results/run.h"

namespace assay::made_up {

// What a test changes to make one rule speak.
struct Rented {
  assay::Run run;
  std::vector<assay::Run> fleet;
  std::optional<Claim> claim;

  DeviceInfo& card(std::size_t number = 0);  // 0 or 1
  // Facts of the first card: the value, or the words.
  void fact(const std::string& name, double value, const std::string& reason = "");
  void fact(const std::string& name, const std::string& words, const std::string& reason = "");
  void without_fact(const std::string& name);
  // Facts of the host.
  void host(const std::string& name, double value);
  // Every row of the first card whose case begins so: makes its seconds `factor` times as long.
  void slower(const std::string& begins, double factor);
  Row& row(const std::string& begins, const std::string& metric = "seconds");  // the first such row of the first card
  void without_rows(const std::string& begins);
};

Rented healthy();
inline const char* const healthy_claim =
    "2x H100 SXM 80GB, 2 TB NVMe, 26 vCPU, 240 GB RAM, NVLink, PCIe 5.0 x16, H100 is 1x H100 at inference";

}  // namespace assay::made_up
