// Which ops the own kernels do, in which formats, and the kernel objects that programs run.
// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <type_traits>
#include <variant>

#include "core/error.h"
#include "kernels/gpu/kernels_prepared.h"

namespace assay::gpu {
namespace {

constexpr std::int64_t largest_index = std::numeric_limits<std::int32_t>::max();

bool is_common(Format format) {
  return format.scaling == Scaling::none &&
         (format.element == Element::fp32 || format.element == Element::bf16 || format.element == Element::fp16);
}

bool is_castable(Format format) {
  switch (format.element) {
    case Element::fp32:
    case Element::bf16:
    case Element::fp16:
    case Element::fp8_e4m3:
    case Element::fp8_e5m2:
    case Element::fp8_e4m3_fnuz:
    case Element::fp8_e5m2_fnuz:
    case Element::int8:
      return format.scaling == Scaling::none || format.scaling == Scaling::tensor;
    case Element::fp64:
    case Element::tf32:
    case Element::int32:
    case Element::int64:
    case Element::fp4_e2m1:
    case Element::ue8m0:
      return false;
  }
  return false;
}

Support answer(bool yes, const Op& op, const char* takes) {
  if (yes) return {true, ""};
  return {false, "the own kernels for GPUs do not do \"" + text(op) + "\": they take " + takes};
}
Support answer(const std::string& objection) {
  if (objection.empty()) return {true, ""};
  return {false, objection};
}

struct Supporter {
  const Op& op;
  int device;

  Support operator()(const Stream& stream) const {
    return answer(is_common(stream.format) || stream.format == Format{Element::fp64, Scaling::none}, op,
                  "fp64, fp32, bf16 and fp16");
  }
  Support operator()(const Cast& cast) const {
    return answer(is_castable(cast.from) && is_castable(cast.to), op,
                  "fp32, bf16, fp16, the fp8 formats and int8, scaled by tensor or not at all");
  }
  Support operator()(const AdamW& adam) const {
    return answer(is_common(adam.weight) && is_common(adam.gradient), op, "weights and gradients of fp32, bf16, fp16");
  }
  Support operator()(const Embedding& embedding) const {
    if (embedding.rows > largest_index || embedding.vocabulary > largest_index) {
      return answer("an embedding numbers its rows and tokens by 32 bits");
    }
    return common(embedding.format);
  }
  Support operator()(const Rope& rope) const {
    // Counted in double: whether the product fits is the question.
    const double row = (static_cast<double>(rope.heads) + 2.0 * static_cast<double>(rope.kv_heads)) *
                       static_cast<double>(rope.head_size);
    return row > static_cast<double>(largest_index) ? answer("a token's projections are numbered by 32 bits")
                                                    : common(rope.format);
  }
  Support operator()(const Heads& heads) const {
    const double row = static_cast<double>(heads.heads) * static_cast<double>(heads.head_size);
    return row > static_cast<double>(largest_index) ? answer("a token's heads are numbered by 32 bits")
                                                    : common(heads.format);
  }
  Support operator()(const Chase& chase) const { return answer(objection(chase)); }
  Support operator()(const Issue& issue) const { return answer(objection(issue, device)); }
  Support operator()(const Pointwise& pointwise) const { return common(pointwise.format); }
  Support operator()(const Softmax& softmax) const { return common(softmax.format); }
  Support operator()(const Norm& norm) const { return common(norm.format); }
  Support operator()(const NormWeights& weights) const { return common(weights.format); }
  Support operator()(const ColumnSum& sum) const { return common(sum.format); }
  Support operator()(const CrossEntropy& entropy) const { return common(entropy.format); }
  Support operator()(const SumSquares& squares) const { return common(squares.format); }
  Support operator()(const AdamControl&) const { return answer(true, op, ""); }
  Support operator()(const TensorScale& scale) const { return common(scale.from); }
  Support operator()(const AdamW8& adam) const {
    return answer(is_common(adam.weight) && is_common(adam.gradient), op, "weights and gradients of fp32, bf16, fp16");
  }
  Support operator()(const CacheAppend& append) const {
    const bool known = append.to == append.from || append.to == Format{Element::fp8_e4m3, Scaling::none};
    return answer(is_common(append.from) && known, op, "fp32, bf16 and fp16, kept as they are or as fp8_e4m3");
  }
  Support operator()(const Attention& attention) const { return answer(objection(attention)); }
  template <class Other>
  Support operator()(const Other&) const {
    return {false, "\"" + text(op) + "\" is not done by a body"};
  }

 private:
  Support common(Format format) const { return answer(is_common(format), op, "fp32, bf16 and fp16"); }
};

class BodyKernel : public Kernel {
 public:
  explicit BodyKernel(Prepared prepared) : prepared_(std::move(prepared)) {}

  void enqueue(vendor::Stream stream) override { prepared_.enqueue(stream); }
  void refresh() override {
    if (prepared_.refresh) prepared_.refresh();
  }
  int launches() const override { return prepared_.launches; }
  std::int64_t workspace_bytes() const override { return prepared_.workspace; }

  Choice choice() const override {
    Choice choice;
    choice.method = prepared_.method.empty() ? "own" : "own " + prepared_.method;
    choice.executed = prepared_.executed;
    choice.accumulated = prepared_.accumulated;
    choice.workspace = prepared_.workspace;
    if (prepared_.flops > 0) choice.flops = prepared_.flops;
    choice.note = prepared_.note;
    return choice;
  }

 private:
  Prepared prepared_;
};

// Ops with a family in kernels_prepared.h.
struct Preparer {
  const Pointers& operands;
  const BodySetup& setup;
  template <class Body>
  auto operator()(const Body& body) const -> decltype(prepare(body, operands, setup)) {
    return prepare(body, operands, setup);
  }
  Prepared operator()(const Gemm&) const { throw Unsupported("a matrix product is not done by a body"); }
  Prepared operator()(const Transfer&) const { throw Unsupported("a transfer is not done by a body"); }
  Prepared operator()(const Launch&) const { throw Unsupported("a launch is not done by a body"); }
};

// Operands that a kernel looks at before it runs must not change while the work runs.
void check_constant(const Op& op, const BodySetup& setup) {
  const bool first = std::holds_alternative<Embedding>(op);
  const bool second = std::holds_alternative<CrossEntropy>(op);
  const std::size_t operand = second ? 1 : 0;
  if ((first || second) && setup.kernel.constant.size() > operand && !setup.kernel.constant[operand]) {
    throw Unsupported("the indices of \"" + text(op) +
                      "\" are looked at before the work runs, and a step of this work writes them");
  }
}

}  // namespace

Support body_support(const Op& op, int device) {
  try {
    return std::visit(Supporter{op, device}, op);
  } catch (const std::exception& error) {
    return {false, error.what()};
  }
}

std::unique_ptr<Kernel> make_body_kernel(const Op& op, const Pointers& operands, const BodySetup& setup) {
  const Support support = body_support(op, setup.kernel.device);
  if (!support.yes) throw Unsupported(support.reason);
  const std::size_t expected = assay::operands(op).size();
  if (operands.size() != expected) {
    throw Error("\"" + text(op) + "\" takes " + std::to_string(expected) + " operands and was given " +
                std::to_string(operands.size()));
  }
  check_constant(op, setup);
  return std::make_unique<BodyKernel>(std::visit(Preparer{operands, setup}, op));
}

std::unique_ptr<Kernel> make_body_kernel(const Op& op, const Pointers& operands, const KernelSetup& setup) {
  return make_body_kernel(op, operands, BodySetup{setup, 0});
}

}  // namespace assay::gpu
