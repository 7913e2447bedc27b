// The way back: gradients of products, norms and attention.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <utility>

#include "core/models/layer_builder.h"

namespace assay {

int LayerBuilder::back(const Linear& linear, const LinearUse& use, int gradient, const std::string& name) {
  std::optional<Narrow> slopes;
  if (setup_.fp8) slopes = narrow(gradient, gradient_fp8(setup_.fnuz));
  const Format narrow_weight{forward_fp8(setup_.fnuz), Scaling::tensor};
  const Format narrow_gradient{gradient_fp8(setup_.fnuz), Scaling::tensor};
  if (linear.weight.gradient >= 0) {
    Gemm op = gemm(linear.in, linear.out, tokens_);
    op.transpose_a = true;
    op.beta = adds() ? 1 : 0;
    std::vector<int> operands{use.input, gradient, linear.weight.gradient};
    if (slopes) {
      op.a = narrow_weight;
      op.b = narrow_gradient;
      op.scales = true;
      operands = {use.narrow, slopes->tensor, use.scale, slopes->scale, linear.weight.gradient};
    }
    build_.step(op, operands);
  }
  if (linear.bias && linear.bias->gradient >= 0) {
    build_.step(ColumnSum{tokens_, linear.out, compute_, adds()}, {gradient, linear.bias->gradient});
  }
  const int result = matrix(name, linear.in);
  Gemm op = gemm(tokens_, linear.in, linear.out);
  op.transpose_b = true;
  std::vector<int> operands{gradient, linear.weight.weight, result};
  if (slopes) {
    op.a = narrow_gradient;
    op.b = narrow_weight;
    op.scales = true;
    operands = {slopes->tensor, linear.narrow, slopes->scale, linear.scale, result};
  }
  build_.step(op, operands);
  if (!linear.down) return result;

  const int adapted = matrix(name + ".adapted", setup_.lora_rank);
  Gemm through = gemm(tokens_, setup_.lora_rank, linear.out);
  through.transpose_b = true;
  build_.step(through, {gradient, linear.up->weight, adapted});
  Gemm up = gemm(setup_.lora_rank, linear.out, tokens_);
  up.transpose_a = true;
  up.beta = adds() ? 1 : 0;
  build_.step(up, {use.adapted, gradient, linear.up->gradient});
  Gemm down = gemm(linear.in, setup_.lora_rank, tokens_);
  down.transpose_a = true;
  down.beta = adds() ? 1 : 0;
  build_.step(down, {use.input, adapted, linear.down->gradient});
  Gemm input = gemm(tokens_, linear.in, setup_.lora_rank);
  input.transpose_b = true;
  input.beta = 1;
  build_.step(input, {adapted, linear.down->weight, result});
  return result;
}

void LayerBuilder::back(const NormLayer& layer, const NormUse& use, int gradient, int into, bool accumulate) {
  if (layer.weight.gradient >= 0) {
    std::vector<int> operands{gradient, use.input, use.statistics, layer.weight.gradient};
    if (layer.bias) operands.push_back(layer.bias->gradient);
    const NormKind kind = model_.norm == NormStyle::rms ? NormKind::rms : NormKind::layer;
    build_.step(NormWeights{kind, tokens_, model_.hidden, compute_, adds()}, operands);
  }
  build_.step(norm_op(Direction::backward, accumulate),
              {gradient, use.input, layer.weight.weight, use.statistics, into});
}

// From the gradient of the merged heads to that of the packed projections.
int LayerBuilder::back_attend(const LayerWeights& weights, const AttentionUse& use, int merged_gradient) {
  const int context = like(use.context, "attention.context.gradient");
  build_.step(heads(Direction::backward), {merged_gradient, context});
  const int query = like(use.query, "attention.query.gradient");
  const int key = like(use.key, "attention.key.gradient");
  const int value = like(use.value, "attention.value.gradient");
  if (setup_.attention == StepAttention::fused) {
    build_.step(fused(Direction::backward, weights),
                {context, use.query, use.key, use.value, use.context, use.logsumexp, query, key, value});
  } else {
    const std::int64_t length = setup_.length;
    const std::int64_t head = model_.head_size;
    const std::int64_t rows = model_.heads / model_.kv_heads * length;
    const double scale = 1 / std::sqrt(static_cast<double>(head));

    const int probabilities = like(use.probabilities, "attention.probabilities.gradient");
    Gemm by_value = group_gemm(rows, length, head);
    by_value.transpose_b = true;
    build_.step(by_value, {context, use.value, probabilities});
    Gemm to_value = group_gemm(length, head, rows);
    to_value.transpose_a = true;
    build_.step(to_value, {use.probabilities, context, value});

    const int scores = like(use.probabilities, "attention.scores.gradient");
    build_.step(softmax(Direction::backward), {probabilities, use.probabilities, scores});
    Gemm to_query = group_gemm(rows, head, length);
    to_query.alpha = scale;
    build_.step(to_query, {scores, use.key, query});
    Gemm to_key = group_gemm(length, head, rows);
    to_key.transpose_a = true;
    to_key.alpha = scale;
    build_.step(to_key, {scores, use.query, key});
  }
  const int packed = matrix("attention.packed.gradient", packed_);
  std::vector<int> operands{query, key, value};
  if (model_.position == PositionKind::rotary) operands.push_back(table_);
  operands.push_back(packed);
  build_.step(rope(Direction::backward), operands);
  return packed;
}

}  // namespace assay
