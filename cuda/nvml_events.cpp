// The event set of the management library.
// SPDX-License-Identifier: Apache-2.0
#include "cuda/nvml_events.h"

namespace vendor::nvml {

Events::Events(std::shared_ptr<const Library> library, const std::vector<Handle>& devices)
    : library_(std::move(library)) {
  if (library_->call(event_set, &set_) != Status::success) set_ = nullptr;
  if (set_ == nullptr) return;
  bool any = false;
  for (Handle device : devices)
    any = library_->call(event_register, device, event_critical_xid, set_) == Status::success || any;
  if (any) return;
  library_->call(event_set_free, set_);
  set_ = nullptr;
}

Events::~Events() {
  if (set_ != nullptr) library_->call(event_set_free, set_);
}

std::vector<Events::Event> Events::take() {
  std::vector<Event> all;
  if (set_ == nullptr) return all;
  constexpr std::uint32_t no_wait = 0;
  constexpr std::size_t most = 64;  // a broken card can repeat itself for ever
  EventData event{};
  while (all.size() < most && library_->call(event_wait, set_, &event, no_wait) == Status::success)
    if (event.kind == event_critical_xid) all.push_back({event.device, event.data});
  return all;
}

// Numbers and meanings from NVIDIA's "XID Errors" document, https://docs.nvidia.com/deploy/xid-errors/.
std::string xid_words(std::uint64_t xid) {
  switch (xid) {
    case 13:
      return "an error inside a kernel";
    case 31:
      return "an access to memory that is not there";
    case 43:
      return "a channel that stopped after a program's error";
    case 45:
      return "a program that was ended with work left";
    case 48:
      return "a double-bit ECC error";
    case 61:
    case 62:
      return "a halt of the GPU's own controller";
    case 63:
      return "a row or page that was set aside after memory errors";
    case 64:
      return "a row or page that could not be set aside after memory errors";
    case 74:
      return "an NVLink error";
    case 79:
      return "a GPU that has fallen off the bus";
    case 92:
      return "many corrected ECC errors";
    case 94:
      return "an uncorrectable ECC error that hit one program alone";
    case 95:
      return "an uncorrectable ECC error that may have hit every program";
    case 119:
    case 120:
      return "a GPU system processor that does not answer or has crashed";
    case 140:
      return "an unrecovered ECC error";
    default:
      return "";
  }
}

}  // namespace vendor::nvml
