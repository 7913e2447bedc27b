// The pretended machine's script.
// SPDX-License-Identifier: Apache-2.0
#include "tests/host_vendor/machine.h"

#include "core/error.h"
#include "tests/host_vendor/memory.h"
#include "tests/host_vendor/queue.h"

namespace vendor::host {
namespace {

[[noreturn]] void raise(Fault fault, const std::string& doing) {
  switch (fault) {
    case Fault::unsupported:
      throw assay::Unsupported(doing + ": the script says that it is not supported");
    case Fault::out_of_memory:
      throw assay::OutOfMemory(doing + ": the script says that there is no memory");
    case Fault::device_lost:
      throw assay::DeviceLost(doing + ": the script says that the device is lost");
    case Fault::error:
      break;
  }
  throw assay::Error(doing + ": the script says so");
}

}  // namespace

const char* text(Call call) {
  constexpr std::array<const char*, static_cast<std::size_t>(calls)> names{"describe",
                                                                           "use",
                                                                           "memory_state",
                                                                           "peer",
                                                                           "allocate",
                                                                           "allocate_pinned",
                                                                           "pin",
                                                                           "allocate_in_order",
                                                                           "release_in_order",
                                                                           "make_stream",
                                                                           "make_event",
                                                                           "record",
                                                                           "wait",
                                                                           "synchronise",
                                                                           "seconds_between",
                                                                           "copy",
                                                                           "copy_peer",
                                                                           "set_bytes",
                                                                           "begin_capture",
                                                                           "end_capture",
                                                                           "launch_kernel",
                                                                           "launch_graph",
                                                                           "plan_matrix"};
  return names[static_cast<std::size_t>(call)];
}

void Machine::reset(const Settings& settings) {
  forget_queues();
  forget_memory();
  *this = Machine();
  settings_ = settings;
}

void Machine::fail(Call call, int nth, Fault fault) { planned_[static_cast<std::size_t>(call)] = {nth, fault}; }

void Machine::called(Call call, const std::string& doing) {
  const auto index = static_cast<std::size_t>(call);
  ++counts_[index];
  if (!lost_.empty()) throw assay::DeviceLost(doing + ": " + lost_);
  Planned& planned = planned_[index];
  if (planned.nth == 0 || --planned.nth != 0) return;
  if (planned.fault == Fault::device_lost) lost_ = "the script says that the device is lost";
  raise(planned.fault, doing);
}

Live Machine::live() const {
  Live live;
  count_memory(live);
  count_queues(live);
  return live;
}

Machine& machine() {
  static Machine one;
  return one;
}

}  // namespace vendor::host
