// A whole training step of a decoder, from tokens to new weights, as work that any back end can plan, run and prove.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/models/model.h"
#include "core/models/training_step.h"
#include "core/work.h"

namespace assay {

enum class StepAttention : std::uint8_t { plain, fused };  // products and a softmax, or one op
// What of a layer is computed again on the way back instead of being kept: nothing; the outputs of norms, activations
// and (plain) softmaxes; or everything but the layer's input.
enum class StepRecompute : std::uint8_t { none, selective, full };
enum class StepOptimizer : std::uint8_t { none, adamw, adamw8 };

std::string text(StepAttention attention);
std::string text(StepRecompute recompute);
std::string text(StepOptimizer optimizer);

struct StepSetup {
  std::int64_t batch = 1;  // sequences of one micro-batch
  std::int64_t length = 128;
  std::int64_t micro_batches = 1;  // their gradients are added up before the optimizer's step
  Format compute;     // weights, activations, gradients: fp32, tf32 (products only), bf16, fp16; fp64 without
                      // an optimizer
  bool fp8 = false;   // products with the layers' weights in FP8, scaled by tensor: e4m3, gradients e5m2
  bool fnuz = false;  // FP8 in the dialect of CDNA3, whose numbers are others than those of OCP
  StepAttention attention = StepAttention::fused;
  StepRecompute recompute = StepRecompute::none;
  bool backward = true;
  StepOptimizer optimizer = StepOptimizer::adamw;  // fp32 masters
  std::int64_t lora_rank = 0;                      // not 0: only adapters of that rank beside the layers' weights learn
  double learning_rate = 1e-3;
  double clip = 1;                     // largest norm of all gradients together; 0: any
  std::int64_t warmup = 0;             // steps of a growing learning rate
  bool loss_scaling = false;           // dynamic; what fp16 needs
  double loss_scale = 65536;           // the first one
  std::int64_t scale_interval = 2000;  // steps after which it is doubled
};

// What a setup's FP8 is: of weights and activations, and of gradients.
inline Element forward_fp8(bool fnuz) { return fnuz ? Element::fp8_e4m3_fnuz : Element::fp8_e4m3; }
inline Element gradient_fp8(bool fnuz) { return fnuz ? Element::fp8_e5m2_fnuz : Element::fp8_e5m2; }

// Embedding (and learned positions), the layers of decoder_block(), a last norm, the head (the embedding again where it
// is tied), the mean cross-entropy; the way back; SumSquares over all gradients, AdamControl, and one optimizer step a
// parameter. Phases: forward, recompute, backward, optimizer. Gradients are persistent: their addresses do not change
// and can be given to others. Throws Unsupported, with a sentence, where decoder_block() would (windows are possible
// with fused attention), and BadInput for sizes that are not positive or settings that do not go together.
TrainingStep training_step(const ModelSpec& model, const StepSetup& setup);

// The gradients of a work in buckets of at least `least_bytes` (the last may be smaller), by when they are complete.
std::vector<GradientBucket> gradient_buckets(const Work& work, std::int64_t least_bytes = 25 << 20);

}  // namespace assay
