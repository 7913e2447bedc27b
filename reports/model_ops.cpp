// A model's work as the same ops that are measured: the way forward.
// SPDX-License-Identifier: Apache-2.0
#include "reports/model_ops.h"

#include <algorithm>
#include <cmath>

#include "core/checked.h"
#include "reports/forward.h"
#include "reports/workload.h"

namespace assay {
namespace {

double real(std::int64_t value) { return static_cast<double>(value); }

class Forward {
 public:
  Forward(const ModelSpec& model, const Pass& pass) : model_(model), pass_(pass) {}

  std::vector<PartOp> ops() {
    embedding();
    const std::int64_t windowed = windowed_layers(model_);
    if (windowed < model_.layers) attention(real(model_.layers - windowed), pass_.keys);
    if (windowed > 0) attention(real(windowed), std::min(pass_.keys, *model_.window));
    feed_forwards();
    head();
    return std::move(ops_);
  }

 private:
  std::int64_t rows() const { return checked_multiply(pass_.batch, pass_.queries); }

  void add(const std::string& part, const Op& op, double count, double least_share = 1) {
    if (count > 0) ops_.push_back({part, op, count, least_share});
  }

  Gemm product(std::int64_t m, std::int64_t n, std::int64_t k) const {
    Gemm gemm;
    gemm.m = m;
    gemm.n = n;
    gemm.k = k;
    gemm.a = gemm.b = gemm.d = pass_.compute;
    return gemm;
  }

  // A product with weights of the layers, which may be narrower than what they are multiplied with.
  void weights(const std::string& part, std::int64_t m, std::int64_t n, std::int64_t k, double count) {
    Gemm gemm = product(m, n, k);
    gemm.b = pass_.weights;
    add(part, gemm, count);
  }

  void norm(double count, std::int64_t columns, std::int64_t norm_rows) {
    Norm op;
    op.kind = model_.norm == NormStyle::rms ? NormKind::rms : NormKind::layer;
    op.rows = norm_rows;
    op.columns = columns;
    op.format = pass_.compute;
    add("element ops", op, count);
  }

  void residual(double count) {
    Pointwise op;
    op.kind = PointwiseKind::add;
    op.columns = checked_multiply(rows(), model_.hidden);
    op.format = pass_.compute;
    add("element ops", op, count);
  }

  void embedding() {
    Embedding op;
    op.rows = rows();
    op.vocabulary = model_.vocabulary;
    op.columns = model_.hidden;
    op.format = pass_.compute;
    add("element ops", op, 1);
  }

  void attention(double layers, std::int64_t keys) {
    norm(layers * model_.norms_per_layer / 2.0, model_.hidden, rows());
    residual(layers);
    if (model_.latent)
      latent_attention(layers, keys);
    else
      grouped_attention(layers, keys);
  }

  void grouped_attention(double layers, std::int64_t keys) {
    const std::int64_t size = model_.head_size, queries = model_.heads * size, cached = model_.kv_heads * size;
    weights("projections", rows(), queries + 2 * cached, model_.hidden, layers);
    rotate(layers);
    if (model_.query_key_norm) norm(layers, size, checked_multiply(rows(), model_.heads + model_.kv_heads));
    scores(layers, keys, size, size, model_.kv_heads);
    Heads merge;
    merge.batch = pass_.batch;
    merge.length = pass_.queries;
    merge.heads = model_.heads;
    merge.head_size = size;
    merge.format = pass_.compute;
    add("element ops", merge, layers);
    weights("projections", rows(), model_.hidden, queries, layers);
  }

  void rotate(double layers) {
    Rope op;
    op.batch = pass_.batch;
    op.length = pass_.queries;
    op.heads = model_.heads;
    op.kv_heads = model_.kv_heads;
    op.head_size = model_.head_size;
    op.format = pass_.compute;
    op.rotate = model_.position == PositionKind::rotary && model_.head_size % 2 == 0;
    add("element ops", op, layers);
  }

  // Scores, softmax and values. With one query a sequence the heads that share keys go together, so that the cache is
  // read once.
  void scores(double layers, std::int64_t keys, std::int64_t key_size, std::int64_t value_size, std::int64_t groups) {
    const bool one = pass_.queries == 1;
    const std::int64_t batches = checked_multiply(pass_.batch, one ? groups : model_.heads);
    const std::int64_t m = one ? model_.heads / groups : pass_.queries;
    const bool causal = model_.kind == ModelKind::decoder && !one && keys == pass_.queries;
    Gemm score = product(m, keys, key_size);
    score.batch = batches;
    score.transpose_b = true;
    Gemm value = product(m, value_size, keys);
    value.batch = batches;
    const double least = causal ? 0.5 : 1;
    add("attention", score, layers, least);
    add("attention", value, layers, least);
    Softmax softmax;
    softmax.rows = checked_multiply(batches, m);
    softmax.columns = keys;
    softmax.format = pass_.compute;
    softmax.period = causal ? pass_.queries : 0;
    add("attention", softmax, layers, least);
  }

  // A prompt expands keys and values for all heads; a token is better off with the latent rows themselves.
  void latent_attention(double layers, std::int64_t keys) {
    const LatentAttention& latent = *model_.latent;
    const std::int64_t hidden = model_.hidden, key = latent.nope_head + latent.rope_head;
    if (latent.query_rank > 0) {
      weights("projections", rows(), latent.query_rank, hidden, layers);
      weights("projections", rows(), model_.heads * key, latent.query_rank, layers);
    } else {
      weights("projections", rows(), model_.heads * key, hidden, layers);
    }
    weights("projections", rows(), latent.kv_rank + latent.rope_head, hidden, layers);
    weights("projections", rows(), model_.heads * (latent.nope_head + latent.value_head), latent.kv_rank, layers);
    if (pass_.queries == 1)
      scores(layers, keys, latent.kv_rank + latent.rope_head, latent.kv_rank, 1);
    else
      scores(layers, keys, key, latent.value_head, model_.heads);
    weights("projections", rows(), hidden, model_.heads * latent.value_head, layers);
  }

  void feed_forwards() {
    const double dense = real(model_.experts ? model_.experts->dense_layers : model_.layers);
    norm(real(model_.layers) * model_.norms_per_layer / 2.0, model_.hidden, rows());
    residual(real(model_.layers));
    if (dense > 0) feed_forward(rows(), model_.feed_forward, dense);
    if (model_.experts) experts(real(model_.layers) - dense);
  }

  void feed_forward(std::int64_t tokens, std::int64_t width, double count) {
    const bool gated = model_.mlp == MlpKind::gated;
    weights("feed-forward", tokens, gated ? 2 * width : width, model_.hidden, count);
    weights("feed-forward", tokens, model_.hidden, width, count);
    Pointwise op;
    op.kind = gated ? PointwiseKind::swiglu : PointwiseKind::gelu;
    op.rows = gated ? tokens : 1;
    op.columns = gated ? width : checked_multiply(tokens, width);
    op.format = pass_.compute;
    add("element ops", op, count);
  }

  // Tokens choose evenly: of E experts, 1 - (1 - k/E)^tokens are chosen by anyone, and share the tokens.
  void experts(double layers) {
    const Experts& experts = *model_.experts;
    const double share = real(experts.active) / real(experts.count), tokens = real(rows());
    const double busy = std::max(1.0, real(experts.count) * (1 - std::pow(1 - share, tokens)));
    const auto each = std::max<std::int64_t>(1, std::llround(tokens * real(experts.active) / busy));
    Gemm router = product(rows(), experts.count, model_.hidden);
    add("feed-forward", router, layers);
    feed_forward(each, experts.width, layers * busy);
    const std::int64_t shared = experts.shared_width > 0 ? experts.shared_width : experts.shared * experts.width;
    if (shared > 0) feed_forward(rows(), shared, layers);
  }

  void head() {
    if (model_.final_norm) norm(1, model_.hidden, rows());
    if (model_.kind == ModelKind::encoder) return;
    add("output head", product(pass_.all_logits ? rows() : pass_.batch, model_.vocabulary, model_.hidden), 1);
  }

  const ModelSpec& model_;
  Pass pass_;
  std::vector<PartOp> ops_;
};

Pass pass_of(const Workload& workload) {
  Pass pass;
  pass.batch = workload.batch;
  pass.queries = pass.keys = workload.context;
  pass.compute = compute_format(workload.weights);
  pass.weights = bits_per_number(workload.weights) < bits(pass.compute.element) ? workload.weights : pass.compute;
  return pass;
}

}  // namespace

std::vector<PartOp> forward_ops(const ModelSpec& model, const Pass& pass) { return Forward(model, pass).ops(); }

std::vector<PartOp> prompt_ops(const ModelSpec& model, const Workload& workload) {
  return forward_ops(model, pass_of(workload));
}

std::vector<PartOp> token_ops(const ModelSpec& model, const Workload& workload) {
  Pass pass = pass_of(workload);
  pass.queries = 1;
  return forward_ops(model, pass);
}

std::vector<PartOp> step_ops(const ModelSpec& model, const Workload& workload) {
  Pass pass = pass_of(workload);
  pass.all_logits = true;
  const std::vector<PartOp> forward = forward_ops(model, pass);
  std::vector<PartOp> ops = forward;
  const std::vector<PartOp> again = computed_again(forward, workload.recompute);
  ops.insert(ops.end(), again.begin(), again.end());
  const std::vector<PartOp> backward = backward_ops(model, workload, forward);
  ops.insert(ops.end(), backward.begin(), backward.end());
  return ops;
}

}  // namespace assay
