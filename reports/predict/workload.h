// What is to be done with a model: the full description that memory, speed and money are predicted from.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/format.h"

namespace assay {

enum class Purpose : std::uint8_t { inference, training };

// What is trained. frozen: the last `trained_layers` layers and the head. adapter: prefix adapters (LLaMA-Adapter).
enum class Tuning : std::uint8_t { full, lora, frozen, adapter };
enum class Recompute : std::uint8_t { none, selective, full };
enum class Optimizer : std::uint8_t { adamw, adamw_8bit, sgd, adafactor, muon };

// Which matrices of a layer have low-rank adapters.
enum class LoraTargets : std::uint8_t {
  all,              // every matrix
  attention_value,  // queries and values (LoRA's paper, LitGPT)
  attention,        // queries, keys, values and output
};

// How a model is spread over devices. The product of data, tensor, pipeline and context is the number of devices;
// experts are spread over devices of the data group.
struct Layout {
  std::int64_t data = 1;
  int zero_stage = 0;  // what the data group shares out: 1 optimizer, 2 and gradients, 3 and weights (FSDP)
  std::int64_t tensor = 1;
  std::int64_t pipeline = 1;
  std::int64_t virtual_stages = 1;  // chunks of layers a pipeline stage holds (interleaved 1F1B)
  std::int64_t context = 1;         // a sequence is cut into this many pieces
  std::int64_t expert = 1;
  bool offload = false;  // weights and optimizer in the host's memory

  std::int64_t devices() const { return data * tensor * pipeline * context; }
};

// Who holds the memory: each framework keeps other things alive, and no single multiplier is honest.
enum class Framework : std::uint8_t {
  usual,         // what most people use for the purpose: vllm to serve, eager to train; resolve() says which
  own,           // this suite's steps: planned offsets, no allocator
  eager,         // PyTorch, one kernel an operation
  compiled,      // PyTorch with torch.compile
  fsdp,          // PyTorch FSDP or FSDP2; fp32 sharded masters
  deepspeed,     // ZeRO: 16-bit weights, fp32 masters, flat buffers
  megatron,      // tensor and pipeline parallel with fused kernels
  transformers,  // Hugging Face generate(): the whole prompt in one pass
  vllm,          // paged cache, a pool that fills the card, a profile pass
  llama_cpp,     // buffers laid out by its graph allocator
  tensorrt,      // engine with one execution context
};

struct Workload {
  Purpose purpose = Purpose::inference;
  std::int64_t batch = 1;    // sequences at once: the micro-batch of a device, or the users served together
  std::int64_t context = 0;  // tokens a sequence; 0: 4096 or the model's own limit, whichever is less
  Format weights;            // set by default_workload(): bf16
  Format kv;                 // bf16
  Tuning tuning = Tuning::full;
  std::int64_t lora_rank = 16;
  Recompute recompute = Recompute::none;
  Optimizer optimizer = Optimizer::adamw;

  // What goes beyond the fields above; the defaults change nothing.
  Framework framework = Framework::usual;
  Layout layout;
  LoraTargets lora_targets = LoraTargets::all;
  std::int64_t trained_layers = 2;  // Tuning::frozen
  std::int64_t accumulation = 1;    // micro-batches a step
  std::int64_t prefill_chunk = 0;   // tokens of a prompt read at once; 0: all (transformers), else the profile's own
  std::int64_t generated = 0;       // tokens made after a context of prompt; they are not part of `context`
  double weight_bits = 0;     // of a layer matrix with its scales where no Format says it (GPTQ, GGUF); 0: see weights
  double embedding_bits = 0;  // of the embedding and the head likewise
  bool embedding_trained = false;    // LoRA with the embedding and the head trained as well
  bool flash = true;                 // attention that never writes the scores
  bool fused_loss = false;           // logits never held at once
  bool packed = false;               // sequences packed to full length
  bool offload_activations = false;  // recompute's inputs are kept in the host's memory
  double pool_share = 0;             // vLLM: the share of the card that it takes; 0: just what is needed
};
Workload default_workload(Purpose purpose);

std::string text(Framework framework);
const std::vector<std::pair<std::string, Framework>>& framework_names();  // as options and files write them

}  // namespace assay
