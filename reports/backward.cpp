// A model's work as ops: the way back, the loss and the optimizer.
// SPDX-License-Identifier: Apache-2.0
#include "reports/forward.h"
#include "reports/workload.h"

namespace assay {
namespace {

// dA = dD B^T and dB = A^T dD: two products of as many flops each.
Gemm gradient_of_input(const Gemm& forward) {
  Gemm gemm = forward;
  gemm.n = forward.k;
  gemm.k = forward.n;
  gemm.transpose_b = !forward.transpose_b;
  return gemm;
}

Gemm gradient_of_weights(const Gemm& forward) {
  Gemm gemm = forward;
  gemm.m = forward.k;
  gemm.k = forward.m;
  gemm.transpose_a = !forward.transpose_a;
  gemm.transpose_b = false;
  gemm.b = gemm.a;
  return gemm;
}

class Backward {
 public:
  Backward(const ModelSpec& model, const Workload& workload) : model_(model), workload_(workload) {}

  void operator()(const PartOp& forward, const Gemm& gemm) {
    const bool of_weights = forward.part != "attention";
    add(forward, gradient_of_input(gemm));
    if (!of_weights || !frozen()) add(forward, gradient_of_weights(gemm));
    if (of_weights && frozen() && forward.part != "output head") adapters(forward, gemm);
  }
  void operator()(const PartOp& forward, const Pointwise& op) {
    Pointwise back = op;
    if (op.kind == PointwiseKind::add) return;  // both sides take the gradient as it is
    back.kind = op.kind == PointwiseKind::gelu ? PointwiseKind::gelu_backward : PointwiseKind::swiglu_backward;
    add(forward, back);
  }
  void operator()(const PartOp& forward, const Softmax& op) { add(forward, turned(op)); }
  void operator()(const PartOp& forward, const Rope& op) { add(forward, turned(op)); }
  void operator()(const PartOp& forward, const Heads& op) { add(forward, turned(op)); }
  void operator()(const PartOp& forward, const Embedding& op) {
    if (!frozen()) add(forward, turned(op));
  }
  void operator()(const PartOp& forward, const Norm& op) {
    Norm back = turned(op);
    back.accumulate = true;
    add(forward, back);
    if (!frozen()) add(forward, NormWeights{op.kind, op.rows, op.columns, op.format});
  }
  template <class Other>
  void operator()(const PartOp&, const Other&) {}  // no such op on the way forward

  void loss_and_optimizer() {
    const Format compute = compute_format(workload_.weights);
    if (model_.kind == ModelKind::decoder) {
      CrossEntropy loss;
      loss.rows = workload_.batch * workload_.context;
      loss.columns = model_.vocabulary;
      loss.format = compute;
      ops_.push_back({"output head", loss, 1, 1});
    }
    AdamW step;
    const Format single{Element::fp32, Scaling::none};
    step.count = frozen() ? adapter_parameters(model_, workload_.lora_rank) : parameters(model_);
    step.weight = step.gradient = frozen() ? single : compute;
    // Lighter optimizers move fewer bytes and are not measured themselves.
    ops_.push_back({"optimizer", step, 1, workload_.optimizer == Optimizer::adamw ? 1.0 : 0.5});
  }

  std::vector<PartOp> take() { return std::move(ops_); }

 private:
  bool frozen() const { return workload_.tuning == Tuning::lora; }

  template <class Struct>
  static Struct turned(Struct op) {
    op.direction = Direction::backward;
    return op;
  }

  void add(const PartOp& forward, const Op& op) {
    ops_.push_back({forward.part, op, forward.count, forward.least_share});
  }

  // x A B beside x W: forward, and two gradients of each of the two thin products.
  void adapters(const PartOp& forward, const Gemm& gemm) {
    Gemm down = gemm, up = gemm;
    down.b = up.b = gemm.a;
    down.n = up.k = workload_.lora_rank;
    for (const Gemm& thin : {down, up}) {
      add(forward, thin);
      add(forward, gradient_of_input(thin));
      add(forward, gradient_of_weights(thin));
    }
  }

  const ModelSpec& model_;
  const Workload& workload_;
  std::vector<PartOp> ops_;
};

}  // namespace

std::vector<PartOp> computed_again(const std::vector<PartOp>& forward, Recompute recompute) {
  std::vector<PartOp> again;
  if (recompute == Recompute::none) return again;
  for (const PartOp& op : forward) {
    if (op.part == "output head") continue;
    const bool cheap = op.part == "element ops" || op.part == "attention";
    if (recompute == Recompute::full || cheap) again.push_back(op);
  }
  return again;
}

std::vector<PartOp> backward_ops(const ModelSpec& model, const Workload& workload, const std::vector<PartOp>& forward) {
  Backward backward(model, workload);
  for (const PartOp& op : forward) std::visit([&](const auto& value) { backward(op, value); }, op.op);
  backward.loss_and_optimizer();
  return backward.take();
}

}  // namespace assay
