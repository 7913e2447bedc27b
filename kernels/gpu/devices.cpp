// The vendor's description of each device, and the management library's facts.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/devices.h"

#include <exception>
#include <string>

#include "telemetry.h"

namespace assay::gpu {
namespace {

DeviceInfo described(int device) {
  try {
    return vendor::describe(device);
  } catch (const std::exception& error) {
    DeviceInfo info;
    info.id = std::string(vendor::backend_name) + ":" + std::to_string(device);
    info.backend = vendor::backend_name;
    info.vendor = vendor::vendor_name;
    info.name = "unusable device";
    Fact fact;
    fact.name = "usable";
    fact.text = "no";
    fact.reason = error.what();
    info.facts.push_back(fact);
    return info;
  }
}

void add_management(DeviceInfo& info) {
  const std::string pci = fact_text(info, "pci_address");
  if (pci.empty()) return;
  try {
    for (Fact& fact : vendor::management_facts(pci, info.unique_id)) {
      bool known = false;
      for (const Fact& other : info.facts) known = known || other.name == fact.name;
      if (!known) info.facts.push_back(std::move(fact));
    }
  } catch (const std::exception& error) {
    Fact fact;
    fact.name = "management_library";
    fact.reason = error.what();
    info.facts.push_back(fact);
  }
}

}  // namespace

std::string fact_text(const DeviceInfo& device, const std::string& name) {
  for (const Fact& fact : device.facts) {
    if (fact.name == name) return fact.text;
  }
  return "";
}

std::vector<DeviceInfo> list_devices(const vendor::Availability& found) {
  std::vector<DeviceInfo> devices;
  for (int device = 0; device < found.devices; ++device) {
    devices.push_back(described(device));
    add_management(devices.back());
  }
  return devices;
}

Fact availability_fact(const vendor::Availability& found) {
  Fact fact;
  fact.name = std::string(vendor::backend_name) + "_devices";
  fact.source = "driver";
  if (found.devices > 0) {
    fact.text = std::to_string(found.devices);
    return fact;
  }
  fact.reason = found.reason + (found.cure.empty() ? "" : "; to mend it: " + found.cure);
  return fact;
}

}  // namespace assay::gpu
