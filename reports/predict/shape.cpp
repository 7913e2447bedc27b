// Sizes of transformers from the numbers on their cards.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "reports/predict/setting.h"

namespace assay::predict {
namespace {

// What numbers of a card may be off by and still be explained: norms, biases and positions.
constexpr double explained = 0.03;

double matrices_of(const Shape& shape) {
  const double attention = (2 * shape.heads + 2 * shape.kv_heads) * shape.head_size * shape.hidden;
  const double feed_forward = (shape.gated ? 3 : 2) * shape.hidden * shape.feed_forward;
  return shape.layers * (attention + feed_forward);
}

}  // namespace

std::optional<Shape> shape_from_figures(double parameters, double layers, double hidden, double heads, double kv_heads,
                                        double feed_forward, double vocabulary) {
  if (!(layers > 0 && hidden > 0 && heads > 0)) return std::nullopt;
  Shape shape;
  shape.parameters = parameters;
  shape.layers = layers;
  shape.hidden = hidden;
  shape.heads = heads;
  shape.kv_heads = kv_heads > 0 ? kv_heads : heads;
  shape.feed_forward = feed_forward;
  shape.vocabulary = vocabulary;
  shape.head_size = hidden / heads;
  if (!(parameters > 0 && feed_forward > 0 && vocabulary > 0)) return shape;
  Shape best;
  double least = HUGE_VAL;
  for (const bool gated : {true, false}) {
    for (const double head_size : {hidden / heads, 128.0, 64.0, 256.0, 96.0, 80.0}) {
      for (const bool tied : {true, false}) {
        Shape one = shape;
        one.gated = gated;
        one.tied = tied;
        one.head_size = head_size;
        one.matrices = matrices_of(one);
        const double total = one.matrices + (tied ? 1 : 2) * one.embedding();
        // The usual head size wins over others that explain hardly more.
        const double off = std::abs(total / parameters - 1) + (head_size == hidden / heads ? 0 : 0.002);
        if (off < least) {
          least = off;
          best = one;
        }
      }
    }
  }
  if (least <= explained) return best;
  best = shape;
  if (hidden / heads < 128 && std::fmod(hidden, 128) == 0) best.head_size = 128;
  best.matrices = std::max(parameters - 2 * shape.embedding(), 0.0);
  return best;
}

Shape shape_of(const ModelSpec& model) {
  Shape shape;
  shape.parameters = static_cast<double>(parameters(model));
  shape.layers = static_cast<double>(model.layers);
  shape.hidden = static_cast<double>(model.hidden);
  shape.heads = static_cast<double>(model.heads);
  shape.kv_heads = static_cast<double>(model.kv_heads);
  shape.head_size = static_cast<double>(model.head_size);
  shape.feed_forward = static_cast<double>(model.feed_forward);
  shape.vocabulary = static_cast<double>(model.vocabulary);
  shape.gated = model.mlp == MlpKind::gated;
  shape.tied = model.tied_embeddings;
  shape.encoder = model.kind == ModelKind::encoder;
  if (model.latent) shape.latent = static_cast<double>(model.latent->kv_rank + model.latent->rope_head);
  for (const ParameterItem& item : parameter_items(model))
    if (item.layer_matrix) shape.matrices += static_cast<double>(item.count);
  return shape;
}

}  // namespace assay::predict
