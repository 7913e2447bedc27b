// Memory budgets, worked out by hand and held against published readings.
// SPDX-License-Identifier: Apache-2.0
#include "reports/memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/models/model.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "core/error.h"
#include "reports/activations.h"
#include "reports/workload.h"
#include "tests/reports/made_up_run.h"

namespace assay {
namespace {

using testing::HasSubstr;

MemoryBudget budget_of(const std::string& name, Workload workload) {
  const ModelSpec model = find_model(name);
  return memory_budget(model, resolve(workload, model), Overheads{});
}

MemoryItem item(const MemoryBudget& budget, const std::string& name) {
  for (const MemoryItem& one : budget.items)
    if (one.name == name) return one;
  ADD_FAILURE() << "no item " << name;
  return {};
}

TEST(Inference, OfLlama3NeedsWhatAPocketCalculatorSays) {
  const MemoryBudget budget = budget_of("llama-3-8b", default_workload(Purpose::inference));
  EXPECT_EQ(item(budget, "weights").bytes, 8'030'261'248.0 * 2);
  EXPECT_EQ(item(budget, "KV cache").bytes, 4096.0 * 131'072);
  // 4 x hidden + 3 x feed-forward: 4 x 4096 + 3 x 14336 = 59,392 numbers of 2 bytes for each of 4096 tokens
  EXPECT_EQ(item(budget, "activations").bytes, 4096.0 * 59'392 * 2);
  EXPECT_EQ(item(budget, "logits").bytes, 128'256.0 * 6);
  EXPECT_EQ(budget.largest().name, "weights");
}

TEST(Inference, InFewerBitsLeavesEmbeddingsAndNormsAsTheyAre) {
  Workload workload = default_workload(Purpose::inference);
  workload.weights = Format{Element::fp4_e2m1, Scaling::block16_e4m3};
  // Matrices: 32 x 218,103,808 = 6,979,321,856 at 4.5 bits; the other 1,050,939,392 at 16.
  EXPECT_EQ(item(budget_of("llama-3-8b", workload), "weights").bytes, 6'979'321'856.0 * 0.5625 + 1'050'939'392.0 * 2);
  workload.weights = Format{Element::int8, Scaling::none};
  EXPECT_EQ(item(budget_of("llama-3-8b", workload), "weights").bytes, 6'979'321'856.0 + 1'050'939'392.0 * 2);
  workload.weights = Format{Element::fp32, Scaling::none};
  EXPECT_EQ(item(budget_of("llama-3-8b", workload), "weights").bytes, 8'030'261'248.0 * 4);
}

TEST(Inference, HalvesItsCacheInEightBits) {
  Workload workload = default_workload(Purpose::inference);
  const double whole = item(budget_of("llama-3-8b", workload), "KV cache").bytes;
  workload.kv = Format{Element::fp8_e4m3, Scaling::none};
  workload.batch = 3;
  EXPECT_EQ(item(budget_of("llama-3-8b", workload), "KV cache").bytes, whole / 2 * 3);
}

// Weights + cache + prompt at its widest, or weights + the cache at the end, against what the framework's counter said.
TEST(Inference, ComesWithinThreePercentOfPublishedPeaks) {
  std::ifstream file(std::string(ASSAY_SOURCE_DIR) + "/tests/reports/qwen25_peaks.csv");
  std::string line;
  std::getline(file, line);  // where the readings come from
  std::getline(file, line);  // names of the columns
  int readings = 0;
  while (std::getline(file, line)) {
    std::istringstream cells(line);
    std::string name, prompt, reading;
    std::getline(cells, name, ',');
    std::getline(cells, prompt, ',');
    std::getline(cells, reading, ',');
    Workload workload = default_workload(Purpose::inference);
    workload.context = std::stoll(prompt);
    const MemoryBudget start = budget_of(name, workload);
    workload.context += 2048;
    const MemoryBudget end = budget_of(name, workload);
    const double needed = std::max(item(start, "weights").bytes + item(start, "KV cache").bytes +
                                       item(start, "activations").bytes + item(start, "logits").bytes,
                                   item(end, "weights").bytes + item(end, "KV cache").bytes);
    EXPECT_NEAR(needed / gib / std::stod(reading), 1.0, 0.03) << line;
    ++readings;
  }
  EXPECT_EQ(readings, 20);
}

TEST(Training, OfLlama3KeepsSixteenBytesAParameter) {
  const MemoryBudget budget = budget_of("llama-3-8b", default_workload(Purpose::training));
  const double parameters = 8'030'261'248.0;
  EXPECT_EQ(item(budget, "weights").bytes, parameters * 2);
  EXPECT_EQ(item(budget, "gradients").bytes, parameters * 2);
  EXPECT_EQ(item(budget, "optimizer").bytes, parameters * 12);
  // A layer: (9 + 2 + 3) x 4096 + 2 x 32 row sums + 4 x 14336 = 114,752 numbers a token.
  EXPECT_EQ(item(budget, "activations").bytes, 32.0 * 114'752 * 4096 * 2);
  EXPECT_EQ(item(budget, "logits").bytes, 4096.0 * 128'256 * 10);
}

TEST(Training, TakesLessWithLighterOptimizers) {
  Workload workload = default_workload(Purpose::training);
  workload.optimizer = Optimizer::sgd;
  EXPECT_EQ(item(budget_of("llama-3-8b", workload), "optimizer").bytes, 8'030'261'248.0 * 8);
  workload.optimizer = Optimizer::adamw_8bit;
  EXPECT_EQ(item(budget_of("llama-3-8b", workload), "optimizer").bytes, 8'030'261'248.0 * (4 + 2 + 8.0 / 256));
  workload.optimizer = Optimizer::adamw;
  workload.weights = Format{Element::fp32, Scaling::none};  // the weight is its own master
  EXPECT_EQ(item(budget_of("llama-3-8b", workload), "optimizer").bytes, 8'030'261'248.0 * 8);
  EXPECT_EQ(item(budget_of("llama-3-8b", workload), "gradients").bytes, 8'030'261'248.0 * 4);
}

TEST(Training, WithLoraTrainsTheAdaptersOnly) {
  // A layer: q and o 2 x (4096 + 4096), k and v 2 x (4096 + 1024), three of 4096 + 14336: 81,920; x 32 x 16.
  const ModelSpec model = find_model("llama-3-8b");
  EXPECT_EQ(adapter_parameters(model, 16), 41'943'040);
  Workload workload = default_workload(Purpose::training);
  workload.tuning = Tuning::lora;
  const MemoryBudget budget = budget_of("llama-3-8b", workload);
  EXPECT_EQ(item(budget, "frozen weights").bytes, 8'030'261'248.0 * 2);
  EXPECT_EQ(item(budget, "adapters").bytes, 41'943'040.0 * 4);
  EXPECT_EQ(item(budget, "gradients").bytes, 41'943'040.0 * 4);
  EXPECT_EQ(item(budget, "optimizer").bytes, 41'943'040.0 * 8);
}

TEST(Training, SavesLessTheMoreIsComputedAgain) {
  Workload workload = default_workload(Purpose::training);
  double last = 1e30;
  for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
    workload.recompute = recompute;
    const double now = item(budget_of("llama-3-8b", workload), "activations").bytes;
    EXPECT_LT(now, last);
    last = now;
  }
  // Full: 32 inputs of 4096 and one layer's 114,752 numbers, of 2 bytes, for 4096 tokens.
  EXPECT_EQ(last, (32.0 * 4096 + 114'752) * 4096 * 2);
}

// stas00/ml-engineering, training/performance: saved bytes of one layer over batch x length x hidden x 2.
TEST(Activations, ComeWithinFivePercentOfPublishedReadings) {
  const Format bf16{Element::bf16, Scaling::none};
  const std::vector<std::pair<std::string, double>> readings{
      {"smollm2-360m", 24}, {"llama-3.1-8b", 28}, {"mistral-7b-v0.3", 28}, {"qwen3-8b", 29.8}, {"qwen3-4b", 38}};
  for (const auto& [name, units] : readings) {
    const ModelSpec model = find_model(name);
    const double layer = saved_numbers(model, Recompute::none, bf16).count / static_cast<double>(model.layers);
    EXPECT_NEAR(layer / static_cast<double>(model.hidden) / units, 1.0, 0.05) << name;
    EXPECT_LT(least_saved_numbers(model, Recompute::none).count, layer * static_cast<double>(model.layers)) << name;
  }
}

TEST(Activations, OfResNet50AreItsFeatureMaps) {
  // What the 53 convolutions put out for one 224 x 224 picture: the stem 64 x 112^2 = 802,816, the blocks 10,311,168
  // (say stage 1: 3 x (2 x 64 + 256) x 56^2 + 256 x 56^2 = 4,415,488); each is kept as it comes out and normed.
  const Numbers saved = saved_numbers(find_model("resnet-50"), Recompute::none, {Element::fp32, Scaling::none});
  EXPECT_EQ(saved.count / 2, 802'816 + 10'311'168);
  Workload workload = default_workload(Purpose::training);
  workload.batch = 32;
  workload.weights = Format{Element::fp32, Scaling::none};
  const MemoryBudget budget = budget_of("resnet-50", workload);
  EXPECT_EQ(item(budget, "weights").bytes, 25'557'032.0 * 4);
  EXPECT_EQ(item(budget, "activations").bytes, saved.count * 32 * 4);
}

TEST(Budget, AddsUpForEveryModelAndEveryUse) {
  for (const ModelSpec& model : builtin_models()) {
    for (const Purpose purpose : {Purpose::inference, Purpose::training}) {
      for (const Tuning tuning : {Tuning::full, Tuning::lora}) {
        if (model.kind == ModelKind::convolution && tuning == Tuning::lora) continue;
        Workload workload = default_workload(purpose);
        workload.tuning = tuning;
        const MemoryBudget budget = memory_budget(model, resolve(workload, model), Overheads{});
        double total = 0, lower = 0, upper = 0;
        for (const MemoryItem& one : budget.items) {
          EXPECT_GE(one.lower, 0) << model.name << " " << one.name;
          EXPECT_LE(one.lower, one.bytes) << model.name << " " << one.name;
          EXPECT_GE(one.upper, one.bytes) << model.name << " " << one.name;
          for (const std::string* words : {&one.formula, &one.origin, &one.changes, &one.check})
            EXPECT_FALSE(words->empty()) << model.name << " " << one.name;
          total += one.bytes;
          lower += one.lower;
          upper += one.upper;
        }
        EXPECT_DOUBLE_EQ(budget.total(), total);
        EXPECT_DOUBLE_EQ(budget.lower(), lower);
        EXPECT_DOUBLE_EQ(budget.upper(), upper);
      }
    }
  }
}

TEST(Budget, UsesTheContextThatTheRunMeasured) {
  assay::Run run = made_up_run();
  Row row;
  row.case_name = "capacity/context";
  row.family = "capacity";
  row.device = "cpu:0";
  row.metric = "context_bytes";
  row.unit = "bytes";
  row.value = 123456789;
  run.rows.push_back(row);
  const Overheads found = overheads({run}, run.info.devices.front());
  EXPECT_EQ(found.context_bytes, 123456789);
  const ModelSpec model = find_model("gpt2");
  const MemoryBudget budget = memory_budget(model, resolve(default_workload(Purpose::inference), model), found);
  EXPECT_EQ(item(budget, "runtime").bytes, 123456789);
  EXPECT_THAT(item(budget, "runtime").origin, HasSubstr("measured in this run"));
}

std::string refusal(const std::string& name, const Workload& workload) {
  try {
    resolve(workload, find_model(name));
  } catch (const BadInput& error) {
    return error.what();
  }
  return "was taken";
}

TEST(Workload, ThatCannotBeIsRefusedWithTheCure) {
  Workload workload = default_workload(Purpose::inference);
  workload.batch = 0;
  EXPECT_THAT(refusal("gpt2", workload), HasSubstr("the batch is 0; expected 1 to"));
  workload.batch = 1;
  workload.context = 2000;
  EXPECT_THAT(refusal("gpt2", workload), HasSubstr("learned positions for 1024 tokens"));
  workload.context = -1;
  EXPECT_THAT(refusal("llama-3-8b", workload), HasSubstr("the context is -1"));
  workload = default_workload(Purpose::training);
  workload.weights = Format{Element::int8, Scaling::none};
  EXPECT_THAT(refusal("gpt2", workload), HasSubstr("LoRA"));
  workload.tuning = Tuning::lora;
  EXPECT_EQ(refusal("gpt2", workload), "was taken");
  workload.lora_rank = 0;
  EXPECT_THAT(refusal("gpt2", workload), HasSubstr("rank"));
}

TEST(Workload, TakesTheModelsOwnLimitWhereNothingIsSaid) {
  EXPECT_EQ(resolve(default_workload(Purpose::inference), find_model("gpt2")).context, 1024);
  EXPECT_EQ(resolve(default_workload(Purpose::inference), find_model("llama-3.1-8b")).context, 4096);
}

// Llama-3-8B over 8 devices with ZeRO 3: 8,030,261,248 parameters x 2 bytes of weights and of gradients and 12 of
// optimizer, each over 8.
TEST(MemoryBudget, IsSharedOutByItsLayout) {
  Workload workload = default_workload(Purpose::training);
  workload.layout.data = 8;
  workload.layout.zero_stage = 3;
  const ModelSpec model = find_model("llama-3-8b");
  const MemoryBudget budget = memory_budget(model, resolve(workload, model), {});
  const auto bytes = [&](const std::string& name) {
    for (const MemoryItem& item : budget.items)
      if (item.name == name) return item.bytes;
    return 0.0;
  };
  EXPECT_DOUBLE_EQ(bytes("weights"), 8030261248.0 * 2 / 8);
  EXPECT_DOUBLE_EQ(bytes("gradients"), 8030261248.0 * 2 / 8);
  EXPECT_DOUBLE_EQ(bytes("optimizer"), 8030261248.0 * 12 / 8);
  // Two of 32 layers of 218,103,808 numbers, embedding, head and norms (1,050,939,392), 2 bytes each.
  EXPECT_DOUBLE_EQ(bytes("gathered weights"), (2 * 218103808.0 + 1050939392.0) * 2);
  workload.layout.zero_stage = 1;
  const MemoryBudget first = memory_budget(model, resolve(workload, model), {});
  EXPECT_DOUBLE_EQ(first.items.front().bytes, 8030261248.0 * 2);
}

// Llama-3-70B's 8 KV heads over 16 devices cannot be cut further than one a device: a cache of 1/8.
TEST(MemoryBudget, SharesACacheOutByItsHeads) {
  Workload workload = default_workload(Purpose::inference);
  const ModelSpec model = find_model("llama-3-70b");
  const auto cache = [&](std::int64_t tensor) {
    workload.layout.tensor = tensor;
    return memory_budget(model, resolve(workload, model), {}).items.at(1).bytes;
  };
  EXPECT_DOUBLE_EQ(cache(8), cache(1) / 8);
  EXPECT_DOUBLE_EQ(cache(16), cache(1) / 8);
}

TEST(MemoryBudget, RefusesLayoutsThatCannotBe) {
  Workload workload = default_workload(Purpose::inference);
  const ModelSpec model = find_model("llama-3-8b");
  workload.layout.tensor = 3;
  EXPECT_THROW(resolve(workload, model), BadInput);
  workload.layout.tensor = 1;
  workload.layout.pipeline = 64;
  EXPECT_THROW(resolve(workload, model), BadInput);
  workload.layout.pipeline = 1;
  workload.layout.data = workload.layout.expert = 2;
  EXPECT_THROW(resolve(workload, model), BadInput);
}

}  // namespace
}  // namespace assay
