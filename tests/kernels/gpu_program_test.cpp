// Programs of the GPU back end, on the pretended vendor: order, gate, graphs, copies, memory, refusals.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/program.h"

#include <cmath>

#include "core/error.h"
#include "kernels/gpu/order.h"
#include "tests/kernels/gpu_host.h"

namespace assay {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using vendor::host::Call;
using vendor::host::Settings;

class GpuProgram : public GpuOnHost {};

TEST_F(GpuProgram, AllocatesWhatWasPlanned) {
  const auto program = prepare(two_steps(100'000));
  const Footprint footprint = program->footprint();
  // 400,000 bytes each are 1562.5 times 256, so 400,128 are taken; all three live at once.
  EXPECT_EQ(footprint.planned, 3 * 400'128);
  EXPECT_EQ(footprint.allocated, 3 * 400'128);
  ASSERT_TRUE(footprint.device.has_value());
  EXPECT_EQ(*footprint.device, 19 * 65'536);  // the pretended device rounds up to 64 KiB: 1,200,384 / 65,536 = 18.3
  EXPECT_EQ(footprint.workspace, 0);
}

TEST_F(GpuProgram, RunsStepsInOrder) {
  const auto program = prepare(two_steps(3));
  program->fill(Pattern::zero, 1);
  program->write(0, stored_floats({1, 2, -4}));
  EXPECT_THAT(program->run(1), SizeIs(1));
  EXPECT_THAT(program->read(2, 0, 3), ElementsAre(9, 18, -36));
  EXPECT_THAT(program->read(2, 1, 2), ElementsAre(18, -36));
}

TEST_F(GpuProgram, PoisonsWhatIsNotPersistent) {
  const auto program = prepare(two_steps(10));
  program->fill(Pattern::exact, 1);
  for (const double value : program->read(1, 0, 10)) EXPECT_TRUE(std::isnan(value));
}

TEST_F(GpuProgram, RefusesWrongWritesReadsAndRuns) {
  const auto program = prepare(two_steps(4));
  EXPECT_THROW(program->write(0, stored_floats({1, 2, 3})), Error);
  EXPECT_THROW(program->write(1, stored_floats({1, 2, 3, 4})), Error);  // y is not persistent
  EXPECT_THROW(program->write(9, stored_floats({1})), Error);
  EXPECT_THROW(program->read(0, 3, 2), Error);
  EXPECT_THROW(program->read(0, -1, 1), Error);
  EXPECT_THROW(program->run(0), Error);
  EXPECT_THROW(backend().prepare(two_steps(4), 1, {}), Error);
}

TEST_F(GpuProgram, RotatesThroughCopiesOfTheOperands) {
  Preparation three;
  three.operand_copies = 3;
  const auto program = prepare(single(parse_op("gemm m=1 n=1 k=1 a=fp32 b=fp32 d=fp32 beta=1")), three);
  EXPECT_EQ(program->footprint().planned, 3 * 3 * 256);
  EXPECT_EQ(program->footprint().workspace, 4096);  // of the pretended library, for all copies
  program->fill(Pattern::zero, 1);
  program->write(0, stored_floats({2}));
  program->write(1, stored_floats({5}));
  program->run(4);                                       // copies 0, 1, 2 and 0 again
  EXPECT_THAT(program->read(2, 0, 1), ElementsAre(20));  // so copy 0 was added to twice
}

TEST_F(GpuProgram, FillsAllCopiesAlike) {
  Preparation two;
  two.operand_copies = 2;
  const auto program = prepare(single(parse_op("gemm m=1 n=1 k=1 a=fp32 b=fp32 d=fp32 beta=1")), two);
  program->fill(Pattern::constant, 1);  // 1 everywhere
  program->run(3);
  EXPECT_THAT(program->read(2, 0, 1), ElementsAre(3));  // 1 + 1 + 1: copy 0 in executions 1 and 3
}

// Whatever order the streams get on in, lanes wait for each other where they must and only there.
TEST_F(GpuProgram, KeepsLanesInOrderWithinAndBetweenExecutions) {
  for (std::uint64_t order = 1; order <= 40; ++order) {
    Settings settings;
    settings.order = order;
    start(settings);
    for (const LaunchMode mode : {LaunchMode::stream, LaunchMode::graph}) {
      Preparation preparation;
      preparation.launch = mode;
      const auto program = prepare(two_lanes(3), preparation);
      program->fill(Pattern::zero, 1);
      program->write(0, stored_floats({1, -2, 5}));
      EXPECT_THAT(program->run(1), SizeIs(2));
      program->run(2);
      // 12^3 = 1728 times as much after three executions.
      ASSERT_THAT(program->read(0, 0, 3), ElementsAre(1728, -3456, 8640)) << "in order " << order;
    }
  }
}

TEST(GpuOrder, WaitsWhereLanesShareWhatOneOfThemWrites) {
  const Work work = two_lanes(4);
  const gpu::Order order = gpu::order_of(work, plan(work, 256));
  const auto list = [&](std::size_t step) {
    std::vector<std::pair<int, bool>> waits;
    for (const gpu::Wait& wait : order.waits[step]) waits.emplace_back(wait.step, wait.execution_before);
    return waits;
  };
  using Waits = std::vector<std::pair<int, bool>>;
  // Step 0 reads a, which step 3 of the execution before wrote. It also writes b, which step 1 read before step 3.
  EXPECT_EQ(list(0), (Waits{{3, true}}));
  EXPECT_EQ(list(1), (Waits{{0, false}, {2, true}}));  // reads b; writes c, which step 2 of the execution before read
  EXPECT_EQ(list(2), (Waits{{1, false}}));             // reads c; d was read by step 3, which lane 0 has waited for
  EXPECT_EQ(list(3), (Waits{{2, false}}));             // reads d
}

TEST(GpuOrder, WaitsForTheStepsWhoseMemoryIsTakenOver) {
  // x goes to t on lane 0 and on to y; u on lane 1 is made from w later and may lie where t was.
  Work work;
  work.name = "taking over";
  work.lanes = 2;
  work.tensors = {float_vector("x", 64, true), float_vector("t", 64, false), float_vector("y", 64, true),
                  float_vector("w", 64, true), float_vector("u", 64, false), float_vector("v", 64, true)};
  const Stream scale = stream_of(StreamKind::scale, 64);
  work.steps = {Step{scale, {0, 1}, 0, ""}, Step{scale, {1, 2}, 0, ""}, Step{scale, {3, 4}, 1, ""},
                Step{scale, {4, 5}, 1, ""}};
  const Plan planned = plan(work, 256);
  ASSERT_EQ(planned.offset[1], planned.offset[4]) << "the plan gives u the memory of t";
  const gpu::Order order = gpu::order_of(work, planned);
  ASSERT_THAT(order.waits[2], SizeIs(1));
  EXPECT_EQ(order.waits[2][0].step, 1);  // which read t
  EXPECT_FALSE(order.waits[2][0].execution_before);
  ASSERT_THAT(order.waits[0], SizeIs(1));
  EXPECT_EQ(order.waits[0][0].step, 3);  // of the execution before, which read u
  EXPECT_TRUE(order.waits[0][0].execution_before);
}

TEST(GpuOrder, LanesThatShareNothingDoNotWait) {
  Work work;
  work.name = "side by side";
  work.lanes = 2;
  work.tensors = {float_vector("x", 8, true), float_vector("y", 8, true), float_vector("u", 8, true),
                  float_vector("v", 8, true)};
  work.steps = {Step{stream_of(StreamKind::copy, 8), {0, 1}, 0, ""},
                Step{stream_of(StreamKind::copy, 8), {2, 3}, 1, ""}};
  const gpu::Order order = gpu::order_of(work, plan(work, 256));
  EXPECT_THAT(order.waits, Each(SizeIs(0)));
  EXPECT_THAT(order.awaited, Each(false));
}

TEST_F(GpuProgram, TimesExecutionsByTheDevicesClock) {
  const auto program = prepare(single(parse_op("gemm m=2 n=2 k=2 a=fp32 b=fp32 d=fp32")));
  program->fill(Pattern::exact, 1);
  program->run(1);
  // A pretended product takes 2 us. A thousand are more than a queue holds, and must still be added up.
  EXPECT_NEAR(program->run(10)[0], 20e-6, 1e-12);
  EXPECT_NEAR(program->run(1000)[0], 2e-3, 1e-9);
  EXPECT_THAT(program->choice().note, Not(HasSubstr("did not wait")));
}

TEST_F(GpuProgram, TheFirstRunIsNotHeldByTheGate) {
  const auto program = prepare(single(parse_op("gemm m=2 n=2 k=2 a=fp32 b=fp32 d=fp32")));
  program->fill(Pattern::exact, 1);
  const int before = machine().count(Call::launch_kernel);
  program->run(1);
  EXPECT_EQ(machine().count(Call::launch_kernel) - before, 1);  // the product alone
  program->run(1);
  EXPECT_EQ(machine().count(Call::launch_kernel) - before, 3);  // the gate and the product
}

TEST_F(GpuProgram, GoesOnWithoutTheGateWhereTheQueueIsTooShortForIt) {
  Settings settings;
  settings.queue_length = 8;
  start(settings);
  const auto program = prepare(single(parse_op("gemm m=1 n=1 k=1 a=fp32 b=fp32 d=fp32 beta=1")));
  program->fill(Pattern::constant, 1);
  program->run(1);
  program->run(50);
  EXPECT_THAT(program->choice().note, HasSubstr("did not wait for the host"));
  EXPECT_THAT(program->read(2, 0, 1), ElementsAre(52));  // 1 and 51 times 1
  program->run(50);
  EXPECT_THAT(program->read(2, 0, 1), ElementsAre(102));
}

TEST_F(GpuProgram, LaunchesGraphsWhenAskedTo) {
  Preparation graph;
  graph.launch = LaunchMode::graph;
  graph.operand_copies = 2;
  const auto program = prepare(single(parse_op("gemm m=1 n=1 k=1 a=fp32 b=fp32 d=fp32 beta=1")), graph);
  program->fill(Pattern::constant, 1);
  program->run(1);
  EXPECT_EQ(machine().count(Call::launch_graph), 0) << "kernels are loaded by a plain run first";
  EXPECT_NEAR(program->run(3)[0], 6e-6, 1e-12);
  EXPECT_EQ(machine().count(Call::launch_graph), 3);
  EXPECT_EQ(machine().count(Call::end_capture), 2);     // one for each copy
  EXPECT_THAT(program->read(2, 0, 1), ElementsAre(4));  // 1, the first run, and copy 0 in the first and third of three
  EXPECT_THAT(program->choice().note, HasSubstr("launched as a graph"));
}

TEST_F(GpuProgram, TimesEachStepWhenAsked) {
  const auto program = prepare(two_steps(1000));
  program->fill(Pattern::typical, 1);
  const auto seconds = program->run_by_step();
  EXPECT_THAT(seconds, SizeIs(2));
  EXPECT_THAT(seconds, Each(::testing::Gt(0)));
}

TEST_F(GpuProgram, SaysWhichMethodsItTook) {
  EXPECT_EQ(prepare(single(parse_op("gemm m=2 n=2 k=2 a=fp32 b=fp32 d=fp32")))->choice().method,
            "pretended library 1.0");
  Preparation small;
  small.workspace_limit = 100;
  const auto limited = prepare(single(parse_op("gemm m=2 n=2 k=2 a=fp32 b=fp32 d=fp32")), small);
  EXPECT_EQ(limited->choice().workspace, 100);
}

TEST_F(GpuProgram, RefusesWorkThatDoesNotFit) {
  try {
    prepare(two_steps(std::int64_t{1} << 30));
    FAIL() << "12 GiB were accepted by a device of 64 MiB";
  } catch (const OutOfMemory& error) {
    EXPECT_THAT(error.what(), HasSubstr("12884901888 bytes"));  // 3 * 2^30 * 4
  }
}

TEST_F(GpuProgram, SkipsWhatTheLibraryCannotDo) {
  const Op op = parse_op("gemm m=32 n=32 k=32 a=fp4_e2m1.block16_e4m3 b=fp4_e2m1.block16_e4m3 d=bf16");
  EXPECT_FALSE(backend().supports(op, 0).yes);
  EXPECT_THAT(backend().supports(op, 0).reason, HasSubstr("block scales"));
  EXPECT_THROW(prepare(single(op)), Unsupported);
}

}  // namespace
}  // namespace assay
