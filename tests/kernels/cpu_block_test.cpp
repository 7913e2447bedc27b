// One decoder block, forward, backward and optimizer, on the CPU plug-in against the interpreter.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/interpreter.h"
#include "core/models/decoder.h"
#include "kernels/cpu/backend.h"

namespace assay {
namespace {

// RMS norm, rotary positions, grouped keys, SwiGLU.
ModelSpec llama_like() {
  ModelSpec model;
  model.name = "llama-like";
  model.layers = 1;
  model.hidden = 80;
  model.heads = 4;
  model.kv_heads = 2;
  model.head_size = 20;
  model.feed_forward = 136;
  model.vocabulary = 100;
  return model;
}

// Layer norm, learned positions, biases, GELU.
ModelSpec gpt_like() {
  ModelSpec model = llama_like();
  model.name = "gpt-like";
  model.kv_heads = 4;
  model.mlp = MlpKind::plain;
  model.norm = NormStyle::layer;
  model.position = PositionKind::learned;
  model.positions = 64;
  model.attention_bias = model.output_bias = model.mlp_bias = true;
  return model;
}

bool written(const Work& work, int tensor) {
  for (const Step& step : work.steps) {
    const auto all = operands(step.op);
    for (std::size_t i = 0; i < step.operands.size(); ++i) {
      if (step.operands[i] == tensor && all[i].access != Access::read) {
        return true;
      }
    }
  }
  return false;
}

// The root mean square of the difference as a share of that of what is right.
double relative_error(const std::vector<double>& got, const std::vector<double>& want) {
  double difference = 0;
  double size = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    difference += (got[i] - want[i]) * (got[i] - want[i]);
    size += want[i] * want[i];
  }
  return size == 0 ? std::sqrt(difference) : std::sqrt(difference / size);
}

class CpuBlock : public ::testing::TestWithParam<std::tuple<const char*, Element>> {};

// Every kernel rounds what it stores once, as the interpreter does, and sums in FP32. So the two differ where a sum
// falls close to the border between two numbers; a step changes an element by one unit at most, and the errors of a
// dozen steps in a row add up like a random walk: less than 4 units of roundoff. FP32's sums of up to 136 products are
// off by a few units themselves, and second moments are squares, which doubles that.
TEST_P(CpuBlock, ComputesWhatTheInterpreterComputes) {
  const auto [kind, element] = GetParam();
  BlockSetup setup;
  setup.batch = 2;
  setup.length = 11;
  setup.compute = {element, Scaling::none};
  setup.optimizer = true;
  const Work work = decoder_block(std::string(kind) == "llama" ? llama_like() : gpt_like(), setup);
  const auto backend = cpu::make_backend();
  for (const Step& step : work.steps) {
    if (!backend->supports(step.op, 0).yes) {
      GTEST_SKIP() << backend->supports(step.op, 0).reason;
    }
  }
  const auto program = backend->prepare(work, 0, {});
  EXPECT_EQ(program->footprint().planned, plan(work, 64).peak);
  EXPECT_EQ(program->footprint().allocated, plan(work, 64).peak);
  constexpr std::uint64_t seed = 3;
  program->fill(Pattern::typical, seed);
  program->run(1);
  Values values = initial_values(work, Pattern::typical, seed);
  interpret(work, values, true);
  const double allowed = (element == Element::fp32 ? 32 : 4) * unit_roundoff(element);
  int compared = 0;
  for (std::size_t i = 0; i < work.tensors.size(); ++i) {
    const Tensor& tensor = work.tensors[i];
    if (!tensor.persistent || !written(work, static_cast<int>(i))) {
      continue;
    }
    // A bias on the keys adds the same to all scores of a row, which softmax does not see: its gradient is rounding
    // noise, and Adam scales even that to a full step.
    if (tensor.name.rfind("attention.qkv.bias", 0) == 0) {
      continue;
    }
    const auto got = program->read(static_cast<int>(i), 0, elements(tensor));
    const double error = relative_error(got, values[i]);
    EXPECT_LE(error, allowed) << tensor.name;
    ++compared;
  }
  EXPECT_GE(compared, 10);  // the output, and of each weight gradient, master and moments
}

TEST_P(CpuBlock, GivesTheSameBitsWhenItIsRunAgain) {
  const auto [kind, element] = GetParam();
  BlockSetup setup;
  setup.length = 9;
  setup.compute = {element, Scaling::none};
  const Work work = decoder_block(std::string(kind) == "llama" ? llama_like() : gpt_like(), setup);
  const auto backend = cpu::make_backend();
  for (const Step& step : work.steps) {
    if (!backend->supports(step.op, 0).yes) {
      GTEST_SKIP() << backend->supports(step.op, 0).reason;
    }
  }
  const auto program = backend->prepare(work, 0, {});
  std::vector<std::vector<double>> first;
  for (int attempt = 0; attempt < 2; ++attempt) {
    program->fill(Pattern::typical, 1);
    program->run(1);
    for (std::size_t i = 0; i < work.tensors.size(); ++i) {
      if (!work.tensors[i].persistent) {
        continue;
      }
      const auto now = program->read(static_cast<int>(i), 0, elements(work.tensors[i]));
      if (attempt == 0) {
        first.push_back(now);
      } else {
        EXPECT_EQ(now, first.front()) << work.tensors[i].name;
        first.erase(first.begin());
      }
    }
  }
}

TEST_P(CpuBlock, NamesEveryWayItsStepsAreDoneAndTimesEachOfThem) {
  const auto [kind, element] = GetParam();
  BlockSetup setup;
  setup.length = 9;
  setup.compute = {element, Scaling::none};
  const Work work = decoder_block(std::string(kind) == "llama" ? llama_like() : gpt_like(), setup);
  const auto backend = cpu::make_backend();
  for (const Step& step : work.steps) {
    if (!backend->supports(step.op, 0).yes) {
      GTEST_SKIP() << backend->supports(step.op, 0).reason;
    }
  }
  const auto program = backend->prepare(work, 0, {});
  program->fill(Pattern::typical, 1);
  EXPECT_EQ(program->run_by_step().size(), work.steps.size());
  EXPECT_THAT(program->choice().method, ::testing::HasSubstr("own x86-64"));
}

INSTANTIATE_TEST_SUITE_P(AllModelsAndFormats, CpuBlock,
                         ::testing::Combine(::testing::Values("llama", "gpt"),
                                            ::testing::Values(Element::fp32, Element::bf16)),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param)) + "_" + text(std::get<1>(info.param));
                         });

}  // namespace
}  // namespace assay
