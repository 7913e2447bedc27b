// Memory of serving a model: weights, cache, and what the prompt needs while it is read.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "reports/predict/memory_parts.h"

namespace assay::predict {
namespace {

// Of one layer, while a prompt is read in one piece: three feed-forward tensors (gate, up, their product) and, h wide,
// the residual, its norm and the attention's leavings. 2 bytes each.
double prompt_bytes_per_token(const Shape& model) {
  const double wide = model.gated ? 3 : 2;
  return (wide * model.feed_forward + 4.5 * model.hidden) * 2;
}

// A cache that grows by concatenation leaves its old copies with the allocator.
constexpr double grown_cache = 1.8;

Item weights_item(const Setting& setting) {
  const double cards = setting.layout.tensor;
  return {"weights", weight_bytes(setting) / cards,
          fmt::format("{:.4g} numbers in matrices x {:.4g} B, the rest in 2 B", setting.model.matrices,
                      bytes_of(setting.stored))};
}

Item cache_item(const Setting& setting, double tokens, double factor = 1) {
  return {"KV cache", setting.model.cache_numbers() * setting.cache_bytes * setting.batch * tokens * factor,
          fmt::format("{:.0f} numbers a token x {:.2g} B x {:.0f} sequences x {:.0f} tokens",
                      setting.model.cache_numbers(), setting.cache_bytes, setting.batch, tokens)};
}

// llama.cpp's compute buffer without flash attention (n_ubatch 512): scores in FP32 for all heads, the mask, and four
// rows of the hidden size; over several cards the inputs exist four times.
Item llama_buffer(const Setting& setting) {
  const Shape& model = setting.model;
  const double context = setting.prompt;
  const double rows = std::min(512.0, context);
  const double copies = setting.layout.cards > 1 ? 4 : 1;
  const double wide = 4 * rows * model.hidden * 4;
  const double each =
      rows * context * model.heads * 4 + copies * rows * context * 4 + wide + (setting.layout.cards > 1 ? wide : 0);
  return {"compute buffer", setting.layout.cards * each,
          fmt::format("{:.0f} rows x {:.0f} tokens x {:.0f} heads x 4 B, mask and inputs", rows, context, model.heads)};
}

Memory of_llama(const Setting& setting) {
  const Item cache = cache_item(setting, setting.prompt);
  switch (setting.counter) {
    case Counter::weights:
      return {{weights_item(setting)}, "when it is loaded", "", 0, 0};
    case Counter::kv_cache:
      return {{cache}, "when it is loaded", "", 0, 0};
    case Counter::activation:
      return {{llama_buffer(setting)}, "when it is loaded", "", 0, 0};
    case Counter::allocated_peak:
    case Counter::allocated_after:
    case Counter::reserved:
    case Counter::device:
      break;
  }
  return {{weights_item(setting), cache, llama_buffer(setting)}, "when it is loaded", "", 0, 0};
}

// AutoAWQ makes its cache for at least 2048 tokens of one sequence, and keeps all scores of a prompt (once in half
// precision, twice in FP32 while they are normed) where query heads share keys.
Memory of_awq(const Setting& setting) {
  const Shape& model = setting.model;
  const double tokens = setting.batch * setting.prompt;
  const double cache_tokens = std::max(setting.batch * (setting.prompt + setting.generated), 2048.0);
  Item cache = cache_item(setting, cache_tokens / setting.batch);
  const double scores = setting.batch * model.heads * setting.prompt * setting.prompt;
  const double each = model.kv_heads < model.heads ? 8 : 2;
  Item prompt{"prompt", tokens * prompt_bytes_per_token(model) + scores * each,
              "one layer's tensors and scores for all of its tokens"};
  const double loading = model.embedding() * 2;
  if (loading > prompt.bytes)
    return {{weights_item(setting), cache, {"head while loading", loading, "vocabulary x hidden x 2 B"}},
            "while it is loaded",
            "",
            0,
            0};
  return {{weights_item(setting), cache, prompt}, "while the prompt is read", "", 0, 0};
}

// Quantised by bitsandbytes while loading: half as much again as the head, which is quantised last, stands beside it.
Memory of_litgpt(const Setting& setting) {
  Memory memory{{weights_item(setting), cache_item(setting, 100)}, "while it is loaded", "", 0, 0};
  if (setting.stored == Stored::nf4 || setting.stored == Stored::nf4_double)
    memory.items.push_back(
        {"head while loading", 1.5 * setting.model.embedding() * 2, "1.5 x vocabulary x hidden x 2 B"});
  return memory;
}

Memory of_transformers(const Setting& setting) {
  const Shape& model = setting.model;
  const double cards = setting.all_cards ? setting.layout.cards : 1;
  const Item weights = weights_item(setting);
  const Item whole = cache_item(setting, setting.prompt + setting.generated);
  if (setting.counter == Counter::allocated_after) return {{weights, whole}, "when it is done", "", 0, 0};
  if (setting.counter == Counter::device) {
    const Item grown = cache_item(setting, setting.prompt + setting.generated, grown_cache);
    return {{weights, grown}, "at the end", "", 0, 0};
  }
  const Item prompt{"prompt", cards * setting.batch * setting.prompt * prompt_bytes_per_token(model),
                    "three feed-forward and 4.5 hidden tensors of one layer, 2 B, for all of its tokens"};
  const Item first = cache_item(setting, setting.prompt);
  // One table for embedding and head: AWQ's loader makes the head before it finds that out.
  const Item head{"head while loading", model.embedding() * 2, "vocabulary x hidden x 2 B"};
  const double running = std::max(first.bytes + prompt.bytes, whole.bytes);
  if (setting.stored == Stored::int4_awq && model.tied && head.bytes > running)
    return {{weights, head}, "while it is loaded", "", 0, 0};
  if (first.bytes + prompt.bytes >= whole.bytes)
    return {{weights, first, prompt}, "at the end of the prompt", "", 0, 0};
  return {{weights, whole}, "at the last token", "", 0, 0};
}

}  // namespace

Memory inference_memory(const Setting& setting) {
  if (setting.counter == Counter::weights && !is_gguf(setting.stored))
    return {{weights_item(setting)}, "when it is loaded", "", 0, 0};
  if (setting.counter == Counter::kv_cache && setting.stack == Stack::vllm)
    return not_judged("a server's cache is what it is left, not what a model needs");
  if (setting.counter == Counter::kv_cache && !is_gguf(setting.stored))
    return {{cache_item(setting, setting.prompt + setting.generated)}, "at the last token", "", 0, 0};
  switch (setting.stack) {
    case Stack::llama_cpp:
      return of_llama(setting);
    case Stack::awq_fused:
      return of_awq(setting);
    case Stack::litgpt:
      return of_litgpt(setting);
    case Stack::vllm:
      return not_judged(
          "a server takes all the memory it is given; what it needs beside weights and cache is not modelled yet");
    case Stack::transformers:
    case Stack::trainer:
    case Stack::deepspeed:
    case Stack::fsdp:
    case Stack::torchtune:
    case Stack::unsloth:
    case Stack::plain:
      return of_transformers(setting);
  }
  return not_judged("no such program");
}

}  // namespace assay::predict
