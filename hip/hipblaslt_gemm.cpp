// Matrix products by AMD's library. It is column-major and ours is row-major: a row-major matrix is its own transpose
// column-major, so D is had as D^T = op(B)^T op(A)^T, and the library's A is our B.
// SPDX-License-Identifier: Apache-2.0
#include "hipblaslt_gemm.h"

#include <cstring>

#include "core/checked.h"
#include "core/error.h"
#include "hipblaslt_api.h"
#include "matrix_types.h"

namespace vendor {

// Handles are dear, so there is one a device.
class HipblasLt {
 public:
  explicit HipblasLt(std::shared_ptr<const HipblasLtApi> api) : api_(std::move(api)) {}
  ~HipblasLt() {
    for (const auto& entry : handles_) api_->destroy(entry.second);
  }
  HipblasLt(const HipblasLt&) = delete;
  HipblasLt& operator=(const HipblasLt&) = delete;

  const HipblasLtApi& api() const { return *api_; }
  hipblasLtHandle_t handle(int device) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto known = handles_.find(device);
    if (known != handles_.end()) return known->second;
    hipblasLtHandle_t made = nullptr;
    check(api_->create(&made), "starting hipBLASLt on hip:" + std::to_string(device));
    handles_[device] = made;
    return made;
  }

 private:
  std::shared_ptr<const HipblasLtApi> api_;
  std::mutex mutex_;
  std::map<int, hipblasLtHandle_t> handles_;
};

namespace {

using assay::Activation;
using assay::Element;
using assay::Format;
using assay::Gemm;
using assay::Scaling;
using assay::text;

using Heuristic = hipblasLtMatmulHeuristicResult_t;
constexpr int algorithms_asked_for = 32;
constexpr std::int64_t usual_workspace = std::int64_t{128} << 20U;  // what AMD's own benchmark client allows

// The library's name of an element's storage; absent where it has none. XF32 is stored as fp32.
std::optional<hipDataType> data_type(Element element) {
  switch (element) {
    case Element::fp64:
      return HIP_R_64F;
    case Element::fp32:
    case Element::tf32:
      return HIP_R_32F;
    case Element::bf16:
      return HIP_R_16BF;
    case Element::fp16:
      return HIP_R_16F;
    case Element::fp8_e4m3:
      return HIP_R_8F_E4M3;
    case Element::fp8_e5m2:
      return HIP_R_8F_E5M2;
    case Element::fp8_e4m3_fnuz:
      return HIP_R_8F_E4M3_FNUZ;
    case Element::fp8_e5m2_fnuz:
      return HIP_R_8F_E5M2_FNUZ;
    case Element::int8:
      return HIP_R_8I;
    case Element::int32:
      return HIP_R_32I;
    case Element::int64:
    case Element::fp4_e2m1:
    case Element::ue8m0:
      break;
  }
  return std::nullopt;
}

struct Arithmetic {
  hipblasComputeType_t compute;
  hipDataType scale;  // of alpha and beta
};
Arithmetic arithmetic(const Gemm& gemm) {
  if (gemm.accumulate == Element::fp64) return {HIPBLAS_COMPUTE_64F, HIP_R_64F};
  if (gemm.accumulate == Element::int32) return {HIPBLAS_COMPUTE_32I, HIP_R_32I};
  if (gemm.a.element == Element::tf32) return {HIPBLAS_COMPUTE_32F_FAST_TF32, HIP_R_32F};
  return {HIPBLAS_COMPUTE_32F, HIP_R_32F};
}

struct ScaleValue {
  alignas(8) unsigned char bytes[8] = {};
};
ScaleValue scale_value(hipDataType type, double value) {
  ScaleValue result;
  const auto put = [&](auto number) { std::memcpy(result.bytes, &number, sizeof number); };
  if (type == HIP_R_64F) {
    put(value);
  } else if (type == HIP_R_32I) {
    put(static_cast<std::int32_t>(value));
  } else {
    put(static_cast<float>(value));
  }
  return result;
}

hipblasLtEpilogue_t epilogue(const Gemm& gemm) {
  switch (gemm.activation) {
    case Activation::none:
      return gemm.bias ? HIPBLASLT_EPILOGUE_BIAS : HIPBLASLT_EPILOGUE_DEFAULT;
    case Activation::relu:
      return gemm.bias ? HIPBLASLT_EPILOGUE_RELU_BIAS : HIPBLASLT_EPILOGUE_RELU;
    case Activation::gelu:
      return gemm.bias ? HIPBLASLT_EPILOGUE_GELU_BIAS : HIPBLASLT_EPILOGUE_GELU;
  }
  return HIPBLASLT_EPILOGUE_DEFAULT;
}

template <class Handle>
using Holder = std::unique_ptr<std::remove_pointer_t<Handle>, hipblasStatus_t (*)(Handle)>;

class HipblasLtGemm : public MatrixProduct {
 public:
  HipblasLtGemm(std::shared_ptr<HipblasLt> library, const Gemm& gemm, const MatrixOperands& operands, int device)
      : library_(std::move(library)),
        device_(device),
        handle_(library_->handle(device)),
        gemm_(gemm),
        operands_(operands),
        operation_(nullptr, api().description_destroy),
        a_(layout(gemm.b, gemm.transpose_b ? gemm.k : gemm.n, gemm.transpose_b ? gemm.n : gemm.k)),
        b_(layout(gemm.a, gemm.transpose_a ? gemm.m : gemm.k, gemm.transpose_a ? gemm.k : gemm.m)),
        d_(layout(gemm.d, gemm.n, gemm.m)),
        alpha_(scale_value(arithmetic(gemm).scale, gemm.alpha)),
        beta_(scale_value(arithmetic(gemm).scale, gemm.beta)) {
    describe_operation();
    check(api().get_version(handle_, &version_), "asking hipBLASLt for its version");
  }

  HipblasLtGemm(const HipblasLtGemm& other, const MatrixOperands& operands, int device)
      : HipblasLtGemm(other.library_, other.gemm_, operands, device) {
    algorithms_ = other.algorithms_;
  }

  void ask(std::optional<std::int64_t> workspace_limit) {
    algorithms_ = usable(workspace_limit.value_or(usual_workspace));
  }

  int ways() const override { return static_cast<int>(algorithms_.size()); }
  std::int64_t workspace(int way) const override { return static_cast<std::int64_t>(algorithm(way).workspaceSize); }

  void enqueue(int way, void* workspace, Stream stream) override {
    const Heuristic& chosen = algorithm(way);
    const hipblasStatus_t status = api().multiply(
        handle_, operation_.get(), alpha_.bytes, operands_.b, a_.get(), operands_.a, b_.get(), beta_.bytes, operands_.d,
        d_.get(), operands_.d, d_.get(), &chosen.algo, workspace, chosen.workspaceSize, stream);
    if (status == HIPBLAS_STATUS_SUCCESS) return;  // the sentence is only made where it is needed: launching is timed
    check(status, "multiplying by hipBLASLt: " + shape_text());
  }

  assay::Choice choice(int way) const override {
    assay::Choice choice;
    choice.method = "hipblaslt " + hipblaslt_version_text(version_) + " algorithm " + number_of(algorithm(way).algo);
    choice.executed = text(gemm_.a.element);
    choice.accumulated = text(gemm_.accumulate);
    return choice;
  }

  std::unique_ptr<MatrixProduct> elsewhere(const MatrixOperands& operands) const override {
    return std::make_unique<HipblasLtGemm>(*this, operands, device_);
  }

 private:
  using Operation = Holder<hipblasLtMatmulDesc_t>;
  using Layout = Holder<hipblasLtMatrixLayout_t>;

  const HipblasLtApi& api() const { return library_->api(); }

  template <class Value>
  void set(hipblasLtMatmulDescAttributes_t attribute, Value value, const char* what) {
    check(api().description_set(operation_.get(), attribute, &value, sizeof value),
          std::string("describing a product to hipBLASLt: its ") + what);
  }

  // The tensor scale of an operand lies right behind its elements.
  static const void* scale_of(const void* elements, Format format, std::int64_t rows, std::int64_t columns) {
    return static_cast<const std::byte*>(elements) + assay::element_bytes(format.element, rows, columns);
  }

  void describe_operation() {
    hipblasLtMatmulDesc_t made = nullptr;
    const Arithmetic how = arithmetic(gemm_);
    check(api().description_create(&made, how.compute, how.scale), "describing a product to hipBLASLt");
    operation_.reset(made);
    const auto turned = [](bool yes) { return static_cast<std::int32_t>(yes ? HIPBLAS_OP_T : HIPBLAS_OP_N); };
    set(HIPBLASLT_MATMUL_DESC_TRANSA, turned(gemm_.transpose_b), "first transpose");
    set(HIPBLASLT_MATMUL_DESC_TRANSB, turned(gemm_.transpose_a), "second transpose");
    set(HIPBLASLT_MATMUL_DESC_EPILOGUE, static_cast<std::uint32_t>(epilogue(gemm_)), "epilogue");
    if (gemm_.bias) {
      set(HIPBLASLT_MATMUL_DESC_BIAS_POINTER, operands_.bias, "bias");
      set(HIPBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, static_cast<std::int32_t>(data_type(gemm_.d.element).value()),
          "type of bias");
    }
    if (gemm_.b.scaling == Scaling::tensor) {
      set(HIPBLASLT_MATMUL_DESC_A_SCALE_POINTER, scale_of(operands_.b, gemm_.b, gemm_.batch * gemm_.n, gemm_.k),
          "first scale");
    }
    if (gemm_.a.scaling == Scaling::tensor) {
      set(HIPBLASLT_MATMUL_DESC_B_SCALE_POINTER, scale_of(operands_.a, gemm_.a, gemm_.batch * gemm_.m, gemm_.k),
          "second scale");
    }
  }

  Layout layout(Format format, std::int64_t rows, std::int64_t columns) const {
    hipblasLtMatrixLayout_t made = nullptr;
    check(api().layout_create(&made, data_type(format.element).value(), static_cast<std::uint64_t>(rows),
                              static_cast<std::uint64_t>(columns), rows),
          "describing a matrix to hipBLASLt");
    Layout result(made, api().layout_destroy);
    if (gemm_.batch > 1) {
      const auto count = static_cast<std::int32_t>(gemm_.batch);
      const std::int64_t stride = assay::checked_multiply(rows, columns);
      const char* doing = "describing batches to hipBLASLt";
      check(api().layout_set(made, HIPBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count), doing);
      check(api().layout_set(made, HIPBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof stride), doing);
    }
    return result;
  }

  const Heuristic& algorithm(int way) const { return algorithms_.at(static_cast<std::size_t>(way)); }

  std::vector<Heuristic> usable(std::int64_t limit) const {
    const auto bytes = static_cast<std::uint64_t>(limit < 0 ? 0 : limit);
    hipblasLtMatmulPreference_t made = nullptr;
    check(api().preference_create(&made), "telling hipBLASLt what algorithms may use");
    const Holder<hipblasLtMatmulPreference_t> preference(made, api().preference_destroy);
    check(api().preference_set(made, HIPBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes, sizeof bytes),
          "telling hipBLASLt what algorithms may use");
    std::vector<Heuristic> found(algorithms_asked_for);
    int count = 0;
    const std::string doing = "asking hipBLASLt how to multiply " + shape_text();
    check(api().heuristic(handle_, operation_.get(), a_.get(), b_.get(), d_.get(), d_.get(), made, algorithms_asked_for,
                          found.data(), &count),
          doing);
    std::vector<Heuristic> within;
    for (int i = 0; i < count; ++i) {
      const Heuristic& one = found[static_cast<std::size_t>(i)];
      if (one.state == HIPBLAS_STATUS_SUCCESS && one.workspaceSize <= bytes) within.push_back(one);
    }
    if (within.empty()) {
      throw assay::Unsupported(doing + ": it has no algorithm within " + std::to_string(limit) + " bytes of workspace");
    }
    return within;
  }

  // The algorithm's first four bytes are its index; the rest is the library's own.
  static std::string number_of(const hipblasLtMatmulAlgo_t& algorithm) {
    std::int32_t index = 0;
    std::memcpy(&index, algorithm.data, sizeof index);
    return std::to_string(index);
  }

  std::string shape_text() const {
    return text(gemm_.a) + " by " + text(gemm_.b) + " into " + text(gemm_.d) + ", m=" + std::to_string(gemm_.m) +
           " n=" + std::to_string(gemm_.n) + " k=" + std::to_string(gemm_.k) + " batch=" + std::to_string(gemm_.batch);
  }

  std::shared_ptr<HipblasLt> library_;
  int device_;
  hipblasLtHandle_t handle_;
  Gemm gemm_;
  MatrixOperands operands_;
  Operation operation_;
  Layout a_;
  Layout b_;
  Layout d_;
  ScaleValue alpha_;
  ScaleValue beta_;
  int version_ = 0;
  std::vector<Heuristic> algorithms_;
};

}  // namespace

assay::Support hipblaslt_possible(const Gemm& gemm, int architecture) {
  const assay::Support formats = formats_possible(gemm, architecture);
  if (!formats.yes) return formats;
  if (gemm.batch > INT32_MAX) return {false, "hipBLASLt counts batches in 32 bits"};
  return {true, ""};
}

HipblasLtFound find_hipblaslt(const std::filesystem::path& root) {
  HipblasLtOpened opened = open_hipblaslt(root);
  HipblasLtFound found;
  if (opened.api) {
    found.path = opened.api->path;
    found.library = std::make_shared<HipblasLt>(opened.api);
  }
  found.refused = std::move(opened.refused);
  return found;
}

std::unique_ptr<MatrixProduct> describe_to_hipblaslt(const std::shared_ptr<HipblasLt>& library, const Gemm& gemm,
                                                     const MatrixOperands& operands,
                                                     std::optional<std::int64_t> workspace_limit, int device) {
  const assay::Support possible = hipblaslt_possible(gemm, architecture(device));
  if (!possible.yes) throw assay::Unsupported(possible.reason);
  auto product = std::make_unique<HipblasLtGemm>(library, gemm, operands, device);
  product->ask(workspace_limit);
  return product;
}

}  // namespace vendor
