// Who else uses a device, as far as that can be known from where we are.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <vector>

#include "cuda/nvml_device.h"

namespace vendor::nvml {

struct Listed {
  std::uint32_t pid = 0;  // as the host or as this container counts: it depends on the driver's version
  std::optional<std::int64_t> memory;
};

// Compute and graphics processes of the device or partition, each once. Absent where the driver does not tell.
std::optional<std::vector<Listed>> processes(Device& device);

// The layout of the entries changed three times under two names, once without a new name (drivers 535.43 to 535.86),
// so it is read off from how much was written: 16, 24 or 32 bytes an entry. `written` bytes hold `count` entries.
std::size_t entry_bytes(std::size_t written, std::size_t count);

// The processes of one run: the one that started us (or we, where nobody of ours did) and all its descendants.
class Family {
 public:
  explicit Family(const std::filesystem::path& root = "/", pid_t first = 0);  // 0: the parent of this process

  // At least so many of those listed are not of this run; absent is "who knows". A process that is hidden from us, or
  // has ended meanwhile, proves nothing. In a container pids cannot be compared, since many drivers tell the host's;
  // then only a number larger than that of all our processes proves others.
  std::optional<int> strangers(const std::vector<Listed>& listed) const;

  bool own_numbering() const { return contained_; }  // whether pids here differ from the host's

 private:
  std::set<std::uint32_t> pids_;  // ours
  std::set<std::uint32_t> seen_;  // all that are alive
  bool contained_ = false;
};

}  // namespace vendor::nvml
