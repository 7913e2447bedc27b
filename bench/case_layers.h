// The products of real transformers' layers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

namespace assay {

struct Layer {
  const char* model;
  const char* name;
  std::int64_t inputs;   // k
  std::int64_t outputs;  // n
  bool large = false;    // for accelerators only
};

// From the models' own configurations: GPT-2 (hidden 768, feed-forward 3072, vocabulary 50257), Llama-3-8B (hidden
// 4096, 32 query and 8 key-value heads of 128, feed-forward 14336, vocabulary 128256) and Llama-3-70B (hidden 8192, 64
// and 8 heads of 128, feed-forward 28672). Queries, keys and values, and gate and up, are one product each.
inline constexpr std::array<Layer, 14> layers = {{
    {"gpt2", "qkv", 768, 2304},
    {"gpt2", "out", 768, 768},
    {"gpt2", "up", 768, 3072},
    {"gpt2", "down", 3072, 768},
    {"gpt2", "head", 768, 50257},
    {"llama-3-8b", "qkv", 4096, 6144},
    {"llama-3-8b", "out", 4096, 4096},
    {"llama-3-8b", "gate_up", 4096, 28672},
    {"llama-3-8b", "down", 14336, 4096},
    {"llama-3-8b", "head", 4096, 128256, true},
    {"llama-3-70b", "qkv", 8192, 10240, true},
    {"llama-3-70b", "out", 8192, 8192, true},
    {"llama-3-70b", "gate_up", 8192, 57344, true},
    {"llama-3-70b", "down", 28672, 8192, true},
}};

// A product for each expert, over the tokens that were sent to it.
struct Experts {
  const char* model;
  const char* name;
  std::int64_t count;
  std::int64_t inputs;
  std::int64_t outputs;
};

// Mixtral-8x7B (hidden 4096, 8 experts of 14336) and Qwen3-30B-A3B (hidden 2048, 128 experts of 768).
inline constexpr std::array<Experts, 4> expert_layers = {{
    {"mixtral-8x7b", "experts_gate_up", 8, 4096, 28672},
    {"mixtral-8x7b", "experts_down", 8, 14336, 4096},
    {"qwen3-30b-a3b", "experts_gate_up", 128, 2048, 1536},
    {"qwen3-30b-a3b", "experts_down", 128, 768, 2048},
}};

}  // namespace assay
