// What the management library says of one device, in units of ours. Every answer may be absent.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cuda/nvml.h"

namespace vendor::nvml {

// A pair that may be known by half.
struct Switch {
  std::optional<bool> current;
  std::optional<bool> pending;  // after the next reset
};

struct Counts {
  std::optional<std::int64_t> corrected;
  std::optional<std::int64_t> uncorrected;
};

struct PowerLimits {  // watts
  std::optional<double> enforced;
  std::optional<double> by_default;
  std::optional<double> least;
  std::optional<double> most;
};

struct Remapped {
  std::int64_t corrected = 0;    // rows replaced after errors that were corrected
  std::int64_t uncorrected = 0;  // ... that were not
  bool pending = false;
  bool failed = false;
};

struct Pcie {
  std::optional<int> generation;  // now
  std::optional<int> width;
  std::optional<int> generation_most;  // of this card in this slot
  std::optional<int> width_most;
  std::optional<int> generation_of_card;
};

struct Links {
  int present = 0;
  int active = 0;
  std::optional<double> bytes_per_second;  // of one link, one way; the slowest active one
  std::optional<int> version;
};

// Not thread-safe: it remembers what a device does not tell, and does not ask for that again. What the library writes
// where it has no number, and numbers that cannot be, are absent.
class Device {
 public:
  // `own` is a partition of `whole`, or the same.
  Device(std::shared_ptr<const Library> library, Handle whole, Handle own);

  const Library& library() const { return *library_; }
  Handle whole() const { return whole_; }
  Handle own() const { return own_; }
  bool partition() const { return whole_ != own_; }

  // Set once the driver says that the device is gone; nothing more is asked then.
  std::optional<Status> lost() const { return lost_; }

  std::string pci();   // "0000:3b:00.0", lower case; empty where unknown
  std::string uuid();  // of the partition where it is one
  std::string text(const Text& question);

  std::optional<double> clock_hertz(ClockKind kind);
  std::optional<double> clock_most_hertz(ClockKind kind);
  std::optional<double> clock_set_hertz(ClockKind kind);  // applications clocks
  std::optional<std::uint64_t> clock_reasons();

  std::optional<double> power_watts();  // at this instant where the driver tells; else the mean of the last second
  PowerLimits power_limits();
  std::optional<double> energy_joules();
  std::optional<double> temperature_celsius();
  std::optional<double> memory_temperature_celsius();

  std::optional<double> busy();                   // share of time, 0..1
  std::optional<std::int64_t> memory_used();      // of the partition; without what the driver keeps, where it tells
  std::optional<std::int64_t> memory_total();     // of the partition
  std::optional<std::int64_t> memory_reserved();  // by the driver

  Switch ecc();
  Counts ecc_errors(CounterKind kind);
  std::optional<Remapped> remapped_rows();
  std::optional<std::int64_t> retired_pages();  // older cards have those instead of rows
  std::optional<bool> retirement_pending();

  Pcie pcie();
  std::optional<std::int64_t> pcie_replays();
  std::optional<Links> links();
  std::optional<std::int64_t> link_errors();  // all kinds of all links; replays are in it

  Switch mig();
  int mig_instances();
  std::optional<Attributes> attributes();

  std::optional<ComputeMode> compute_mode();
  std::optional<bool> persistence();
  std::optional<Virtualisation> virtualisation();
  std::optional<bool> licensed();  // a vGPU's; absent where none is needed
  struct Fabric {
    FabricState state = FabricState::not_supported;
    Status status = Status::success;  // of the registration, where it is completed
  };
  std::optional<Fabric> fabric();

  // Asks unless this question has been refused before; remembers a refusal.
  template <class... Arguments>
  bool ask(const Call<Arguments...>& symbol, int variant, std::common_type_t<Arguments>... arguments) {
    if (lost_ || refused_.count({symbol.name, variant}) != 0) return false;
    return note(library_->call(symbol, arguments...), symbol.name, variant);
  }

 private:
  bool note(Status status, const char* question, int variant);
  std::optional<std::int64_t> number(const Number& question, std::int64_t least, std::int64_t most);
  std::optional<double> watts(const Number& question);
  std::optional<double> field(std::uint32_t field, std::uint32_t scope);
  std::optional<std::int64_t> field_sum(const std::vector<std::uint32_t>& fields, unsigned scopes);
  std::optional<double> clock(const Call<Handle, ClockKind, std::uint32_t*>& question, ClockKind kind);
  std::optional<std::int64_t> pages(Retirement why);

  std::shared_ptr<const Library> library_;
  Handle whole_;
  Handle own_;
  std::optional<Status> lost_;
  std::set<std::pair<std::string, int>> refused_;
};

// What holds the clock back, in the words of core/telemetry.h; "none" where nothing does.
std::string throttle_words(std::uint64_t reasons);

// "0000:3b:00.0" from any way of writing it: "00000000:3B:00.0", "3b:00.0".
std::string plain_pci(const std::string& written);

// Words that mean "no answer" are none: "N/A", "[Not Supported]", "0".
std::string real_text(const std::string& said);

}  // namespace vendor::nvml
