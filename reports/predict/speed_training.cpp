// The time of a training step: products, attention, what passes through memory between them, and what cards exchange.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "reports/predict/speed.h"

namespace assay::predict {
namespace {

constexpr double stream_share = 0.85;    // of the published bandwidth, by plain streams
constexpr double operand_passes = 1.57;  // how often a product's operands and result pass through memory
constexpr double link_share = 0.75;      // of a link's bandwidth, by large collectives
constexpr double exposed = 0.83;         // of the shorter of computing and exchanging: hidden only in part

// Between machines: eight network cards of 400 Gb/s and what they reach; each doubling of machines costs a sixth.
constexpr double network = 8 * 54.6e9, network_doubling = 0.167;

constexpr double optimizer_bytes = 30;         // AdamW: four FP32 tensors, read and written, gradient and weight
constexpr double native_step_tokens = 524288;  // programs that train from scratch accumulate to half a million tokens

// Fitted on published training rates of each program (docs/prediction.md).
struct Program {
  double memory = 1;     // passes through memory between products, against eager PyTorch
  double launch = 2e-4;  // seconds to start one layer's forward pass
  double products = 1;   // against what products alone sustain
  double attention = 1;
};

Program program_of(const SpeedSetting& setting) {
  if (setting.sizes.model.encoder) return {0.58, 5e-4, 0.67, 1};
  switch (setting.runtime) {
    case Runtime::compiled:
      return {0.4, 2e-4, 1, 1.52};
    case Runtime::trainer:
      return {5, 1.5e-3, 1, 1};
    case Runtime::deepspeed:
      return {1.4, 3.2e-3, 0.95, 1};
    case Runtime::megatron:
      return {0.3, 2e-4, 1.3, 0.85};
    case Runtime::native:
      return {0.335, 2e-4, 1.02, 3};
    case Runtime::eager:
    case Runtime::transformers:
    case Runtime::engine:
    case Runtime::llama_cpp:
    case Runtime::awq_fused:
    case Runtime::exllama:
    case Runtime::litgpt:
      break;
  }
  return {};
}

// Fused attention against the rate of products: less on units that are fed in other ways than it was written for.
double attention_share(Generation generation) {
  switch (generation) {
    case Generation::hopper:
      return 0.237;
    case Generation::ampere:
      return 0.39;
    case Generation::blackwell:
    case Generation::older:
      break;
  }
  return 0.25;
}

double layer_rate(const SpeedSetting& setting, double half) {
  const CardRates& card = setting.card;
  constexpr double fp8_share = 0.833, fp4_share = 0.943;  // scaling and casts around shorter products
  switch (setting.computed) {
    case Computed::fp8:
      return card.fp8 ? half * (*card.fp8 / card.half) * fp8_share : half;
    case Computed::fp4:
      return card.fp4 ? half * (*card.fp4 / card.half) * fp4_share : half;
    case Computed::fp32:
    case Computed::tf32:
    case Computed::half:
      break;
  }
  return half;
}

// Of everything that is neither FP8 nor FP4.
double plain_rate(const SpeedSetting& setting) {
  const CardRates& card = setting.card;
  switch (setting.computed) {
    case Computed::fp32:
      return card.fp32;
    case Computed::tf32:
      return card.tf32.value_or(card.fp32);
    case Computed::half:
    case Computed::fp8:
    case Computed::fp4:
      break;
  }
  return card.half;
}

struct Product {
  double rate, bandwidth, tokens;
  double seconds(double outputs, double inputs) const {
    const double traffic = 2 * (tokens * inputs + outputs * inputs + tokens * outputs);
    return 2 * tokens * outputs * inputs / rate + operand_passes * traffic / bandwidth;
  }
};

double layer_products(const SpeedSetting& setting, const Product& product) {
  const Shape& model = setting.sizes.model;
  if (setting.active > 0) return product.seconds(setting.active / model.hidden / model.layers, model.hidden);
  const double query = model.heads * model.head_size, keys = model.kv_heads * model.head_size;
  return product.seconds(query + 2 * keys, model.hidden) + product.seconds(model.hidden, query) +
         product.seconds((model.gated ? 2 : 1) * model.feed_forward, model.hidden) +
         product.seconds(model.hidden, model.feed_forward);
}

bool gathers_weights(const SpeedSetting& setting) {
  const Layout& layout = setting.sizes.layout;
  return layout.shards > 1 && (layout.zero_stage == 3 || layout.zero_stage == 0);
}

double exchange_seconds(const SpeedSetting& setting, double own, bool adapters) {
  const CardRates& card = setting.card;
  if (setting.streams_weights) return own * 2 / (card.host_link * 0.8);
  if (!gathers_weights(setting)) return 0;
  const double cards = setting.sizes.layout.cards;
  // Where there is no link, two directions of several cards share the host's.
  double link = card.link > 0 ? card.link * link_share : card.host_link * 0.3;
  if (cards > card.linked) link = std::min(link, network) / (1 + network_doubling * std::log2(cards / 8));
  return (adapters ? 2 : 3) * 2 * own / link;
}

}  // namespace

TrainingTime training_time(const SpeedSetting& setting) {
  const Setting& sizes = setting.sizes;
  const Shape& model = sizes.model;
  const Layout& layout = sizes.layout;
  const Program program = program_of(setting);
  const CardRates& card = setting.card;
  const bool adapters = sizes.trained == Trained::adapter;
  const double tokens = sizes.batch * sizes.prompt;
  const double bandwidth = card.bandwidth * stream_share;
  const double plain = plain_rate(setting) * card.sustained * program.products;
  const double backward = adapters ? 1 : 2;  // frozen weights have no gradients of their own
  const double again = setting.recomputed.value_or(sizes.saved == Saved::layer_inputs ? 1
                                                   : sizes.saved == Saved::products   ? 0.15
                                                                                      : 0);
  const double parallel = layout.tensor * layout.pipeline * layout.context;
  const double query = model.heads * model.head_size;

  const double products =
      model.layers * layer_products(setting, {layer_rate(setting, plain), bandwidth, tokens}) * (1 + backward + again);
  const double attention = 4 * sizes.prompt * query * (model.encoder ? 1 : 0.5) * tokens * model.layers /
                           (plain * attention_share(card.generation) * program.attention) * (3.5 + again);
  const double head =
      model.encoder ? 0 : Product{plain, bandwidth, tokens}.seconds(model.vocabulary, model.hidden) * (1 + backward);
  double between = tokens * model.layers * program.memory * (109 * model.hidden + 23 * model.feed_forward) / bandwidth *
                   (again >= 1 ? 1.33 : 1);
  if (model.encoder)  // which writes its scores
    between += tokens * model.layers * model.heads * sizes.prompt * 20 / bandwidth *
               (setting.computed == Computed::fp32 ? 2 : 1);
  const double loss = model.encoder ? 0 : tokens * model.vocabulary * 20.5 * program.memory / bandwidth;

  TrainingTime time;
  const double own = model.parameters / (layout.tensor * layout.pipeline);
  double trained = adapters ? own * 0.01 : own;
  if (layout.zero_stage > 0 || layout.shards > 1) trained /= std::max(1.0, layout.shards);
  const double accumulation =
      setting.runtime == Runtime::native ? std::max(1.0, native_step_tokens / tokens) : setting.accumulation;
  const double optimizer = setting.optimizer_steps ? trained * optimizer_bytes / bandwidth / accumulation : 0;
  time.parts = {{"matrix products", products / parallel},
                {"attention", attention / parallel},
                {"output head", head / parallel},
                {"between products", between / parallel},
                {"loss", loss / parallel}};
  double computing = 0;
  for (const PartOfTime& part : time.parts) computing += part.seconds;
  time.launching = model.layers / layout.pipeline * program.launch * (2.5 + (again >= 1 ? 1 : 0));
  computing = std::max(computing, time.launching);
  if (adapters && sizes.stored == Stored::int4_groups) {  // unpacked anew in each pass, by kernels that are slow at it
    time.parts.push_back({"unpacking weights", model.matrices * 3.7e-11 / layout.tensor});
    computing += time.parts.back().seconds;
  }
  time.parts.push_back({"optimizer", optimizer});
  time.exchange = exchange_seconds(setting, own, adapters);
  time.seconds = std::max(computing, time.exchange) + exposed * std::min(computing, time.exchange) + optimizer;
  if (layout.tensor > 1) {  // the activations of every layer, four times a pass; Megatron hides most of it
    const double link = card.link > 0 ? card.link * link_share : card.host_link * 0.5;
    const double sent = tokens / layout.context * model.hidden * 2 * (layout.tensor - 1) / layout.tensor;
    time.seconds += model.layers / layout.pipeline * 4 * (2 + again) * sent / link *
                    (setting.runtime == Runtime::megatron ? 0.17 : 1.83);
  }
  if (layout.pipeline > 1) {
    const double flight = setting.in_flight > 0 ? setting.in_flight : sizes.batch;
    time.seconds *= 1 + (layout.pipeline - 1) / (flight * setting.chunks);
  }
  time.tokens = tokens / parallel;
  return time;
}

}  // namespace assay::predict
