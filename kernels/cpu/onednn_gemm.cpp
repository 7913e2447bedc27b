// Matrix products by oneDNN.
// SPDX-License-Identifier: Apache-2.0
#include <omp.h>

#include <array>
#include <optional>
#include <utility>

#include "kernels/cpu/onednn.h"
#include "kernels/cpu/onednn_api.h"

namespace assay::cpu {
namespace {

std::optional<dnnl_data_type_t> data_type(Format format) {
  if (format.scaling != Scaling::none) {
    return std::nullopt;
  }
  switch (format.element) {
    case Element::fp32:
      return dnnl_f32;
    case Element::bf16:
      return dnnl_bf16;
    case Element::fp16:
      return dnnl_f16;
    case Element::int8:
      return dnnl_s8;
    case Element::int32:
      return dnnl_s32;
    case Element::fp64:
    case Element::tf32:
    case Element::fp8_e4m3:
    case Element::fp8_e5m2:
    case Element::fp8_e4m3_fnuz:
    case Element::fp8_e5m2_fnuz:
    case Element::int64:
    case Element::fp4_e2m1:
    case Element::ue8m0:
      break;
  }
  return std::nullopt;
}

dnnl_data_type_t required_type(Format format) {
  const auto type = data_type(format);
  if (!type) {
    throw Unsupported("oneDNN has no matrix product on " + text(format) + " here");
  }
  return *type;
}

// Rows by columns in memory, seen transposed where `transposed`; three dimensions where there is a batch.
Layout matrix(std::int64_t batch, std::int64_t rows, std::int64_t columns, bool transposed, dnnl_data_type_t type) {
  Layout layout;
  layout.type = type;
  layout.dims = {rows, columns};
  layout.strides = {transposed ? 1 : columns, transposed ? rows : 1};
  if (batch > 1) {
    layout.dims.insert(layout.dims.begin(), batch);
    layout.strides.insert(layout.strides.begin(), rows * columns);
  }
  return layout;
}

Layout bias_row(const Gemm& gemm, dnnl_data_type_t type) {
  return gemm.batch > 1 ? Layout{{1, 1, gemm.n}, type, {gemm.n, gemm.n, 1}} : Layout{{1, gemm.n}, type, {gemm.n, 1}};
}

// Interface 2 scales the bias together with the product, so there a scaled product gets its bias afterwards.
bool bias_comes_after(const Gemm& gemm) { return gemm.bias && gemm.alpha != 1 && !OneDnnApi::scale_is_an_argument(); }

struct Prepared {
  Descriptor a, b, bias, d;
  int bias_place = -1;  // among the operations after the product
  Owned<dnnl_primitive_desc> description{nullptr, nullptr};
};

Owned<dnnl_post_ops> operations_after(const OneDnnApi& api, const Gemm& gemm, Prepared& prepared) {
  dnnl_post_ops_t made = nullptr;
  OneDnnApi::check(api.post_ops_create(&made), "make operations after the product");
  Owned<dnnl_post_ops> after(made, api.post_ops_destroy);
  int place = 0;
  if (gemm.beta != 0) {
    api.append_sum(after.get());
    ++place;
  }
  if (bias_comes_after(gemm)) {
    OneDnnApi::check(api.post_ops_append_binary(after.get(), dnnl_binary_add, prepared.bias.get()), "add a bias");
    prepared.bias_place = place++;
  }
  switch (gemm.activation) {
    case Activation::none:
      break;
    case Activation::relu:
      api.append_eltwise(after.get(), dnnl_eltwise_relu);
      break;
    case Activation::gelu:
      api.append_eltwise(after.get(), dnnl_eltwise_gelu_tanh);
      break;
  }
  return after;
}

Prepared prepare(const OneDnnApi& api, const Gemm& gemm, Packing packing) {
  Prepared prepared;
  prepared.a = api.describe(matrix(gemm.batch, gemm.m, gemm.k, gemm.transpose_a, required_type(gemm.a)));
  Layout b = matrix(gemm.batch, gemm.k, gemm.n, gemm.transpose_b, required_type(gemm.b));
  if (packing == Packing::packed) {
    b.strides.clear();
  }
  prepared.b = api.describe(b);
  prepared.d = api.describe(matrix(gemm.batch, gemm.m, gemm.n, false, required_type(gemm.d)));
  prepared.bias = api.describe(bias_row(gemm, required_type(gemm.d)));
  dnnl_primitive_attr_t made = nullptr;
  OneDnnApi::check(api.attr_create(&made), "make attributes");
  const Owned<dnnl_primitive_attr> attributes(made, api.attr_destroy);
  OneDnnApi::check(api.attr_set_scratchpad_mode(attributes.get(), dnnl_scratchpad_mode_user),
                   "take own scratch memory");
  if (gemm.alpha != 1) {
    api.set_scale(attributes.get(), static_cast<float>(gemm.alpha));
  }
  const auto after = operations_after(api, gemm, prepared);
  OneDnnApi::check(api.attr_set_post_ops(attributes.get(), after.get()), "set operations after the product");
  const bool native_bias = gemm.bias && !bias_comes_after(gemm);
  prepared.description =
      api.matmul(prepared.a, prepared.b, native_bias ? &prepared.bias : nullptr, prepared.d, attributes.get());
  return prepared;
}

class OneDnnGemm : public Kernel {
 public:
  OneDnnGemm(const OneDnnApi& api, std::string version, const Gemm& gemm, const Pointers& operands, int threads,
             Packing packing, std::shared_ptr<Scratch> scratch)
      : api_(api),
        version_(std::move(version)),
        gemm_(gemm),
        threads_(threads),
        packing_(packing),
        scratch_(std::move(scratch)) {
    const Prepared prepared = prepare(api, gemm, packing);
    implementation_ = api.implementation(prepared.description.get());
    primitive_ = api.primitive(prepared.description.get());
    add(DNNL_ARG_SRC, prepared.a.get(), operands.at(0));
    if (packing == Packing::packed) {
      add_packed(prepared, operands.at(1));
    } else {
      add(DNNL_ARG_WEIGHTS, prepared.b.get(), operands.at(1));
    }
    if (gemm.bias) {
      const int place = prepared.bias_place;
      add(place < 0 ? DNNL_ARG_BIAS : (DNNL_ARG_ATTR_MULTIPLE_POST_OP(place) | DNNL_ARG_SRC_1), prepared.bias.get(),
          operands.at(2));
    }
    add(DNNL_ARG_DST, prepared.d.get(), operands.back());
    if (gemm.alpha != 1 && OneDnnApi::scale_is_an_argument()) {
      add_scale();
    }
    add_scratch(prepared);
  }

  void run() override {
    if (scratch_bytes_ > 0) {
      api_.memory_set_data_handle(scratch_memory_, scratch_->data());
    }
    OneDnnApi::check(
        api_.primitive_execute(primitive_.get(), api_.stream, static_cast<int>(arguments_.size()), arguments_.data()),
        "run a matrix product");
    api_.stream_wait(api_.stream);
  }

  void refresh() override {
    if (!reorder_) {
      return;
    }
    const std::array<dnnl_exec_arg_t, 2> arguments{{{DNNL_ARG_FROM, plain_.get()}, {DNNL_ARG_TO, packed_memory_}}};
    OneDnnApi::check(api_.primitive_execute(reorder_.get(), api_.stream, 2, arguments.data()), "pack a matrix");
    api_.stream_wait(api_.stream);
  }

  std::string method() const override {
    return "onednn " + version_ + " " + implementation_ + (packing_ == Packing::packed ? " packed" : "");
  }

  std::int64_t packed_bytes() const override { return packed_.bytes(); }

  Choice choice() const override {
    Choice choice;
    choice.method = method();
    choice.executed = text(gemm_.a);
    choice.accumulated = text(gemm_.accumulate);
    choice.workspace = scratch_bytes_ + packed_.bytes();
    if (packing_ == Packing::packed) {
      choice.note = "b was packed before the clock started";
    }
    if (implementation_.rfind("ref", 0) == 0) {
      choice.note = "oneDNN has only its slow reference implementation for this product on this processor";
    }
    return choice;
  }

 private:
  dnnl_memory_t add(int argument, DescriptorPointer descriptor, void* data) {
    memories_.push_back(api_.memory(descriptor, data));
    arguments_.push_back({argument, memories_.back().get()});
    return memories_.back().get();
  }

  void add_packed(const Prepared& prepared, std::byte* plain) {
    const DescriptorPointer wanted = api_.primitive_desc_query_md(prepared.description.get(), dnnl_query_weights_md, 0);
    packed_ = Block(static_cast<std::int64_t>(api_.memory_desc_get_size(wanted)));
    touch(packed_.data(), packed_.bytes(), threads_);
    packed_memory_ = add(DNNL_ARG_WEIGHTS, wanted, packed_.data());
    const Descriptor source =
        api_.describe(matrix(gemm_.batch, gemm_.k, gemm_.n, gemm_.transpose_b, required_type(gemm_.b)));
    plain_ = api_.memory(source.get(), plain);
    dnnl_primitive_desc_t made = nullptr;
    OneDnnApi::check(api_.reorder_primitive_desc_create(&made, source.get(), api_.engine, wanted, api_.engine, nullptr),
                     "make a packing of the second matrix");
    const Owned<dnnl_primitive_desc> description(made, api_.primitive_desc_destroy);
    reorder_ = api_.primitive(description.get());
  }

  void add_scale() {
    scale_ = static_cast<float>(gemm_.alpha);
    const Descriptor one = api_.describe({{1}, dnnl_f32, {1}});
    add(scale_argument, one.get(), &scale_);
  }

  void add_scratch(const Prepared& prepared) {
    const DescriptorPointer wanted =
        api_.primitive_desc_query_md(prepared.description.get(), dnnl_query_scratchpad_md, 0);
    scratch_bytes_ = static_cast<std::int64_t>(api_.memory_desc_get_size(wanted));
    if (scratch_bytes_ > 0) {
      scratch_->need(scratch_bytes_);
      scratch_memory_ = add(DNNL_ARG_SCRATCHPAD, wanted, nullptr);
    }
  }

#if DNNL_VERSION_MAJOR >= 3
  static constexpr int scale_argument = DNNL_ARG_ATTR_SCALES | DNNL_ARG_SRC;
#else
  static constexpr int scale_argument = DNNL_ARG_ATTR_OUTPUT_SCALES;
#endif

  const OneDnnApi& api_;
  std::string version_;
  std::string implementation_;
  Gemm gemm_;
  int threads_;
  Packing packing_;
  float scale_ = 1;
  std::int64_t scratch_bytes_ = 0;
  std::shared_ptr<Scratch> scratch_;
  Block packed_;
  std::vector<Owned<dnnl_memory>> memories_;
  std::vector<dnnl_exec_arg_t> arguments_;
  dnnl_memory_t scratch_memory_ = nullptr;
  dnnl_memory_t packed_memory_ = nullptr;
  Owned<dnnl_memory> plain_{nullptr, nullptr};
  Owned<dnnl_primitive> primitive_{nullptr, nullptr};
  Owned<dnnl_primitive> reorder_{nullptr, nullptr};
};

}  // namespace

Support OneDnn::supports(const Gemm& gemm) {
  if (!usable()) {
    return {false, reason_};
  }
  try {
    prepare(*api_, gemm, Packing::plain);
    return {true, ""};
  } catch (const Error& error) {
    return {false, "oneDNN " + version_ + " has no " + text(gemm.a) + " matrix product with a " + text(gemm.d) +
                       " result on this processor: " + error.what()};
  }
}

std::unique_ptr<Kernel> OneDnn::gemm(const Gemm& gemm, const Pointers& operands, int threads, Packing packing,
                                     const std::shared_ptr<Scratch>& scratch) {
  if (!usable()) {
    throw Unsupported(reason_);
  }
  omp_set_num_threads(threads);
  return std::make_unique<OneDnnGemm>(*api_, version_, gemm, operands, threads, packing, scratch);
}

}  // namespace assay::cpu
