// oneDNN and OpenBLAS, called directly.
// SPDX-License-Identifier: Apache-2.0
#include "tests/comparison/direct_gemm.h"

#include <omp.h>

#include <array>

#include "core/error.h"
#include "kernels/cpu/fill.h"
#include "kernels/cpu/memory.h"
#include "kernels/cpu/onednn.h"
#include "kernels/cpu/onednn_api.h"
#include "kernels/cpu/openblas.h"

namespace assay::comparison {
namespace {

dnnl_data_type_t type_of(Element element) {
  switch (element) {
    case Element::fp32:
      return dnnl_f32;
    case Element::bf16:
      return dnnl_bf16;
    case Element::int8:
      return dnnl_s8;
    case Element::int32:
      return dnnl_s32;
    case Element::fp64:
    case Element::tf32:
    case Element::fp16:
    case Element::fp8_e4m3:
    case Element::fp8_e5m2:
    case Element::fp8_e4m3_fnuz:
    case Element::fp8_e5m2_fnuz:
    case Element::int64:
    case Element::fp4_e2m1:
    case Element::ue8m0:
      break;
  }
  throw Unsupported("oneDNN is not called directly for " + text(element));
}

cpu::Block square(Element element, std::int64_t size, std::uint64_t seed, int threads) {
  cpu::Block block(element_bytes(element, size, size));
  cpu::touch(block.data(), block.bytes(), threads);
  cpu::fill_elements(element, block.data(), size * size, Pattern::typical, seed, element == Element::int8 ? 32 : 1,
                     threads);
  return block;
}

// One engine and one stream; nothing but the three matrices and a primitive with default attributes.
class OneDnnDirectly : public DirectGemm {
 public:
  OneDnnDirectly(Element input, Element output, std::int64_t size, int threads)
      : library_(cpu::OneDnn::default_candidates()),
        a_(square(input, size, 1, threads)),
        b_(square(input, size, 2, threads)),
        d_(square(output, size, 3, threads)) {
    if (!library_.found()) {
      throw Unsupported("oneDNN is not there");
    }
    omp_set_num_threads(threads);
    api_ = std::make_unique<cpu::OneDnnApi>(library_);
    const cpu::Descriptor in = api_->describe({{size, size}, type_of(input), {size, 1}});
    const cpu::Descriptor out = api_->describe({{size, size}, type_of(output), {size, 1}});
    const auto description = api_->matmul(in, in, nullptr, out, nullptr);
    primitive_ = api_->primitive(description.get());
    memories_[0] = api_->memory(in.get(), a_.data()).release();
    memories_[1] = api_->memory(in.get(), b_.data()).release();
    memories_[2] = api_->memory(out.get(), d_.data()).release();
  }
  OneDnnDirectly(const OneDnnDirectly&) = delete;
  OneDnnDirectly& operator=(const OneDnnDirectly&) = delete;
  ~OneDnnDirectly() override {
    for (dnnl_memory_t memory : memories_) {
      api_->memory_destroy(memory);
    }
  }

  void run() override {
    const std::array<dnnl_exec_arg_t, 3> arguments{
        {{DNNL_ARG_SRC, memories_[0]}, {DNNL_ARG_WEIGHTS, memories_[1]}, {DNNL_ARG_DST, memories_[2]}}};
    api_->primitive_execute(primitive_.get(), api_->stream, 3, arguments.data());
    api_->stream_wait(api_->stream);
  }

 private:
  cpu::Library library_;
  cpu::Block a_, b_, d_;
  std::unique_ptr<cpu::OneDnnApi> api_;
  cpu::Owned<dnnl_primitive> primitive_{nullptr, nullptr};
  std::array<dnnl_memory_t, 3> memories_{};
};

template <class Number>
class OpenBlasDirectly : public DirectGemm {
 public:
  OpenBlasDirectly(Element element, std::int64_t size, int threads)
      : library_(cpu::OpenBlas::default_candidates()),
        size_(static_cast<int>(size)),
        a_(square(element, size, 1, threads)),
        b_(square(element, size, 2, threads)),
        d_(square(element, size, 3, threads)) {
    if (!library_.found()) {
      throw Unsupported("OpenBLAS is not there");
    }
    function_ =
        library_.function<cpu::OpenBlas::GemmFunction<Number>>(sizeof(Number) == 8 ? "cblas_dgemm" : "cblas_sgemm");
    library_.function<void(int)>("openblas_set_num_threads")(threads);
  }

  void run() override {
    constexpr int row_major = 101;
    constexpr int as_is = 111;
    function_(row_major, as_is, as_is, size_, size_, size_, Number(1), number(a_), size_, number(b_), size_, Number(0),
              number(d_), size_);
  }

 private:
  static Number* number(const cpu::Block& block) { return reinterpret_cast<Number*>(block.data()); }

  cpu::Library library_;
  int size_;
  cpu::Block a_, b_, d_;
  cpu::OpenBlas::GemmFunction<Number>* function_ = nullptr;
};

}  // namespace

std::unique_ptr<DirectGemm> onednn_gemm(Element input, Element output, std::int64_t size, int threads) {
  return std::make_unique<OneDnnDirectly>(input, output, size, threads);
}

std::unique_ptr<DirectGemm> openblas_gemm(Element element, std::int64_t size, int threads) {
  if (element == Element::fp64) {
    return std::make_unique<OpenBlasDirectly<double>>(element, size, threads);
  }
  return std::make_unique<OpenBlasDirectly<float>>(element, size, threads);
}

}  // namespace assay::comparison
