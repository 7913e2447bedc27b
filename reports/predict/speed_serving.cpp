// The time of a prompt and of a token.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "reports/predict/memory.h"
#include "reports/predict/speed.h"

namespace assay::predict {
namespace {

// Products of one row are bound by what one multiprocessor can keep under way, where the memory is faster than all of
// them: 24 GB/s each, more in FP8.
constexpr double unit_bandwidth = 23e9, unit_bandwidth_fp8 = 29e9;

// Starting a layer took this long on hosts of 2020; what came later is faster.
constexpr double newer_host = 0.65;

enum class Kind : std::uint8_t { half, fp8, int8, awq, groups };
Kind kind_of(Stored stored) {
  switch (stored) {
    case Stored::fp8_blocks:
      return Kind::fp8;
    case Stored::int8_groups:
    case Stored::gguf_q8_0:
      return Kind::int8;
    case Stored::int4_awq:
      return Kind::awq;
    case Stored::int4_groups:
    case Stored::nf4:
    case Stored::nf4_double:
    case Stored::gguf_q4_0:
    case Stored::gguf_q4_k_m:
      return Kind::groups;
    case Stored::fp32:
    case Stored::half:
    case Stored::gguf_f16:
      break;
  }
  return Kind::half;
}
bool four_bits(Kind kind) { return kind == Kind::awq || kind == Kind::groups; }

struct Case {
  const SpeedSetting& setting;
  const Setting& sizes = setting.sizes;
  const Shape& model = sizes.model;
  const CardRates& card = setting.card;
  Kind kind = kind_of(sizes.stored);
  double active = setting.active > 0 ? setting.active : model.matrices;
  double rate = card.half * card.sustained;
  double host = card.year <= 2020 ? 1 : newer_host;
  double experts = setting.expert_count;

  double weights() const {  // bytes read for a token
    const double head = model.embedding() * (is_gguf(sizes.stored) && sizes.stored != Stored::gguf_f16 ? 0.82 : 2);
    constexpr double finer = 1.07;  // Q4_K_M keeps some matrices in Q6_K
    const double each = setting.matrix_bytes.value_or(bytes_of(sizes.stored));
    // Tokens of several sequences meet experts of their own, until all of them are read.
    const double met = experts > 0 ? model.matrices * (1 - std::pow(1 - active / model.matrices, sizes.batch)) : active;
    return met * each * (sizes.stored == Stored::gguf_q4_k_m ? finer : 1) + head;
  }
  double cache(double tokens) const {  // bytes of all sequences
    return model.cache_numbers() * sizes.cache_bytes * sizes.batch * tokens;
  }
  double halfway() const { return sizes.prompt + sizes.generated / 2; }
  double prompt_products() const { return 2 * active * sizes.batch * sizes.prompt; }
  double prompt_attention() const {
    return 2 * model.layers * model.heads * model.head_size * sizes.batch * sizes.prompt * sizes.prompt;
  }
  // Sums over the cards that share a layer, twice a layer, of so many tokens.
  double exchange(double tokens, double cards) const {
    if (cards <= 1) return 0;
    const double link = card.link > 0 ? card.link * 0.75 : card.host_link * 0.3;
    return 2 * model.layers * tokens * model.hidden * 2 * 2 * (cards - 1) / cards / link;
  }
  // Of many rows the products themselves may take longer than reading the weights.
  double rows(double share) const { return 2 * active * sizes.batch / (rate * share); }
};

ServingTime of_engine(const Case& one) {
  const double cards = one.sizes.layout.tensor * one.sizes.layout.pipeline;
  const double share = 0.94;
  const bool few_rows = one.sizes.batch < 16;
  const double most = few_rows && one.card.units > 0
                          ? one.card.units * (one.kind == Kind::fp8 ? unit_bandwidth_fp8 : unit_bandwidth)
                          : one.card.bandwidth;
  const double reading = one.weights() / (std::min(one.card.bandwidth, most) * share);
  const double cache = one.cache(one.halfway()) / (std::min(one.card.bandwidth, most) * share);
  double starting = one.model.layers * one.host * (1.45e-4 + (cards > 1 ? 2.3e-5 : 0));
  if (one.experts > 0 && four_bits(one.kind)) starting += one.model.layers * 6e-4;  // kernels without a fast path
  const bool units = one.card.fp8.has_value();
  const double faster = one.kind == Kind::fp8 && units ? 1.95
                        : four_bits(one.kind)          ? 0.82
                        : one.kind == Kind::int8       ? 0.81
                                                       : 1;
  ServingTime time;
  const double moved = std::max(reading, one.rows(0.486 * faster)) + cache;
  time.token = moved / cards + starting + one.exchange(one.sizes.batch, cards);
  time.prompt =
      (one.prompt_products() / (one.rate * 0.486 * faster) + one.prompt_attention() / (one.rate * 0.95)) / cards +
      starting + one.exchange(one.sizes.batch * one.sizes.prompt, cards);
  time.bound = moved / cards > starting ? "memory bandwidth" : "starting kernels";
  return time;
}

// Shares of bandwidth that generate() reaches with kernels of each format, and seconds to start a layer.
struct Generating {
  double share, start;
};
Generating generating(Kind kind) {
  switch (kind) {
    case Kind::fp8:
      return {0.114, 2.84e-3};
    case Kind::int8:
      return {0.336, 1.13e-3};
    case Kind::awq:
      return {0.304, 1.10e-3};
    case Kind::groups:
      return {0.229, 8.1e-4};
    case Kind::half:
      break;
  }
  return {0.61, 8.8e-4};
}

ServingTime of_transformers(const Case& one) {
  const Generating program = generating(one.kind);
  const double most = one.card.units > 0 ? std::min(one.card.bandwidth, one.card.units * 24.5e9) : one.card.bandwidth;
  constexpr double copy_share = 0.61;
  // Keys and values are copied to as many heads as there are queries: written, read, and read for scores and outputs.
  const double shared = one.model.heads / one.model.kv_heads;
  const double cache = one.cache(one.halfway());
  const double moved =
      one.weights() / (most * program.share) + cache * ((shared > 1 ? 3.5 * shared : 1) + 0.18) / (most * copy_share);
  double starting = one.model.layers * program.start * one.host;
  if (one.experts > 0)  // one after the other, used or not
    starting += one.model.layers * one.experts * (one.kind == Kind::half ? 1.26e-4 : 5.4e-4) * one.host;
  ServingTime time;
  time.token = std::max(starting, moved);
  if (!one.setting.flash && (one.kind == Kind::half || one.kind == Kind::fp8))
    time.token += 2.9 * cache / (most * copy_share);
  time.prompt = std::max(one.prompt_products() / one.rate + one.prompt_attention() / (one.rate * 0.95), starting);
  time.bound = moved > starting ? "memory bandwidth" : "starting kernels";
  return time;
}

// Quantised kernels unpack 18.5 bytes in a cycle of a multiprocessor. Layers on several cards come one after the other.
ServingTime of_llama(const Case& one) {
  const bool quantised = one.sizes.stored != Stored::gguf_f16;
  const double cycles = one.card.units * one.card.hertz;
  ServingTime time;
  const double reading = one.weights() / (one.card.bandwidth * (quantised ? 0.9 : 0.84)) +
                         (quantised && cycles > 0 ? one.weights() / (cycles * 18.5) : 0);
  const double starting = one.model.layers * 4.5e-5;
  time.token = reading + one.cache(one.halfway()) / (one.card.bandwidth * 0.3) + starting;
  const double accumulate =
      (one.card.half_accumulate > 0 ? one.card.half_accumulate : one.card.half) * std::min(1.0, one.card.sustained);
  const double tokens = one.sizes.batch * one.sizes.prompt;
  time.prompt = one.prompt_products() / (accumulate * (quantised ? 0.35 : 0.92)) +
                tokens / 512 * (one.model.layers * 3.7e-4 + one.weights() / one.card.bandwidth);
  time.bound = reading > starting ? "memory bandwidth" : "starting kernels";
  return time;
}

ServingTime of_awq(const Case& one) {
  constexpr double one_row = 6.2e12;  // numbers a second that kernels for one row multiply with each row
  const double batch = one.sizes.batch;
  double reading = one.weights() / (one.card.bandwidth * 0.87);
  if (one.setting.one_row_kernels && batch > 1) reading = std::max(reading, batch * one.active / one_row);
  const double starting = one.model.layers * 6e-5;
  ServingTime time;
  time.token = reading + one.cache(one.sizes.prompt + one.sizes.generated) / (one.card.bandwidth * 0.8) + starting;
  const double tokens = batch * one.sizes.prompt;
  constexpr double first = 0.048;
  time.prompt =
      tokens * (one.setting.one_row_kernels ? one.active / one_row : 2 * one.active / (one.rate * 0.36)) + first;
  time.bound = reading > starting ? "memory bandwidth" : "starting kernels";
  return time;
}

ServingTime of_exllama(const Case& one) {
  const double reading = one.weights() / (one.card.bandwidth * 0.98), starting = one.model.layers * 6e-5;
  ServingTime time = of_engine(one);
  time.token = reading + one.cache(one.halfway()) / (one.card.bandwidth * 0.8) + starting;
  time.bound = reading > starting ? "memory bandwidth" : "starting kernels";
  return time;
}

ServingTime of_litgpt(const Case& one) {
  const double reading = one.weights() / (one.card.bandwidth * 0.5);
  double starting = one.model.layers * 1.0e-3;
  if (one.sizes.stored == Stored::nf4) starting += one.model.layers * 4.9e-4;
  if (one.sizes.stored == Stored::nf4_double) starting += one.model.layers * 6.9e-4;
  ServingTime time = of_transformers(one);
  time.token = std::max(reading, starting);
  time.bound = reading > starting ? "memory bandwidth" : "starting kernels";
  return time;
}

}  // namespace

ServingTime serving_time(const SpeedSetting& setting) {
  const Case one{setting};
  switch (setting.runtime) {
    case Runtime::engine:
    case Runtime::native:
    case Runtime::megatron:
      return of_engine(one);
    case Runtime::llama_cpp:
      return of_llama(one);
    case Runtime::awq_fused:
      return of_awq(one);
    case Runtime::exllama:
      return of_exllama(one);
    case Runtime::litgpt:
      return of_litgpt(one);
    case Runtime::transformers:
    case Runtime::eager:
    case Runtime::compiled:
    case Runtime::trainer:
    case Runtime::deepspeed:
      break;
  }
  return of_transformers(one);
}

double speed_half_width(const SpeedSetting& setting) {
  const bool serves = setting.sizes.use == Use::inference;
  if (setting.sizes.model.encoder) return 0.5;
  switch (setting.runtime) {
    case Runtime::eager:
    case Runtime::native:
    case Runtime::trainer:
    case Runtime::deepspeed:
      return 0.15;
    case Runtime::compiled:
    case Runtime::megatron:
      return 0.3;
    case Runtime::engine:
    case Runtime::exllama:
    case Runtime::litgpt:
      return 0.19;
    case Runtime::transformers:
      return serves && setting.flash ? 0.19 : 0.4;
    case Runtime::llama_cpp:
    case Runtime::awq_fused:
      break;
  }
  return 0.3;
}

}  // namespace assay::predict
