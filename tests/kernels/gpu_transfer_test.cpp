// Copies to, from and between pretended devices, and the cost of doing nothing.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/transfer.h"

#include "core/error.h"
#include "tests/kernels/check_op.h"
#include "tests/kernels/gpu_host.h"

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;
using vendor::host::Call;
using vendor::host::Settings;

class GpuTransfer : public GpuOnHost {
 protected:
  void two_devices(bool peers) {
    Settings settings;
    settings.devices = 2;
    settings.peers = peers;
    start(settings);
  }
  std::string reason(const std::string& op) {
    const Support answer = backend().supports(parse_op(op), 0);
    return answer.yes ? "supported" : answer.reason;
  }
};

TEST_F(GpuTransfer, MovesEveryByteOnEveryWay) {
  for (const char* ways : {"from=host_pinned to=device", "from=device to=host_pinned", "from=host_pageable to=device",
                           "from=device to=host_pageable", "from=device to=device", "from=host_pinned:0 to=device",
                           "from=host_pinned to=device path=kernel", "from=device to=host_pinned path=kernel",
                           "from=device to=device path=kernel", "from=host_pinned to=device both_ways=true",
                           "from=host_pinned to=device path=kernel both_ways=true"}) {
    for (const char* bytes : {"1", "15", "16", "4099", "100000"}) {
      expect_right(backend(), std::string("transfer bytes=") + bytes + " " + ways, Pattern::typical);
    }
  }
}

TEST_F(GpuTransfer, MovesTheSameBehindTheGateAndInAGraph) {
  for (const LaunchMode mode : {LaunchMode::stream, LaunchMode::graph}) {
    Preparation preparation;
    preparation.launch = mode;
    const Work work = single(parse_op("transfer bytes=1000 from=host_pinned to=device both_ways=true"));
    const auto program = prepare(work, preparation);
    program->fill(Pattern::typical, 3);
    program->run(1);
    program->run(5);
    EXPECT_EQ(program->read(1, 0, 1000), program->read(0, 0, 1000));
    EXPECT_EQ(program->read(3, 0, 1000), program->read(2, 0, 1000));
    EXPECT_THAT(program->choice().note, ::testing::Not(HasSubstr("did not wait")));
  }
}

TEST_F(GpuTransfer, NeverPutsPageableMemoryBehindTheGateOrIntoAGraph) {
  Preparation graph;
  graph.launch = LaunchMode::graph;
  const auto program = prepare(single(parse_op("transfer bytes=1000 from=host_pageable to=device")), graph);
  program->fill(Pattern::typical, 3);
  program->run(1);
  program->run(5);
  EXPECT_EQ(machine().count(Call::launch_graph), 0);
  EXPECT_THAT(program->choice().note, HasSubstr("pageable memory cannot be in"));
  EXPECT_THAT(program->choice().note, ::testing::Not(HasSubstr("did not wait")));
}

TEST_F(GpuTransfer, TimesBothWaysAtOnceByTheSlowerOne) {
  // Each way takes 1 us and 10,000 bytes at 10^10 bytes/s another 1 us; both at once take as long as one.
  for (const char* way : {"", " both_ways=true"}) {
    const auto program =
        prepare(single(parse_op(std::string("transfer bytes=10000 from=host_pinned to=device") + way)));
    program->fill(Pattern::typical, 3);
    program->run(1);
    EXPECT_NEAR(program->run(1)[0], 2e-6, 1e-12) << way;
  }
}

// The ladder: the driver's copy, a kernel that loads from the peer, a kernel that stores to it.
TEST_F(GpuTransfer, ReachesPeersByDriverLoadsAndStores) {
  two_devices(true);
  for (const char* ways :
       {"from=device to=device:1", "from=device:1 to=device", "from=device to=device:1 both_ways=true",
        "from=device:1 to=device path=kernel", "from=device to=device:1 path=kernel",
        "from=device to=device:1 path=kernel both_ways=true"}) {
    for (const char* bytes : {"1", "17", "70000"}) {
      expect_right(backend(), std::string("transfer bytes=") + bytes + " " + ways, Pattern::typical);
    }
  }
  const auto method = [&](const char* op) { return prepare(single(parse_op(op)))->choice().method; };
  EXPECT_EQ(method("transfer bytes=16 from=device to=device:1"), "driver copy");
  EXPECT_THAT(method("transfer bytes=16 from=device:1 to=device path=kernel"), HasSubstr("loads from the peer"));
  EXPECT_THAT(method("transfer bytes=16 from=device to=device:1 path=kernel"), HasSubstr("stores to the peer"));
}

TEST_F(GpuTransfer, CopiesThroughTheHostWherePeersDoNotReachEachOther) {
  two_devices(false);
  expect_right(backend(), "transfer bytes=70000 from=device to=device:1", Pattern::typical);
  const auto program = prepare(single(parse_op("transfer bytes=16 from=device to=device:1")));
  EXPECT_THAT(program->choice().note, HasSubstr("no peer access"));
  EXPECT_THAT(reason("transfer bytes=16 from=device to=device:1 path=kernel"), HasSubstr("cannot reach each other"));
}

TEST_F(GpuTransfer, SaysWhatCannotBeMeasured) {
  two_devices(true);
  EXPECT_THAT(reason("transfer bytes=16 from=host_pageable to=device path=kernel"), HasSubstr("pageable"));
  EXPECT_THAT(reason("transfer bytes=16 from=host_pageable to=device both_ways=true"),
              HasSubstr("one after the other"));
  EXPECT_THAT(reason("transfer bytes=16 from=host_pinned to=host_pinned"), HasSubstr("measured on the processor"));
  EXPECT_THAT(reason("transfer bytes=16 from=device to=device:2"), HasSubstr("there is no device 2"));
  EXPECT_THAT(reason("transfer bytes=16 from=device:1 to=device:1"), HasSubstr("on one of the two"));
  EXPECT_THAT(reason("transfer bytes=16 from=host_pinned to=device:1"), HasSubstr("on that device"));
  EXPECT_THAT(reason("transfer bytes=16 from=host_pinned:900 to=device"), HasSubstr("no NUMA node 900"));
}

TEST_F(GpuTransfer, RefusesHostMemoryThatThisMachineDoesNotHave) {
  Settings settings;
  settings.memory = std::int64_t{1} << 50;
  start(settings);
  try {
    prepare(single(parse_op("transfer bytes=4398046511104 from=host_pageable to=device")));
    FAIL() << "4 TiB of host memory were accepted";
  } catch (const OutOfMemory& error) {
    EXPECT_THAT(error.what(), HasSubstr("takes 4398046511104 bytes of host memory"));
  }
}

TEST_F(GpuTransfer, NamesTheNumaNodeThatWasAskedFor) {
  const auto program = prepare(single(parse_op("transfer bytes=5000 from=host_pinned:0 to=device")));
  EXPECT_THAT(program->choice().note, HasSubstr("NUMA node 0"));
}

class GpuLaunch : public GpuOnHost {
 protected:
  // Calls of this kind that one execution makes.
  int calls_of(const std::string& op, Call call) {
    const auto program = prepare(single(parse_op(op)));
    program->fill(Pattern::zero, 1);
    const int before = machine().count(call);
    EXPECT_THAT(program->run(1), SizeIs(1));
    return machine().count(call) - before;
  }
};

TEST_F(GpuLaunch, DoesAsManyAsWereAskedFor) {
  EXPECT_EQ(calls_of("launch kind=kernel count=100", Call::launch_kernel), 100);
  EXPECT_EQ(calls_of("launch kind=synchronise count=7", Call::synchronise), 7);
  EXPECT_EQ(calls_of("launch kind=allocate count=5 bytes=1000", Call::allocate), 5);
  EXPECT_EQ(calls_of("launch kind=graph count=50", Call::launch_graph), 1);
  EXPECT_EQ(calls_of("launch kind=graph count=50", Call::launch_kernel), 0);  // they are in the graph already
}

TEST_F(GpuLaunch, TakesTimeByTheHostsClock) {
  const auto program = prepare(single(parse_op("launch kind=kernel count=100")));
  EXPECT_GT(program->run(3)[0], 0);
  EXPECT_THAT(program->choice().method, HasSubstr("empty kernels"));
  EXPECT_THROW(program->read(0, 0, 1), Error);
  EXPECT_THROW(program->run(0), Error);
}

TEST_F(GpuLaunch, RefusesAnAllocationOfNothing) {
  Launch nothing;
  nothing.kind = LaunchKind::allocate;
  EXPECT_THAT(backend().supports(nothing, 0).reason, HasSubstr("at least one byte"));
}

}  // namespace
}  // namespace assay
