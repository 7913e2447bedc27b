// Who else computes on a device: the processes that a driver lists, and which of them are our own.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <vector>

namespace vendor {

struct Listed {
  std::uint32_t pid = 0;  // as the host or as this container counts: it depends on the driver
  std::optional<std::int64_t> memory;
};

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

}  // namespace vendor
