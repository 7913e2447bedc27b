// ROCm SMI, opened at run time.
// SPDX-License-Identifier: Apache-2.0
#include "hip/rocm_smi.h"

#include <dlfcn.h>

#include <cstdio>

#include "gpu/shared_libraries.h"
#include "hip/rocm.h"

namespace vendor {
namespace {

template <class Function>
void look_up(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
}

}  // namespace

std::unique_ptr<RocmSmi> RocmSmi::open() {
  const SharedLibrary smi_library = {
      "ASSAY_ROCM_SMI",
      {"librocm_smi64.so.1", "librocm_smi64.so.7", "librocm_smi64.so.6", "librocm_smi64.so.5", "librocm_smi64.so"},
      {"rsmi_init", "rsmi_shut_down", "rsmi_num_monitor_devices", "rsmi_dev_pci_id_get", "rsmi_dev_energy_count_get"}};
  void* library = open_library(smi_library, rocm_folders()).handle;
  if (library == nullptr) return nullptr;
  std::unique_ptr<RocmSmi> smi(new RocmSmi);
  int (*start)(std::uint64_t) = nullptr;
  look_up(library, "rsmi_init", start);
  look_up(library, "rsmi_num_monitor_devices", smi->count_);
  look_up(library, "rsmi_dev_pci_id_get", smi->pci_id_);
  look_up(library, "rsmi_dev_energy_count_get", smi->energy_);
  if (start(0) != 0) return nullptr;
  look_up(library, "rsmi_shut_down", smi->shut_down_);
  return smi;
}

RocmSmi::~RocmSmi() {
  if (shut_down_ != nullptr) shut_down_();
}

// The identifier has the domain above 32 bits, a partition's number in 4 bits from 28, and bus, device and function
// below as PCI packs them.
std::optional<std::uint32_t> RocmSmi::index_of(const std::string& pci) const {
  std::uint32_t count = 0;
  if (count_(&count) != 0) return std::nullopt;
  for (std::uint32_t i = 0; i < count; ++i) {
    std::uint64_t id = 0;
    if (pci_id_(i, &id) != 0) continue;
    char text[32];
    std::snprintf(text, sizeof text, "%04x:%02x:%02x.%x", static_cast<unsigned>(id >> 32U),
                  static_cast<unsigned>(id >> 8U & 0xFFU), static_cast<unsigned>(id >> 3U & 0x1FU),
                  static_cast<unsigned>(id & 7U));
    if (pci == text) return i;
  }
  return std::nullopt;
}

std::optional<double> RocmSmi::energy_joules(const std::string& pci) const {
  const auto index = index_of(pci);
  if (!index) return std::nullopt;
  std::uint64_t counted = 0;
  std::uint64_t when = 0;
  float microjoules = 0;  // of one count
  if (energy_(*index, &counted, &microjoules, &when) != 0 || counted == 0 || microjoules <= 0) return std::nullopt;
  return static_cast<double>(counted) * static_cast<double>(microjoules) * 1e-6;
}

}  // namespace vendor
