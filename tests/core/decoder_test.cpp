// One decoder block: its gradients against central differences of the whole block, and what it is made of.
// SPDX-License-Identifier: Apache-2.0
#include "core/models/decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "core/error.h"
#include "core/interpreter.h"

namespace assay {
namespace {

using ::testing::HasSubstr;
constexpr Format fp32{Element::fp32, Scaling::none};
constexpr Format fp64{Element::fp64, Scaling::none};
constexpr Format bf16{Element::bf16, Scaling::none};

// RMSNorm, SwiGLU, rotated halves, two query heads to a key head.
ModelSpec tiny_llama() {
  ModelSpec model;
  model.name = "tiny-llama";
  model.hidden = 6;
  model.heads = 4;
  model.kv_heads = 2;
  model.head_size = 2;
  model.feed_forward = 5;
  return model;
}

// LayerNorm, GELU, biases everywhere, no rotation.
ModelSpec tiny_gpt2() {
  ModelSpec model;
  model.name = "tiny-gpt2";
  model.hidden = 6;
  model.heads = model.kv_heads = 2;
  model.head_size = 3;
  model.feed_forward = 7;
  model.mlp = MlpKind::plain;
  model.norm = NormStyle::layer;
  model.position = PositionKind::learned;
  model.attention_bias = model.output_bias = model.mlp_bias = true;
  return model;
}

BlockSetup setup(Format compute, bool optimizer = false) {
  BlockSetup result;
  result.batch = 2;
  result.length = 3;
  result.compute = compute;
  result.optimizer = optimizer;
  return result;
}

std::size_t find(const Work& work, const std::string& name) {
  for (std::size_t i = 0; i < work.tensors.size(); ++i) {
    if (work.tensors[i].name == name) return i;
  }
  throw Error("no tensor " + name);
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// sum(output.gradient output) of the forward pass from these values.
double loss(const Work& work, Values values) {
  const std::vector<double> weights = values[find(work, "output.gradient")];
  interpret(work, values, false);
  return dot(values[find(work, "output")], weights);
}

// Every element of every gradient that the block makes, against central differences of the whole forward pass.
void expect_right_gradients(const ModelSpec& model) {
  const Work work = decoder_block(model, setup(fp64));
  const Values before = initial_values(work, Pattern::typical, 11);
  Values after = before;
  interpret(work, after, false);
  int compared = 0;
  for (std::size_t i = 0; i < work.tensors.size(); ++i) {
    const std::string& name = work.tensors[i].name;
    const bool parameter = work.tensors[i].category == Category::weight;
    if (!parameter && name != "input") continue;
    const std::vector<double>& gradient = after[find(work, name + ".gradient")];
    constexpr double step = 1e-5;
    for (std::size_t j = 0; j < before[i].size(); ++j) {
      Values moved = before;
      moved[i][j] = before[i][j] + step;
      const double above = loss(work, moved);
      moved[i][j] = before[i][j] - step;
      const double difference = (above - loss(work, moved)) / (2 * step);
      EXPECT_NEAR(gradient[j], difference, 1e-6 * (1 + std::abs(difference))) << name << "[" << j << "]";
      ++compared;
    }
  }
  EXPECT_GT(compared, 200);
}

TEST(DecoderBlock, HasTheGradientsOfItsForwardPassLikeLlama) { expect_right_gradients(tiny_llama()); }
TEST(DecoderBlock, HasTheGradientsOfItsForwardPassLikeGpt2) { expect_right_gradients(tiny_gpt2()); }

// The forward pass once more, from the formulas of the papers, one loop a line of them, with nothing shared.
using Matrix = std::vector<std::vector<double>>;

Matrix times(const Matrix& a, const std::vector<double>& weight, std::size_t out) {
  Matrix result(a.size(), std::vector<double>(out));
  for (std::size_t r = 0; r < a.size(); ++r) {
    for (std::size_t c = 0; c < out; ++c) {
      for (std::size_t i = 0; i < a[r].size(); ++i) result[r][c] += a[r][i] * weight[i * out + c];
    }
  }
  return result;
}

Matrix rms_norm(Matrix x) {
  for (auto& row : x) {
    const double scale = 1 / std::sqrt(dot(row, row) / static_cast<double>(row.size()) + 1e-5);
    for (double& value : row) value *= scale;
  }
  return x;
}

// One sequence of tiny_llama(); rows are positions, heads 0 and 1 share key head 0, heads 2 and 3 key head 1.
Matrix llama_by_hand(const Work& work, const Values& values, const Matrix& input) {
  const auto weight = [&](const char* name) { return values[find(work, name)]; };
  const Matrix packed = times(rms_norm(input), weight("attention.qkv.weight"), 16);  // 4 q, 2 k, 2 v heads of 2
  const auto turned = [&](std::size_t position, std::size_t slot) {
    const double low = packed[position][2 * slot];
    const double high = packed[position][2 * slot + 1];
    const auto angle = static_cast<double>(position);  // one pair: its frequency is 1
    return std::pair(low * std::cos(angle) - high * std::sin(angle), high * std::cos(angle) + low * std::sin(angle));
  };
  Matrix merged(input.size(), std::vector<double>(8));
  for (std::size_t head = 0; head < 4; ++head) {
    for (std::size_t t = 0; t < input.size(); ++t) {
      std::vector<double> probability;
      double sum = 0;
      for (std::size_t s = 0; s <= t; ++s) {
        const auto [q0, q1] = turned(t, head);
        const auto [k0, k1] = turned(s, 4 + head / 2);
        probability.push_back(std::exp((q0 * k0 + q1 * k1) / std::sqrt(2.0)));
        sum += probability.back();
      }
      for (std::size_t s = 0; s <= t; ++s) {
        for (std::size_t i = 0; i < 2; ++i) {
          merged[t][2 * head + i] += probability[s] / sum * packed[s][2 * (6 + head / 2) + i];
        }
      }
    }
  }
  Matrix residual = times(merged, weight("attention.output.weight"), 6);
  for (std::size_t t = 0; t < residual.size(); ++t) {
    for (std::size_t i = 0; i < 6; ++i) residual[t][i] += input[t][i];
  }
  const Matrix raised = times(rms_norm(residual), weight("feed_forward.up.weight"), 10);
  Matrix hidden(input.size(), std::vector<double>(5));
  for (std::size_t t = 0; t < hidden.size(); ++t) {
    for (std::size_t i = 0; i < 5; ++i) hidden[t][i] = raised[t][i] / (1 + std::exp(-raised[t][i])) * raised[t][5 + i];
  }
  Matrix output = times(hidden, weight("feed_forward.down.weight"), 6);
  for (std::size_t t = 0; t < output.size(); ++t) {
    for (std::size_t i = 0; i < 6; ++i) output[t][i] += residual[t][i];
  }
  return output;
}

TEST(DecoderBlock, ComputesWhatTheFormulasOfLlamaSay) {
  const Work work = decoder_block(tiny_llama(), setup(fp64));
  Values values = initial_values(work, Pattern::typical, 12);
  const std::vector<double> input = values[find(work, "input")];
  interpret(work, values, false);
  const std::vector<double>& output = values[find(work, "output")];
  for (std::size_t sequence = 0; sequence < 2; ++sequence) {
    Matrix rows(3);
    for (std::size_t t = 0; t < 3; ++t) {
      const auto first = input.begin() + static_cast<std::ptrdiff_t>((sequence * 3 + t) * 6);
      rows[t].assign(first, first + 6);
    }
    const Matrix wanted = llama_by_hand(work, values, rows);
    for (std::size_t t = 0; t < 3; ++t) {
      // 1e-6: the table of rotations is fp32
      for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(output[(sequence * 3 + t) * 6 + i], wanted[t][i], 1e-6);
    }
  }
}

TEST(DecoderBlock, NeverLooksAhead) {
  const Work work = decoder_block(tiny_llama(), setup(fp64));
  Values first = initial_values(work, Pattern::typical, 13);
  Values second = first;
  for (std::size_t i = 12; i < 18; ++i) second[find(work, "input")][i] += 1;  // the last token of the first sequence
  interpret(work, first, false);
  interpret(work, second, false);
  const auto& a = first[find(work, "output")];
  const auto& b = second[find(work, "output")];
  for (std::size_t i = 0; i < 36; ++i) {
    if (i >= 12 && i < 18) {
      EXPECT_NE(a[i], b[i]);
    } else {
      EXPECT_EQ(a[i], b[i]) << "element " << i;
    }
  }
}

TEST(DecoderBlock, LeavesItsInputsAsTheyWere) {
  for (const ModelSpec& model : {tiny_llama(), tiny_gpt2()}) {
    const Work work = decoder_block(model, setup(bf16));
    const Values before = initial_values(work, Pattern::typical, 14);
    Values once = before;
    interpret(work, once, true);
    for (std::size_t i = 0; i < work.tensors.size(); ++i) {
      const Category category = work.tensors[i].category;
      if (category == Category::input || category == Category::weight) {
        EXPECT_EQ(once[i], before[i]) << work.tensors[i].name;
      }
    }
    Values twice = once;
    interpret(work, twice, true);
    EXPECT_EQ(twice, once);  // nothing piles up
  }
}

TEST(DecoderBlock, KeepsActivationsAboutAsLargeAsItsInput) {
  ModelSpec model = tiny_llama();
  model.hidden = 64;
  model.head_size = 16;
  model.feed_forward = 96;
  BlockSetup larger = setup(bf16);
  larger.length = 32;
  const Work work = decoder_block(model, larger);
  Values values = initial_values(work, Pattern::typical, 15);
  interpret(work, values, true);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double rms = std::sqrt(dot(values[i], values[i]) / static_cast<double>(values[i].size()));
    EXPECT_GT(rms, 1e-3) << work.tensors[i].name;
    EXPECT_LT(rms, 100) << work.tensors[i].name;
  }
}

TEST(DecoderBlock, CountsTheFlopsOfItsProducts) {
  // Llama-3-8B, one sequence of 128: qkv 4096 x 6144, output 4096 x 4096, up 4096 x 28672, down 14336 x 4096 are
  // 25,165,824 + 16,777,216 + 117,440,512 + 58,720,256 = 218,103,808 weights, 2 x 128 flops each;
  // scores and values 2 x 2 x 32 x 128 x 128 x 128. The way back has twice the products.
  ModelSpec model;
  model.name = "llama-3-8b";
  model.hidden = 4096;
  model.heads = 32;
  model.kv_heads = 8;
  model.head_size = 128;
  model.feed_forward = 14336;
  BlockSetup one;
  one.compute = bf16;
  const double forward = 2.0 * 128 * 218103808 + 4.0 * 32 * 128 * 128 * 128;
  std::map<std::string, double> flops;
  for (const Step& step : decoder_block(model, one).steps) {
    if (std::holds_alternative<Gemm>(step.op)) flops[step.phase] += cost(step.op).flops;
  }
  EXPECT_EQ(flops["forward"], forward);
  EXPECT_EQ(flops["backward"], 2 * forward);
}

TEST(DecoderBlock, HasOneProductForEachGroupOfHeads) {
  const Work work = decoder_block(tiny_llama(), setup(bf16));
  std::vector<std::string> batched;
  for (const Step& step : work.steps) {
    const auto* gemm = std::get_if<Gemm>(&step.op);
    if (gemm != nullptr && gemm->batch > 1) batched.push_back(text(step.op));
  }
  // 2 sequences x 2 key heads; 2 heads x 3 positions follow each other
  EXPECT_THAT(batched, ::testing::SizeIs(6));
  EXPECT_EQ(batched[0], "gemm batch=4 m=6 n=3 k=2 a=bf16 b=bf16 d=bf16 transpose_b=true alpha=0.7071067811865475");
  EXPECT_EQ(batched[1], "gemm batch=4 m=6 n=2 k=3 a=bf16 b=bf16 d=bf16");
}

TEST(DecoderBlock, TakesTheMemoryThatItsWeightsAndGradientsAreMadeOf) {
  const Work work = decoder_block(tiny_gpt2(), setup(bf16, true));
  // 6 x 18 + 18, 6 x 6 + 6, 6 x 7 + 7, 7 x 6 + 6, two norms of 6 + 6: 126 + 42 + 49 + 48 + 24 = 289
  std::map<Category, std::int64_t> counts;
  std::map<Category, std::int64_t> sizes;
  for (const Tensor& tensor : work.tensors) {
    if (tensor.name == "optimizer.scalars") continue;
    counts[tensor.category] += elements(tensor);
    sizes[tensor.category] += bytes(tensor);
  }
  EXPECT_EQ(counts[Category::weight], 289);
  EXPECT_EQ(sizes[Category::weight], 2 * 289);
  EXPECT_EQ(counts[Category::gradient], 289);
  EXPECT_EQ(sizes[Category::gradient], 2 * 289);
  EXPECT_EQ(sizes[Category::optimizer], 12 * 289);  // fp32 master and two moments
  // In fp32 the weight is its own master.
  const Work single_precision = decoder_block(tiny_gpt2(), setup(fp32, true));
  std::int64_t optimizer = 0;
  for (const Tensor& tensor : single_precision.tensors) {
    if (tensor.category == Category::optimizer) optimizer += bytes(tensor);
  }
  EXPECT_EQ(optimizer, 8 * 289 + 32);
}

TEST(DecoderBlock, MovesItsWeightsWhereItHasAnOptimizer) {
  for (const Format compute : {fp32, bf16}) {
    const Work work = decoder_block(tiny_gpt2(), setup(compute, true));
    const Values before = initial_values(work, Pattern::typical, 16);
    Values after = before;
    interpret(work, after, false);
    const std::string name = compute == fp32 ? "attention.qkv.weight" : "attention.qkv.weight.master";
    const std::size_t master = find(work, name);
    for (std::size_t i = 0; i < before[master].size(); ++i) {
      const double gradient = after[find(work, "attention.qkv.weight.gradient")][i];
      // The first Adam step is the learning rate, 1e-3, against the sign of the gradient, and decay 1e-4 of the weight.
      const double wanted = before[master][i] - (gradient > 0 ? 1e-3 : -1e-3) - 1e-4 * before[master][i];
      EXPECT_NEAR(after[master][i], wanted, 1e-6) << "gradient " << gradient;
    }
    EXPECT_EQ(after[find(work, "attention.qkv.weight")], after[master]);
  }
}

TEST(DecoderBlock, SplitsItsTimeByPhase) {
  std::set<std::string> phases;
  for (const Step& step : decoder_block(tiny_llama(), setup(bf16, true)).steps) phases.insert(step.phase);
  EXPECT_EQ(phases, (std::set<std::string>{"backward", "forward", "optimizer"}));
  BlockSetup inference = setup(bf16);
  inference.backward = false;
  for (const Step& step : decoder_block(tiny_llama(), inference).steps) EXPECT_EQ(step.phase, "forward");
}

TEST(DecoderBlock, NamesItsTensorsOnceEach) {
  const Work work = decoder_block(tiny_gpt2(), setup(bf16, true));
  std::set<std::string> names;
  for (const Tensor& tensor : work.tensors) EXPECT_TRUE(names.insert(tensor.name).second) << tensor.name;
  EXPECT_EQ(work.name, "tiny-gpt2 block batch=2 length=3 bf16 forward+backward+optimizer");
}

TEST(DecoderBlock, SharesTheMemoryOfActivations) {
  const Work work = decoder_block(tiny_llama(), setup(bf16));
  const Plan result = plan(work, 64);
  std::int64_t all = 0;
  for (const std::int64_t size : result.bytes) all += size;
  EXPECT_LT(result.peak, all);
  EXPECT_GE(result.peak, result.live_peak);
}

std::string refusal(const ModelSpec& model, const BlockSetup& chosen) {
  try {
    decoder_block(model, chosen);
  } catch (const Unsupported& error) {
    return error.what();
  }
  return "not refused";
}

TEST(DecoderBlock, RefusesWhatItCannotBuildWithAReason) {
  ModelSpec model = tiny_llama();
  model.latent = LatentAttention{};
  EXPECT_THAT(refusal(model, setup(bf16)), HasSubstr("tiny-llama: latent attention"));
  model = tiny_llama();
  model.experts = Experts{};
  EXPECT_THAT(refusal(model, setup(bf16)), HasSubstr("experts"));
  model = tiny_llama();
  model.window = 2;
  EXPECT_THAT(refusal(model, setup(bf16)), HasSubstr("window of 2 tokens is shorter than the length of 3"));
  model.window = 3;
  EXPECT_EQ(refusal(model, setup(bf16)), "not refused");
  model = tiny_llama();
  model.query_key_norm = true;
  EXPECT_THAT(refusal(model, setup(bf16)), HasSubstr("norms on queries and keys"));
  model = tiny_llama();
  model.position = PositionKind::alibi;
  EXPECT_THAT(refusal(model, setup(bf16)), HasSubstr("position biases"));
  model = tiny_llama();
  model.norms_per_layer = 4;
  EXPECT_THAT(refusal(model, setup(bf16)), HasSubstr("4 norms"));
  model = tiny_llama();
  model.kind = ModelKind::convolution;
  EXPECT_THAT(refusal(model, setup(bf16)), HasSubstr("not a decoder"));
  EXPECT_THAT(refusal(tiny_llama(), setup({Element::int8, Scaling::none})), HasSubstr("int8"));
  EXPECT_THAT(refusal(tiny_llama(), setup({Element::fp8_e4m3, Scaling::tensor})), HasSubstr("fp8_e4m3.tensor"));
  EXPECT_THAT(refusal(tiny_llama(), setup(fp64, true)), HasSubstr("masters are fp32"));
}

TEST(DecoderBlock, RefusesImpossibleNumbers) {
  ModelSpec model = tiny_llama();
  model.hidden = 0;
  EXPECT_THROW(decoder_block(model, setup(bf16)), BadInput);
  model = tiny_llama();
  model.kv_heads = 3;
  EXPECT_THROW(decoder_block(model, setup(bf16)), BadInput);
  model = tiny_llama();
  model.head_size = 3;
  EXPECT_THROW(decoder_block(model, setup(bf16)), Error);
  model = tiny_llama();
  model.hidden = std::int64_t{1} << 60;
  EXPECT_THROW(decoder_block(model, setup(bf16)), Error);
  BlockSetup forward = setup(bf16, true);
  forward.backward = false;
  EXPECT_THROW(decoder_block(tiny_llama(), forward), BadInput);
}

}  // namespace
}  // namespace assay
