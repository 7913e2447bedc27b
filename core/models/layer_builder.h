// The parts that whole models are made of, each with the way back: products with weights, norms, attention,
// feed-forward. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/checked.h"
#include "core/models/model.h"
#include "core/models/step.h"
#include "core/models/work_builder.h"

namespace assay {

// A weight, and its gradient where it learns.
struct Parameter {
  int weight = -1;
  int gradient = -1;
  int stream = -1;  // of its numbers, which its master shares
};

// A matrix product with weights [in, out], a bias where the model has one, and adapters where those learn instead.
struct Linear {
  std::string name;
  std::int64_t in = 0, out = 0;
  Parameter weight;
  std::optional<Parameter> bias;
  std::optional<Parameter> down, up;  // adapters [in, rank] and [rank, out]
  int narrow = -1, scale = -1;        // the weight in FP8, made once a step
};

// What the way back through a product needs of the way there.
struct LinearUse {
  int input = -1;               // [tokens, in]; not kept where it is narrow
  int narrow = -1, scale = -1;  // the input in FP8
  int adapted = -1;             // [tokens, rank]
};

struct NormLayer {
  std::string name;
  Parameter weight;
  std::optional<Parameter> bias;
};
struct NormUse {
  int input = -1, output = -1, statistics = -1;
};

struct AttentionUse {
  int query = -1, key = -1, value = -1;
  int probabilities = -1;            // plain
  int context = -1, logsumexp = -1;  // fused
};

struct LayerWeights {
  NormLayer norm1, norm2;
  Linear qkv, projection, up, down;
  std::optional<std::int64_t> window;
};

// One layer's way there, as far as the way back needs it.
struct LayerUse {
  std::string name;  // in front of the names of its activations
  int input = -1;
  NormUse norm1, norm2;
  AttentionUse attention;
  LinearUse qkv, projection, up, down;
  int raised = -1, residual = -1, output = -1;
};

// Where keys and values go when they are to be used again: into tensors of `capacity` tokens, from `position` on. At 0
// a prompt attends to itself; behind that, to all that the cache then holds.
struct KeyCache {
  std::int64_t capacity = 0;
  std::int64_t position = 0;
  Format format;
};

// Builds into one work. `sequences` of `length` tokens go through each part together.
class LayerBuilder {
 public:
  LayerBuilder(const ModelSpec& model, const StepSetup& setup, std::string name,
               std::optional<KeyCache> cache = std::nullopt);

  WorkBuilder& build() { return build_; }
  std::int64_t tokens() const { return tokens_; }
  const std::vector<Parameter>& trained() const { return trained_; }
  void set_micro_batch(std::int64_t number) { micro_batch_ = number; }

  // Weights
  // ------------------------------------------------------------------------------------------------------------
  Parameter parameter(const std::string& name, Shape shape, Initial initial, double magnitude, bool learns);
  Linear linear(const std::string& name, std::int64_t in, std::int64_t out, bool bias, double magnitude);
  NormLayer norm(const std::string& name);
  LayerWeights layer(std::int64_t number);

  // There
  // --------------------------------------------------------------------------------------------------------------
  int matrix(const std::string& name, std::int64_t columns);
  LinearUse take(Linear& linear, int input);  // what a product needs of its input: itself, or itself in FP8
  int apply(Linear& linear, LinearUse& use, const std::string& output);
  NormUse apply(const NormLayer& layer, int input);
  int add(int a, int b, const std::string& name);
  // From packed projections to the heads' merged results.
  int attend(const LayerWeights& weights, int packed, AttentionUse& use);
  // Not `whole`: without the last product and its sum, where only the way back is wanted.
  LayerUse apply(LayerWeights& weights, int input, const std::string& name, bool whole = true);

  // Back
  // ---------------------------------------------------------------------------------------------------------------
  // Gradients of what learns, and the gradient of the input: a new tensor.
  int back(const Linear& linear, const LinearUse& use, int gradient, const std::string& name);
  // Into `into`: added where `accumulate`.
  void back(const NormLayer& layer, const NormUse& use, int gradient, int into, bool accumulate);
  int back_attend(const LayerWeights& weights, const AttentionUse& use, int merged_gradient);
  // The residual's gradient is gathered in place.
  void back(LayerWeights& weights, LayerUse use, int residual_gradient);

  Gemm gemm(std::int64_t m, std::int64_t n, std::int64_t k) const;
  bool adds() const { return micro_batch_ > 0; }  // gradients are there already
  bool adapts() const { return setup_.lora_rank > 0; }

 private:
  struct Narrow {
    int tensor;
    int scale;
  };
  Narrow narrow(int tensor, Element element);
  Gemm group_gemm(std::int64_t m, std::int64_t n, std::int64_t k) const;
  int scores(const AttentionUse& use);
  void remember(AttentionUse& use);
  Attention fused(Direction direction, const LayerWeights& weights) const;
  Pointwise activation(Direction direction) const;
  Norm norm_op(Direction direction, bool accumulate) const;
  Rope rope(Direction direction) const;
  Softmax softmax(Direction direction) const;
  Heads heads(Direction direction) const;
  std::string prefix() const { return micro_batch_ == 0 ? "" : "micro_batch" + std::to_string(micro_batch_) + "."; }
  int like(int tensor, const std::string& name);
  void compute_again(LayerWeights& weights, LayerUse& use);

  const ModelSpec& model_;
  const StepSetup& setup_;
  Format compute_;   // as stored
  Format multiply_;  // what products are told
  WorkBuilder build_;
  std::optional<KeyCache> cache_;
  std::int64_t tokens_, queries_, packed_;
  std::int64_t micro_batch_ = 0;
  int table_ = -1;  // rotations, made when first needed
  int streams_ = 0;
  std::string layer_name_;  // in front of the names of activations
  std::vector<Parameter> trained_;
};

}  // namespace assay
