// Xid errors as they happen: the driver's numbers for what went wrong.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cuda/nvml_device.h"

namespace vendor::nvml {

// Hears of the errors of those devices from now on. Where the driver or a container does not allow it, it hears
// nothing.
class Events {
 public:
  Events(std::shared_ptr<const Library> library, const std::vector<Handle>& devices);
  ~Events();
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  struct Event {
    Handle device;
    std::uint64_t xid;
  };
  std::vector<Event> take();  // what has come since the last call; does not wait
  bool hears() const { return set_ != nullptr; }

 private:
  std::shared_ptr<const Library> library_;
  EventSet set_ = nullptr;
};

// "a double-bit ECC error"; empty for those that are not known here.
std::string xid_words(std::uint64_t xid);

}  // namespace vendor::nvml
