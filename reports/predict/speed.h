// How fast a model trains or serves on a card, from the card's published rates and what programs make of them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reports/predict/setting.h"

namespace assay::predict {

enum class Generation : std::uint8_t { older, ampere, hopper, blackwell };

// What speed takes of a card: dense rates in flops/s with FP32 accumulation, bytes/s of one direction.
struct CardRates {
  Generation generation = Generation::older;  // Ada counts as ampere: the same kind of matrix units
  double year = 2020;                         // the host is about as old
  double bandwidth = 0;
  double half = 0, fp32 = 0;             // products in 16 bits, and without matrix units
  std::optional<double> tf32, fp8, fp4;  // absent: the card has no units for them
  double half_accumulate = 0;            // 16-bit products with 16-bit accumulation
  double units = 0, hertz = 0;           // multiprocessors and their clock
  double sustained = 0.8;                // the share of a dense peak that long products keep
  double link = 0, host_link = 0;        // link 0: none but the host's
  double linked = 8;                     // cards that the link joins
};

// Programs differ in how many kernels they start and in how much passes through memory between products.
enum class Runtime : std::uint8_t {
  eager,      // PyTorch with fused attention
  compiled,   // torch.compile
  trainer,    // Hugging Face's, adapters
  deepspeed,  // Hugging Face's trainer with ZeRO
  megatron,
  native,        // one program of fused kernels
  transformers,  // Hugging Face generate()
  engine,        // vLLM, SGLang: paged cache, graphs
  llama_cpp,
  awq_fused,
  exllama,
  litgpt,
};

enum class Computed : std::uint8_t { fp32, tf32, half, fp8, fp4 };  // of the products in layers

struct SpeedSetting {
  Setting sizes;
  CardRates card;
  Runtime runtime = Runtime::eager;
  Computed computed = Computed::half;
  std::optional<double> matrix_bytes;  // of one number in layers, where no `Stored` says it
  double active = 0;                   // of `sizes.model.matrices`, what one token meets; 0: all of it
  double expert_count = 0;             // 0: dense
  double accumulation = 1;             // micro-batches a step
  double in_flight = 0;  // micro-batches a step of one pipeline; 0: as many sequences as the micro-batch has
  double chunks = 1;     // of a pipeline's stage
  std::optional<double> recomputed;  // share of the forward pass done twice, where not as `sizes.saved` says
  bool optimizer_steps = true;
  bool streams_weights = false;  // weights pass over the host's link in every micro-batch
  bool flash = true;             // attention that never writes its scores
  bool one_row_kernels = false;  // products written for one token (AutoAWQ's GEMV)
};

struct PartOfTime {
  std::string name;
  double seconds = 0;
};

// Of one micro-batch, with its share of the optimizer's step.
struct TrainingTime {
  std::vector<PartOfTime> parts;  // what the card computes, one after the other
  double launching = 0;           // seconds the host takes to start it all; what is less of both is hidden
  double exchange = 0;            // seconds of gathering and reducing, in part hidden
  double seconds = 0;
  double tokens = 0;  // of one card

  double tokens_per_second() const { return tokens / seconds; }
};
TrainingTime training_time(const SpeedSetting& setting);

struct ServingTime {
  double prompt = 0;  // seconds until all prompts are read
  double token = 0;   // seconds for one token of every sequence, halfway through what is generated
  std::string bound;  // of the token: "memory bandwidth" or "starting kernels"
};
ServingTime serving_time(const SpeedSetting& setting);

// How far the truth may be from a predicted rate, as a share of it, on either side.
double speed_half_width(const SpeedSetting& setting);

}  // namespace assay::predict
