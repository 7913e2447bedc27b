// The sentences with which a step of a whole model is refused.
// SPDX-License-Identifier: Apache-2.0
#include "core/models/step_checks.h"

#include <string>

#include "core/error.h"
#include "core/models/decoder_checks.h"

namespace assay {

void check_step(const ModelSpec& model, const StepSetup& setup) {
  ModelSpec block = model;
  if (setup.attention == StepAttention::fused) block.window.reset();
  BlockSetup base;
  base.batch = setup.batch;
  base.length = setup.length;
  const Element element = setup.compute.element;
  base.compute = element == Element::tf32 ? Format{Element::fp32, Scaling::none} : setup.compute;
  check_block(block, base);
  const auto refuse = [&](const std::string& why) {
    throw BadInput("A training step of " + model.name + " is not possible: " + why + ".");
  };
  if (model.layers < 1 || model.vocabulary < 1) refuse("it has no layers or no vocabulary");
  if (setup.micro_batches < 1) refuse("micro_batches is " + std::to_string(setup.micro_batches));
  if (setup.lora_rank < 0) refuse("lora_rank is negative");
  if (model.position == PositionKind::learned && setup.length > model.positions) {
    refuse("its " + std::to_string(model.positions) + " positions are fewer than the length of " +
           std::to_string(setup.length));
  }
  if (setup.optimizer != StepOptimizer::none && !setup.backward) refuse("an optimizer needs the way back");
  if (setup.optimizer != StepOptimizer::none && element == Element::fp64) refuse("masters are fp32, not fp64");
  if (setup.loss_scaling && setup.optimizer == StepOptimizer::none) refuse("a loss scale needs an optimizer");
  if (setup.fp8 && element != Element::bf16 && element != Element::fp16 && element != Element::fp32) {
    refuse("FP8 products stand beside bf16, fp16 or fp32, not " + text(setup.compute));
  }
  if (model.embedding_norm) refuse("a norm after the embedding is not built yet");
}

}  // namespace assay
