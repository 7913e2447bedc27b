// The vendor's description of each device, and the management library's facts.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/devices.h"

#include <exception>
#include <string>

#include "core/ops/gemm.h"
#include "gpu/telemetry.h"
#include "kernels/gpu/matrix_rate.h"
#include "kernels/gpu/memory.h"

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

void append(std::string& list, const std::string& item) { list += (list.empty() ? "" : ",") + item; }

void add_list(DeviceInfo& info, const std::string& name, const std::string& list, const std::string& reason) {
  if (list.empty()) return;
  Fact fact;
  fact.name = name;
  fact.text = list;
  fact.reason = reason;
  info.facts.push_back(fact);
}

// What the choice of cases needs to know besides the device itself.
void add_surroundings(DeviceInfo& info, int device, int devices) {
  std::string peers;
  for (int other = 0; other < devices; ++other) {
    if (other != device) append(peers, std::to_string(other));
  }
  add_list(info, "peer_devices", peers, "numbers of the other devices of this kind");
  constexpr int most_nodes = 64;
  std::string nodes;
  for (int node = 0; node < most_nodes; ++node) {
    if (node_support(node).yes) append(nodes, std::to_string(node));
  }
  add_list(info, "host_numa_nodes", nodes, "parts of the host's memory");
}

void add_matrix_formats(DeviceInfo& info, int device) {
  struct Way {
    Format operands;
    Element accumulate;
  };
  const Way ways[] = {{{Element::fp64, Scaling::none}, Element::fp64},
                      {{Element::tf32, Scaling::none}, Element::fp32},
                      {{Element::bf16, Scaling::none}, Element::fp32},
                      {{Element::fp16, Scaling::none}, Element::fp32},
                      {{Element::fp8_e4m3, Scaling::none}, Element::fp32},
                      {{Element::fp8_e5m2, Scaling::none}, Element::fp32},
                      {{Element::fp8_e4m3_fnuz, Scaling::none}, Element::fp32},
                      {{Element::fp8_e5m2_fnuz, Scaling::none}, Element::fp32},
                      {{Element::int8, Scaling::none}, Element::int32},
                      {{Element::fp8_e4m3, Scaling::block32_ue8m0}, Element::fp32},
                      {{Element::fp4_e2m1, Scaling::block32_ue8m0}, Element::fp32},
                      {{Element::fp4_e2m1, Scaling::block16_e4m3}, Element::fp32}};
  std::string formats;
  for (const Way& way : ways) {
    Issue issue;
    issue.operands = way.operands;
    issue.accumulate = way.accumulate;
    issue.unit = Unit::matrix;
    if (matrix_rate_support(issue, device).yes) append(formats, text(way.operands));
  }
  add_list(info, "matrix_formats", formats, "what the matrix units multiply");
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
    if (fact_text(devices.back(), "usable") == "no") continue;
    add_surroundings(devices.back(), device, found.devices);
    add_matrix_formats(devices.back(), device);
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
