// ROCm SMI, opened at run time, for the one thing that /sys does not say in units: the counter of energy.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace vendor {

// Own prototypes, which have been the same since ROCm 5.2 (librocm_smi64.so.5 to .so.1 of ROCm 7).
class RocmSmi {
 public:
  static std::unique_ptr<RocmSmi> open();  // null where there is none, or where it finds no device
  ~RocmSmi();
  RocmSmi(const RocmSmi&) = delete;
  RocmSmi& operator=(const RocmSmi&) = delete;

  // Joules since some moment that does not matter, of the device at "0000:c1:00.0".
  std::optional<double> energy_joules(const std::string& pci) const;

 private:
  RocmSmi() = default;
  std::optional<std::uint32_t> index_of(const std::string& pci) const;

  int (*shut_down_)() = nullptr;
  int (*count_)(std::uint32_t*) = nullptr;
  int (*pci_id_)(std::uint32_t, std::uint64_t*) = nullptr;
  int (*energy_)(std::uint32_t, std::uint64_t*, float*, std::uint64_t*) = nullptr;
};

}  // namespace vendor
