// The sentences with which a decoder block is refused.
// SPDX-License-Identifier: Apache-2.0
#include "core/models/decoder_checks.h"

#include <cstdint>
#include <string>

#include "core/error.h"

namespace assay {
namespace {

[[noreturn]] void refuse(const ModelSpec& model, const std::string& why) {
  throw Unsupported("building a decoder block of " + model.name + ": " + why);
}

void check_model(const ModelSpec& model, const BlockSetup& setup) {
  if (model.kind != ModelKind::decoder) refuse(model, "it is not a decoder");
  if (model.latent) refuse(model, "latent attention is not built yet");
  if (model.experts) refuse(model, "experts are not built yet");
  if (model.window && *model.window < setup.length) {
    refuse(model, "its window of " + std::to_string(*model.window) + " tokens is shorter than the length of " +
                      std::to_string(setup.length));
  }
  if (model.query_key_norm) refuse(model, "norms on queries and keys are not built yet");
  if (model.position == PositionKind::alibi) refuse(model, "position biases on the scores are not built yet");
  if (model.norms_per_layer != 2) {
    refuse(model, std::to_string(model.norms_per_layer) + " norms in a layer are not built yet, only two");
  }
}

void check_setup(const ModelSpec& model, const BlockSetup& setup) {
  const Element element = setup.compute.element;
  const bool plain = setup.compute.scaling == Scaling::none;
  if (!plain ||
      (element != Element::fp64 && element != Element::fp32 && element != Element::bf16 && element != Element::fp16)) {
    refuse(model, "computing in " + text(setup.compute) + " is not built yet, only fp64, fp32, bf16 and fp16");
  }
  if (setup.optimizer && element == Element::fp64) refuse(model, "the optimizer's masters are fp32, not fp64");
  if (setup.optimizer && !setup.backward) throw BadInput("An optimizer step needs the backward pass.");
  for (const std::int64_t size :
       {setup.batch, setup.length, model.hidden, model.heads, model.kv_heads, model.head_size, model.feed_forward}) {
    if (size < 1) throw BadInput("A decoder block of " + model.name + " has a dimension of " + std::to_string(size));
  }
  if (model.heads % model.kv_heads != 0) {
    throw BadInput("A decoder block of " + model.name + " has " + std::to_string(model.heads) +
                   " heads, not a multiple of its " + std::to_string(model.kv_heads) + " key heads.");
  }
}

}  // namespace

void check_block(const ModelSpec& model, const BlockSetup& setup) {
  check_model(model, setup);
  check_setup(model, setup);
}

}  // namespace assay
