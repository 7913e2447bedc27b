// The pretended machine: how many devices it has, what goes wrong on it, and what is left on it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/device.h"
#include "core/format.h"

namespace vendor::host {

// The calls that can be told to fail.
enum class Call : std::uint8_t {
  describe,
  use,
  memory_state,
  peer,
  allocate,
  allocate_pinned,
  pin,
  allocate_in_order,
  release_in_order,
  make_stream,
  make_event,
  record,
  wait,
  synchronise,
  seconds_between,
  copy,
  copy_peer,
  set_bytes,
  begin_capture,
  end_capture,
  launch_kernel,
  launch_graph,
  plan_matrix,
};
constexpr int calls = static_cast<int>(Call::plan_matrix) + 1;
const char* text(Call call);

enum class Fault : std::uint8_t { error, unsupported, out_of_memory, device_lost };

// What each device of the machine is. A partition or one die of a card is a device of its own.
struct Die {
  std::string name = "Pretended device";
  std::string architecture = "fibers";
  int architecture_number = 90;
  int multiprocessors = 4;
  std::int64_t last_cache = std::int64_t{256} << 10;                     // bytes
  std::vector<assay::Element> matrix_elements = {assay::Element::bf16};  // what its matrix units multiply
  std::vector<assay::Fact> facts;                                        // further ones
};

struct Settings {
  Die die;
  int devices = 1;
  std::string reason;  // why there are none, where devices is 0
  std::string cure;
  std::int64_t memory = std::int64_t{64} << 20;       // bytes of each device
  std::int64_t granularity = std::int64_t{64} << 10;  // bytes
  bool peers = true;                                  // whether devices can reach each other's memory
  bool integrated = false;
  double kernel_seconds = 1e-6;    // by the device's clock, of every kernel
  double bytes_per_second = 1e10;  // of copies, after 1 us each
  bool real_time = false;          // instead: as long as it takes here
  std::uint64_t order = 1;         // another order in which streams that need not wait for each other get on
  std::size_t queue_length = 1024;
  std::optional<std::int64_t> stuck_byte;  // its lowest bit stays 1, in the first block of 1 MiB or more of device 0
};

// What exists on the machine.
struct Live {
  int allocations = 0;
  int pinned = 0;
  int streams = 0;
  int events = 0;
  int graphs = 0;
  int all() const { return allocations + pinned + streams + events + graphs; }
};

class Machine {
 public:
  // A new machine. Whatever was on the old one is gone.
  void reset(const Settings& settings = {});
  const Settings& settings() const { return settings_; }

  // The n-th such call from now fails, n from 1.
  void fail(Call call, int nth, Fault fault);
  // The n-th kernel from now faults while it runs, which shows when somebody waits.
  void fault_in_kernel(int nth) { faulty_kernel_ = nth; }
  int count(Call call) const { return counts_[static_cast<std::size_t>(call)]; }

  Live live() const;

  // What a kernel or the host did wrong and no call could report: writing past a block, leaving others waiting.
  const std::vector<std::string>& complaints() const { return complaints_; }
  void complain(const std::string& what) { complaints_.push_back(what); }

  // For the implementation: counts the call, and fails as was asked.
  void called(Call call, const std::string& doing);
  bool kernel_faults() { return faulty_kernel_ > 0 && --faulty_kernel_ == 0; }
  void lose(const std::string& why) { lost_ = why; }
  const std::string& lost() const { return lost_; }
  int device = 0;                              // in use
  std::set<std::pair<int, int>> opened_peers;  // by device: whose memory its kernels may reach

 private:
  struct Planned {
    int nth = 0;
    Fault fault = Fault::error;
  };
  Settings settings_;
  std::array<int, static_cast<std::size_t>(calls)> counts_{};
  std::array<Planned, static_cast<std::size_t>(calls)> planned_{};
  int faulty_kernel_ = 0;
  std::string lost_;
  std::vector<std::string> complaints_;
};

Machine& machine();

}  // namespace vendor::host
