// Programs of the CPU plug-in: memory by the plan, fills, copies, refusals.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "core/error.h"
#include "kernels/cpu/backend.h"
#include "kernels/cpu/fill.h"
#include "tests/kernels/check_op.h"

namespace assay {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// y = 3 x, then z = 3 y: y lives in between only.
Work two_steps(std::int64_t count) {
  Work work;
  work.name = "two steps";
  const Format fp32{Element::fp32};
  for (const char* name : {"x", "y", "z"}) {
    Tensor tensor;
    tensor.name = name;
    tensor.format = fp32;
    tensor.shape = {count};
    tensor.persistent = *name != 'y';
    work.tensors.push_back(tensor);
  }
  Stream scale;
  scale.kind = StreamKind::scale;
  scale.count = count;
  scale.format = fp32;
  work.steps = {Step{scale, {0, 1}, 0, "forward"}, Step{scale, {1, 2}, 0, "forward"}};
  return work;
}

std::vector<std::byte> stored(const std::vector<float>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

TEST(CpuProgram, AllocatesWhatWasPlanned) {
  const auto backend = cpu::make_backend();
  const Work work = two_steps(100'000);
  const auto program = backend->prepare(work, 0, {});
  const Footprint footprint = program->footprint();
  EXPECT_EQ(footprint.planned, plan(work, 64).peak);
  EXPECT_EQ(footprint.allocated, footprint.planned);
  EXPECT_EQ(footprint.planned,
            3 * 400'000);  // 100,000 fp32 are 400,000 bytes, a multiple of 64; all three live at once
  ASSERT_TRUE(footprint.reserved.has_value());
  EXPECT_EQ(*footprint.reserved, 293 * 4096);  // 1,200,000 / 4096 = 292.97
}

TEST(CpuProgram, RunsStepsInOrder) {
  const auto backend = cpu::make_backend();
  const auto program = backend->prepare(two_steps(3), 0, {});
  program->fill(Pattern::zero, 1);
  program->write(0, stored({1, 2, -4}));
  EXPECT_THAT(program->run(1), SizeIs(1));
  EXPECT_THAT(program->read(2, 0, 3), ElementsAre(9, 18, -36));
  EXPECT_THAT(program->read(2, 1, 2), ElementsAre(18, -36));
}

TEST(CpuProgram, TimesEachStepWhenAsked) {
  const auto backend = cpu::make_backend();
  const auto program = backend->prepare(two_steps(1000), 0, {});
  program->fill(Pattern::typical, 1);
  const auto seconds = program->run_by_step();
  EXPECT_THAT(seconds, SizeIs(2));
  EXPECT_THAT(seconds, Each(::testing::Gt(0)));
}

TEST(CpuProgram, PoisonsWhatIsNotPersistent) {
  const auto backend = cpu::make_backend();
  const auto program = backend->prepare(two_steps(10), 0, {});
  program->fill(Pattern::exact, 1);
  for (const double value : program->read(1, 0, 10)) {
    EXPECT_TRUE(std::isnan(value));
  }
}

TEST(CpuProgram, RotatesThroughCopiesOfTheOperands) {
  const auto backend = cpu::make_backend();
  Preparation three;
  three.operand_copies = 3;
  const Work work = single(parse_op("gemm m=1 n=1 k=1 a=fp32 b=fp32 d=fp32 beta=1"));
  const auto program = backend->prepare(work, 0, three);
  EXPECT_EQ(program->footprint().planned, 3 * 3 * 64);  // three operands of one element, each on a line of its own
  EXPECT_EQ(program->footprint().allocated, 3 * 3 * 64);
  program->fill(Pattern::zero, 1);
  program->write(0, stored({2}));
  program->write(1, stored({5}));
  program->run(4);                                       // copies 0, 1, 2 and 0 again
  EXPECT_THAT(program->read(2, 0, 1), ElementsAre(20));  // so copy 0 was added to twice
}

TEST(CpuProgram, RefusesWrongWritesAndReads) {
  const auto backend = cpu::make_backend();
  const auto program = backend->prepare(two_steps(4), 0, {});
  EXPECT_THROW(program->write(0, stored({1, 2, 3})), Error);
  EXPECT_THROW(program->write(1, stored({1, 2, 3, 4})), Error);  // y is not persistent
  EXPECT_THROW(program->write(9, stored({1})), Error);
  EXPECT_THROW(program->read(0, 3, 2), Error);
  EXPECT_THROW(program->read(0, -1, 1), Error);
}

TEST(CpuProgram, SaysThatTheProcessorHasOneLaneAndNoGraphs) {
  const auto backend = cpu::make_backend();
  Work lanes = two_steps(4);
  lanes.lanes = 2;
  try {
    backend->prepare(lanes, 0, {});
    FAIL() << "two lanes were accepted";
  } catch (const Unsupported& error) {
    EXPECT_THAT(error.what(), HasSubstr("one lane"));
  }
  Preparation graph;
  graph.launch = LaunchMode::graph;
  EXPECT_THROW(backend->prepare(two_steps(4), 0, graph), Unsupported);
  EXPECT_THROW(backend->prepare(two_steps(4), 1, {}), Error);
}

TEST(CpuProgram, RefusesWorkThatDoesNotFitIntoMemoryBeforeTakingIt) {
  const auto backend = cpu::make_backend();
  try {
    backend->prepare(two_steps(std::int64_t{1} << 40), 0, {});  // 12 TiB
    FAIL() << "12 TiB were accepted";
  } catch (const OutOfMemory& error) {
    EXPECT_THAT(error.what(), HasSubstr("two steps takes 13194139533312 bytes"));  // 3 * 2^40 * 4
  }
}

TEST(CpuProgram, UsesNoMoreThreadsThanAsked) {
  const auto backend = cpu::make_backend();
  Preparation one;
  one.threads = 1;
  const auto program =
      backend->prepare(single(parse_op("transfer bytes=4096 from=host_pageable to=host_pageable path=kernel")), 0, one);
  EXPECT_THAT(program->choice().method, HasSubstr("1 thread"));
}

// The fast way must give the same bits as the slow one, whatever is filled.
TEST(CpuFill, EqualsInitialValueForEveryElementPatternAndKindOfTensor) {
  for (const Element element : elements()) {
    for (const Scaling scaling : {Scaling::none, Scaling::tensor}) {
      for (const Initial initial : {Initial::pattern, Initial::index, Initial::one, Initial::zero, Initial::rope_table,
                                    Initial::adam_scalars}) {
        for (const Pattern pattern :
             {Pattern::exact, Pattern::typical, Pattern::integer, Pattern::constant, Pattern::probe, Pattern::zero}) {
          Work work;
          Tensor tensor;
          tensor.name = "t";
          tensor.format = {element, scaling};
          tensor.shape = {41, 33};  // more than one batch of the fast way, and rows that are no whole bytes
          tensor.initial = initial;
          tensor.bound = 9;
          tensor.persistent = true;
          work.tensors = {tensor};
          const Filling values = filling(work, 0, pattern, 5);
          std::vector<std::byte> memory(static_cast<std::size_t>(bytes(tensor)));
          cpu::fill_tensor(tensor, values, memory.data(), 2);
          const auto got = cpu::read_tensor(tensor, memory.data(), 0, elements(tensor));
          for (std::int64_t index = 0; index < elements(tensor); ++index) {
            const double value = got[static_cast<std::size_t>(index)];
            const double want = initial_value(work, 0, index, pattern, 5);
            ASSERT_TRUE(value == want || (std::isnan(value) && std::isnan(want)))
                << text(element) << " " << text(pattern) << " at " << index << " is " << value << ", not " << want;
          }
        }
      }
    }
  }
}

TEST(CpuFill, RoundsNarrowElementsAsEncodeDoesAtTheirEdges) {
  // Magnitudes that reach zero, the smallest numbers, the largest and beyond.
  for (const double magnitude : {0.0, 1e-42, 1e-38, 1e-5, 1.0, 100.0, 4e4, 1e30, 1e38, 1e39}) {
    for (const Element element : {Element::bf16, Element::fp16, Element::int8, Element::fp32}) {
      constexpr std::int64_t count = 2000;
      std::vector<std::byte> memory(count * 4);
      cpu::fill_elements(element, memory.data(), count, Pattern::typical, 3, magnitude, 1);
      Tensor tensor;
      tensor.format = {element, Scaling::none};
      tensor.shape = {count};
      const auto got = cpu::read_tensor(tensor, memory.data(), 0, count);
      for (std::int64_t index = 0; index < count; ++index) {
        ASSERT_EQ(got[static_cast<std::size_t>(index)],
                  decode(element, encode(element, fill_value(Pattern::typical, 3, index, magnitude))))
            << text(element) << " times " << magnitude << " at " << index;
      }
    }
  }
}

TEST(CpuFill, PutsOnesIntoTheScales) {
  Work work;
  Tensor tensor;
  tensor.name = "t";
  tensor.format = {Element::fp4_e2m1, Scaling::block16_e4m3};
  tensor.shape = {2, 20};
  tensor.persistent = true;
  work.tensors = {tensor};
  // Two rows of 10 bytes, two blocks a row of one byte each, and a float: 28 bytes.
  ASSERT_EQ(bytes(tensor), 28);
  std::vector<std::byte> memory(28);
  cpu::fill_tensor(tensor, filling(work, 0, Pattern::exact, 1), memory.data(), 1);
  for (std::size_t at = 20; at < 24; ++at) {
    EXPECT_EQ(decode(Element::fp8_e4m3, static_cast<std::uint64_t>(memory[at])), 1);
  }
  float scale = 0;
  std::memcpy(&scale, memory.data() + 24, sizeof scale);
  EXPECT_EQ(scale, 1);
}

}  // namespace
}  // namespace assay
