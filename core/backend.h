// The contract between the program and its plug-ins: a back end makes work ready and runs it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/device.h"
#include "core/fill.h"
#include "core/telemetry.h"
#include "core/work.h"

namespace assay {

enum class Algorithm : std::uint8_t { by_default, best };
enum class LaunchMode : std::uint8_t { stream, graph };

// Lets workers that measure together start together. The front provides it; under MPI, MPI does.
class __attribute__((visibility("default"))) Rendezvous {
 public:
  virtual ~Rendezvous() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual void barrier() = 0;                                                // throws Error when a member is gone
  virtual std::vector<std::string> all_gather(const std::string& mine) = 0;  // by rank
};

struct Preparation {
  Algorithm algorithm = Algorithm::by_default;
  std::optional<std::int64_t> workspace_limit;  // bytes
  LaunchMode launch = LaunchMode::stream;
  int operand_copies = 1;  // the executions of one run rotate through them, so that a working set stays cold
  int threads = 0;         // host threads; 0: all that are allowed
  Rendezvous* rendezvous = nullptr;
};

// What the back end took to do the work. It goes into the row.
struct Choice {
  std::string method;    // "onednn 2.6.3 brg:avx512_core", "openblas 0.3.21 SkylakeX", "own avx512"
  std::string executed;  // the format that really multiplies, where the back end knows: "bf16"
  std::string accumulated;
  std::int64_t workspace = 0;   // bytes
  std::optional<double> flops;  // the true number for an Issue
  std::string note;             // anything a reader must know
  bool planted = false;         // it takes longer than it must on purpose, to test who reads its times; no judge may
};

// Bytes by kind of counter; see docs/method.md.
struct Footprint {
  std::int64_t planned = 0;              // what plan() says
  std::int64_t allocated = 0;            // what was asked of the system for tensors
  std::optional<std::int64_t> reserved;  // what an allocator holds
  std::optional<std::int64_t> device;    // what the device or the kernel reports for this process
  std::int64_t workspace = 0;
};

// Prepared work. Not thread-safe. Destruction frees everything.
class __attribute__((visibility("default"))) Program {
 public:
  virtual ~Program() = default;

  // Puts initial_value() into every persistent tensor (all copies), and NaN or an improbable value into the others.
  virtual void fill(Pattern pattern, std::uint64_t seed) = 0;

  // Raw stored bytes of a whole persistent tensor; elements are packed as in memory. Throws Error on a wrong size.
  virtual void write(int tensor, const std::vector<std::byte>& stored) = 0;

  // Elements [first, first + count) of copy 0, decoded.
  virtual std::vector<double> read(int tensor, std::int64_t first, std::int64_t count) = 0;

  // Executes the work `executions` times back to back and returns the seconds of each lane for all of them together, by
  // the device's clock (the host's for launches). Copy 0 is used by the first execution.
  virtual std::vector<double> run(int executions) = 0;

  // Runs once and returns the seconds of each step: for the split by phase, not for rates.
  virtual std::vector<double> run_by_step() = 0;

  virtual Footprint footprint() const = 0;
  virtual Choice choice() const = 0;
};

struct Support {
  bool yes = false;
  std::string reason;  // a sentence, where the answer is no
};

// A question that is answered by facts, not by samples.
enum class Question : std::uint8_t {
  capacity,      // how much memory can really be had; never drives the machine out of memory
  context_cost,  // what merely using the device takes
  rounding,      // how the allocator rounds
  limits,        // quotas, affinity, partitions
  integrity,     // whether all memory of a device holds what is written to it; throws Error where it does not
};

class __attribute__((visibility("default"))) Backend {
 public:
  virtual ~Backend() = default;
  virtual std::vector<DeviceInfo> devices() = 0;           // empty and no throw: none usable
  virtual std::vector<Fact> diagnosis() = 0;               // what was looked up, found or missed
  virtual Support supports(const Op& op, int device) = 0;  // never throws
  virtual std::unique_ptr<Program> prepare(const Work& work, int device, const Preparation& preparation) = 0;
  virtual std::vector<Fact> survey(Question question, int device) = 0;
};

// What a plug-in exports as `extern "C" const assay::Plugin* assay_plugin()`.
struct Plugin {
  const char* stamp;  // must be first, and must stay a C string: it is compared before anything else is believed
  const char* name;
  std::unique_ptr<Backend> (*create_backend)();
  std::unique_ptr<Telemetry> (*create_telemetry)();  // may be null
};

}  // namespace assay

// Every plug-in defines it, and exports nothing else. Declared here, since the build hides symbols by default.
extern "C" __attribute__((visibility("default"))) const assay::Plugin* assay_plugin();
