// What a prediction is about: a model's shape, how its numbers are stored, the program that runs it, and over how many
// cards.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/models/model.h"

namespace assay::predict {

// The sizes of a transformer that decide its memory. Counts are whole numbers held as doubles: they only enter
// products.
struct Shape {
  double parameters = 0;
  double layers = 0, hidden = 0, heads = 0, kv_heads = 0, head_size = 0, feed_forward = 0, vocabulary = 0;
  bool gated = true;     // three feed-forward matrices, or two
  bool tied = false;     // one table serves as embedding and head
  bool encoder = false;  // both ways, and its training keeps all attention scores
  double matrices = 0;   // parameters in the matrices of layers: what short formats apply to

  double rest() const { return parameters - matrices; }     // embeddings, head, norms
  double embedding() const { return vocabulary * hidden; }  // parameters of one table
  double latent = 0;                                        // numbers a token and layer keeps where attention is latent
  double cache_numbers() const { return layers * (latent > 0 ? latent : 2 * kv_heads * head_size); }  // of a token
};

// From the numbers that model cards state. The head's size, whether the feed-forward is gated and whether the tables
// are one follow from what makes the parameters add up; where nothing does (experts), all but two tables is matrices.
// Absent where layers, hidden or heads are missing.
std::optional<Shape> shape_from_figures(double parameters, double layers, double hidden, double heads, double kv_heads,
                                        double feed_forward, double vocabulary);

Shape shape_of(const ModelSpec& model);

// How the matrices of layers are stored. Everything else is in half precision, but where said.
enum class Stored : std::uint8_t {
  fp32,
  half,
  fp8_blocks,   // with a scale for 128 x 128
  int8_groups,  // GPTQ: scale and zero a group of 128
  int4_groups,  // GPTQ
  int4_awq,
  nf4,         // with an FP32 scale for 64
  nf4_double,  // whose scales are in 8 bits themselves
  gguf_q4_0,
  gguf_q4_k_m,
  gguf_q8_0,
  gguf_f16,
};
bool is_gguf(Stored stored);

// Bytes of one number of a matrix, scales included. Of Q4_K_M the smaller of its two kinds.
double bytes_of(Stored stored);

// Programs differ in what they keep; no single factor fits them.
enum class Stack : std::uint8_t {
  transformers,  // Hugging Face: un-chunked prefill, caches that grow
  awq_fused,     // AutoAWQ: a cache made before, attention that keeps its scores where heads share keys
  litgpt,
  llama_cpp,
  vllm,
  trainer,    // Hugging Face's trainer on one card
  deepspeed,  // ZeRO
  fsdp,       // FP32 shards, gathered in BF16 layer by layer
  torchtune,
  unsloth,
  plain,  // a model and an optimizer, nothing else
};

enum class Use : std::uint8_t { inference, training };
enum class Trained : std::uint8_t { everything, adapter };
enum class Saved : std::uint8_t {
  everything,
  products,
  layer_inputs
};  // what the backward pass finds: recompute none, selective, full

// Which of a program's counters is meant.
enum class Counter : std::uint8_t {
  weights,
  kv_cache,
  activation,
  allocated_peak,   // the most that tensors ever took
  allocated_after,  // what they take when it is done
  reserved,         // with what the allocator holds back
  device,           // with the runtime's context: what the driver shows
};

struct Layout {
  double cards = 1;
  double shards = 1;  // over how many the states are split
  int zero_stage = 0;
  double tensor = 1, pipeline = 1, context = 1;
};

struct Setting {
  Shape model;
  Use use = Use::inference;
  Stack stack = Stack::transformers;
  Stored stored = Stored::half;
  double cache_bytes = 2;  // a number of keys or values
  Counter counter = Counter::allocated_peak;
  bool all_cards = false;  // the reading is the sum over the cards
  double batch = 1;
  double prompt = 0, generated = 0;  // tokens of each sequence; for training, prompt is its length
  Trained trained = Trained::everything;
  std::optional<double> rank;                // of adapters
  std::optional<double> adapter_parameters;  // where stated
  bool scaled_outputs = false;  // adapters that add to and scale what every matrix gives (LLaMA-Adapter v2)
  bool tables_trained = false;  // embedding and head beside the adapters
  Saved saved = Saved::everything;
  bool states_on_host = false;  // weights and optimizer wait there; only what is gathered is on the card
  bool fused_loss = false;      // logits never exist as a whole
  bool chunked_loss = false;
  bool small_card = false;  // the program's settings for 24 GB: optimizer inside the backward pass
  Layout layout;
};

}  // namespace assay::predict
