// Every call of the vendor fails in turn: the right exception comes out, and nothing is left behind.
// SPDX-License-Identifier: Apache-2.0
#include <functional>

#include "core/error.h"
#include "tests/kernels/gpu_host.h"

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using vendor::host::Call;
using vendor::host::Fault;
using vendor::host::Settings;

class GpuFaults : public GpuOnHost {
 protected:
  static Settings two_devices() {
    Settings settings;
    settings.devices = 2;
    return settings;
  }

  // All that a case may do.
  static void everything() {
    const auto backend = gpu::make_backend();
    backend->devices();
    Preparation preparation;
    preparation.operand_copies = 2;
    for (const LaunchMode mode : {LaunchMode::stream, LaunchMode::graph}) {
      preparation.launch = mode;
      use(*backend, two_lanes(16), preparation);
      use(*backend, single(parse_op("gemm m=2 n=2 k=2 a=fp8_e4m3.tensor b=fp8_e4m3.tensor d=bf16")), preparation);
    }
    for (const char* op :
         {"transfer bytes=100 from=host_pinned to=device both_ways=true",
          "transfer bytes=100 from=host_pageable to=device", "transfer bytes=100 from=host_pinned:0 to=device",
          "transfer bytes=100 from=device to=device:1", "transfer bytes=100 from=device:1 to=device path=kernel"}) {
      use(*backend, single(parse_op(op)), {});
    }
    for (const char* op : {"launch kind=kernel count=2", "launch kind=graph count=2", "launch kind=synchronise count=2",
                           "launch kind=allocate count=2 bytes=10"}) {
      backend->prepare(single(parse_op(op)), 0, {})->run(2);
    }
    backend->survey(Question::rounding, 0);
  }

  static void use(Backend& backend, const Work& work, const Preparation& preparation) {
    const auto program = backend.prepare(work, 0, preparation);
    program->fill(Pattern::typical, 1);
    program->run(1);
    program->run(3);
    program->run_by_step();
    program->footprint();
    program->read(0, 0, 1);
  }

  // What came out, as "DeviceLost: sentence"; empty where nothing did.
  static std::string outcome(const std::function<void()>& act) {
    try {
      act();
    } catch (const Unsupported& error) {
      return std::string("Unsupported: ") + error.what();
    } catch (const OutOfMemory& error) {
      return std::string("OutOfMemory: ") + error.what();
    } catch (const DeviceLost& error) {
      return std::string("DeviceLost: ") + error.what();
    } catch (const Error& error) {
      return std::string("Error: ") + error.what();
    }
    return "";
  }
};

const char* name_of(Fault fault) {
  switch (fault) {
    case Fault::error:
      return "Error: ";
    case Fault::unsupported:
      return "Unsupported: ";
    case Fault::out_of_memory:
      return "OutOfMemory: ";
    case Fault::device_lost:
      return "DeviceLost: ";
  }
  return "";
}

// Where a failure costs nothing: the program has done all, or does without.
bool may_pass(Call call, Fault fault) {
  if (call == Call::use || call == Call::synchronise) return true;  // while a program is taken down
  if (call == Call::describe) return true;  // a device that cannot be described is listed as such
  // A survey takes what it can get, and does without the stream-ordered allocator.
  if (fault == Fault::out_of_memory) return call == Call::allocate;
  return fault == Fault::unsupported && (call == Call::allocate_in_order || call == Call::release_in_order);
}

TEST_F(GpuFaults, NothingIsLeftWhicheverCallFails) {
  machine().reset(two_devices());
  ASSERT_EQ(outcome(everything), "");
  std::vector<int> counts;
  for (int call = 0; call < vendor::host::calls; ++call) counts.push_back(machine().count(static_cast<Call>(call)));
  for (int number = 0; number < vendor::host::calls; ++number) {
    const auto call = static_cast<Call>(number);
    const int most = counts[static_cast<std::size_t>(number)];
    EXPECT_GT(most, 0) << text(call) << " is never called";
    // Every one of the first, then ever fewer.
    for (int nth = 1; nth <= most; nth += 1 + nth / 12) {
      const auto fault = static_cast<Fault>(nth % 4);
      SCOPED_TRACE(std::string(text(call)) + " number " + std::to_string(nth) + " of " + std::to_string(most));
      machine().reset(two_devices());
      machine().fail(call, nth, fault);
      const std::string came = outcome(everything);
      if (!came.empty() || !may_pass(call, fault)) {
        EXPECT_THAT(came, ::testing::StartsWith(name_of(fault)));
        EXPECT_THAT(came, HasSubstr("the script says"));
      }
      EXPECT_EQ(machine().live().all(), 0);
      EXPECT_THAT(machine().complaints(), IsEmpty());
    }
  }
}

TEST_F(GpuFaults, AFaultInAKernelShowsWhenSomebodyWaitsAndLosesTheDevice) {
  for (int nth = 1; nth <= 12; ++nth) {
    machine().reset(two_devices());
    machine().fault_in_kernel(nth);
    const std::string came = outcome(everything);
    EXPECT_THAT(came, HasSubstr("DeviceLost: waiting for"));
    EXPECT_THAT(came, HasSubstr("an illegal access"));
    EXPECT_EQ(machine().live().all(), 0);
    EXPECT_THAT(machine().complaints(), IsEmpty());
  }
}

TEST_F(GpuFaults, AProgramThatFailedOnceCanBeUsedAgain) {
  const auto program = prepare(two_lanes(4));
  program->fill(Pattern::zero, 1);
  program->run(1);
  program->write(0, stored_floats({1, 1, 1, 1}));
  machine().fail(Call::record, 3, Fault::error);  // in the middle of what is behind the gate
  EXPECT_THROW(program->run(1), Error);
  program->write(0, stored_floats({1, 1, 1, 1}));
  program->run(1);
  EXPECT_THAT(program->read(0, 0, 2), ::testing::ElementsAre(12, 12));
}

}  // namespace
}  // namespace assay
