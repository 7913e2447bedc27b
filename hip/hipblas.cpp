// Matrix products by hipBLAS. It is column-major and ours is row-major, so D^T = op(B)^T op(A)^T is asked for.
// SPDX-License-Identifier: Apache-2.0
#include "hipblas.h"

#include <dlfcn.h>

#include <cstring>
#include <map>
#include <mutex>

#include "core/error.h"
#include "core/op.h"
#include "gpu/shared_libraries.h"
#include "hip/rocm.h"
#include "matrix_types.h"

namespace vendor {

class Hipblas {
 public:
  explicit Hipblas(HipblasApi api) : api_(std::move(api)) {}
  ~Hipblas() {
    for (const auto& entry : handles_) api_.destroy(entry.second);
  }
  Hipblas(const Hipblas&) = delete;
  Hipblas& operator=(const Hipblas&) = delete;

  const HipblasApi& api() const { return api_; }
  void* handle(int device) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto known = handles_.find(device);
    if (known != handles_.end()) return known->second;
    void* made = nullptr;
    const int status = api_.create(&made);
    if (status != 0)
      throw assay::Error("starting hipBLAS on hip:" + std::to_string(device) + ": status " + std::to_string(status));
    handles_[device] = made;
    return made;
  }

 private:
  HipblasApi api_;
  std::mutex mutex_;
  std::map<int, void*> handles_;
};

namespace {

using assay::Element;
using assay::Gemm;
using assay::text;

constexpr int success = 0;            // HIPBLAS_STATUS_SUCCESS
constexpr int allocation_failed = 2;  // HIPBLAS_STATUS_ALLOC_FAILED
constexpr int not_supported = 7;      // HIPBLAS_STATUS_NOT_SUPPORTED
constexpr int architecture_mismatch = 8;
constexpr int as_it_is = 111;           // HIPBLAS_OP_N
constexpr int transposed = 112;         // HIPBLAS_OP_T
constexpr int default_algorithm = 160;  // HIPBLAS_GEMM_DEFAULT

void check_hipblas(int status, const std::string& doing) {
  if (status == success) return;
  const std::string message = doing + ": hipBLAS status " + std::to_string(status);
  if (status == not_supported || status == architecture_mismatch)
    throw assay::Unsupported(message + " (not supported)");
  if (status == allocation_failed) throw assay::OutOfMemory(message + " (allocation failed)");
  throw assay::Error(message);
}

struct Scalar {
  alignas(8) unsigned char bytes[8] = {};
};
Scalar scalar(Element accumulate, double value) {
  Scalar result;
  const auto put = [&](auto number) { std::memcpy(result.bytes, &number, sizeof number); };
  if (accumulate == Element::fp64) {
    put(value);
  } else if (accumulate == Element::int32) {
    put(static_cast<std::int32_t>(value));
  } else {
    put(static_cast<float>(value));
  }
  return result;
}

class HipblasGemm : public MatrixProduct {
 public:
  HipblasGemm(std::shared_ptr<Hipblas> library, const Gemm& gemm, const MatrixOperands& operands, int device)
      : library_(std::move(library)),
        handle_(library_->handle(device)),
        device_(device),
        gemm_(gemm),
        operands_(operands),
        types_(hipblas_types(gemm, library_->api().old_names).value()),
        alpha_(scalar(gemm.accumulate, gemm.alpha)),
        beta_(scalar(gemm.accumulate, gemm.beta)) {}

  int ways() const override { return 1; }
  std::int64_t workspace(int) const override { return 0; }  // the library has its own

  void enqueue(int, void*, Stream stream) override {
    const auto number = [](std::int64_t extent) { return static_cast<int>(extent); };
    const Gemm& g = gemm_;
    check_hipblas(library_->api().set_stream(handle_, stream), "giving hipBLAS a stream");
    const int status = library_->api().multiply(
        handle_, g.transpose_b ? transposed : as_it_is, g.transpose_a ? transposed : as_it_is, number(g.n), number(g.m),
        number(g.k), alpha_.bytes, operands_.b, types_.operand, number(g.transpose_b ? g.k : g.n), g.k * g.n,
        operands_.a, types_.operand, number(g.transpose_a ? g.m : g.k), g.m * g.k, beta_.bytes, operands_.d,
        types_.result, number(g.n), g.m * g.n, number(g.batch), types_.compute, default_algorithm);
    if (status == success) return;  // the sentence is only made where it is needed: launching is timed
    check_hipblas(status, "multiplying by hipBLAS: " + assay::text(assay::Op(gemm_)));
  }

  assay::Choice choice(int) const override {
    assay::Choice choice;
    choice.method = "hipblas " + version_by_name(library_->api().path) + ", its default algorithm";
    choice.executed = text(gemm_.a.element);
    choice.accumulated = text(gemm_.accumulate);
    choice.note = "no hipBLASLt served this product; hipBLAS can be several times slower";
    return choice;
  }

  std::unique_ptr<MatrixProduct> elsewhere(const MatrixOperands& operands) const override {
    return std::make_unique<HipblasGemm>(library_, gemm_, operands, device_);
  }

 private:
  std::shared_ptr<Hipblas> library_;
  void* handle_;
  int device_;
  Gemm gemm_;
  MatrixOperands operands_;
  HipblasTypes types_;
  Scalar alpha_;
  Scalar beta_;
};

}  // namespace

std::optional<HipblasTypes> hipblas_types(const Gemm& gemm, bool old_names) {
  struct Names {
    Element element;
    int now;     // hipDataType
    int before;  // hipblasDatatype_t
  };
  constexpr Names table[] = {{Element::fp32, 0, 151},  {Element::fp64, 1, 152}, {Element::fp16, 2, 150},
                             {Element::bf16, 14, 168}, {Element::int8, 3, 160}, {Element::int32, 10, 162}};
  const auto name_of = [&](Element element) -> std::optional<int> {
    for (const Names& names : table) {
      if (names.element == element) return old_names ? names.before : names.now;
    }
    return std::nullopt;
  };
  const auto operand = name_of(gemm.a.element);
  const auto result = name_of(gemm.d.element);
  const auto sum = name_of(gemm.accumulate);
  if (!operand || !result || !sum) return std::nullopt;
  if (old_names) return HipblasTypes{*operand, *result, *sum};
  const int compute = gemm.accumulate == Element::fp64 ? 7 : gemm.accumulate == Element::int32 ? 9 : 2;
  return HipblasTypes{*operand, *result, compute};  // HIPBLAS_COMPUTE_64F, _32I, _32F
}

assay::Support hipblas_possible(const Gemm& gemm, int architecture) {
  const assay::Support formats = formats_possible(gemm, architecture);
  if (!formats.yes) return formats;
  if (gemm.bias || gemm.activation != assay::Activation::none) return {false, "hipBLAS has no bias and no activation"};
  const bool scaled = gemm.a.scaling != assay::Scaling::none || gemm.b.scaling != assay::Scaling::none;
  if (scaled || gemm.a.element == Element::tf32 || !hipblas_types(gemm, false)) {
    return {false, "hipBLAS does not multiply " + text(gemm.a) + " into " + text(gemm.d)};
  }
  for (const std::int64_t extent : {gemm.m, gemm.n, gemm.k, gemm.batch}) {
    if (extent > INT32_MAX) return {false, "hipBLAS counts in 32 bits"};
  }
  return {true, ""};
}

HipblasFound find_hipblas(const std::filesystem::path& root) {
  // Version 3 came with ROCm 7, 2 with ROCm 6; 1 and 0 are ROCm 5's.
  const SharedLibrary wanted = {
      "ASSAY_HIPBLAS",
      {"libhipblas.so.3", "libhipblas.so.2", "libhipblas.so.1", "libhipblas.so.0", "libhipblas.so"},
      {"hipblasCreate", "hipblasDestroy", "hipblasSetStream", "hipblasGemmStridedBatchedEx"}};
  OpenedLibrary opened = open_library(wanted, rocm_folders(root));
  HipblasFound found;
  found.refused = std::move(opened.refused);
  if (opened.handle == nullptr) return found;
  HipblasApi api;
  const auto take = [&](const char* name, auto& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(opened.handle, name));
    return function != nullptr;
  };
  take("hipblasCreate", api.create);
  take("hipblasDestroy", api.destroy);
  take("hipblasSetStream", api.set_stream);
  // Version 2 has both meanings under two names; version 3 the new one under the plain name; before there was one.
  if (!take("hipblasGemmStridedBatchedEx_v2", api.multiply)) {
    take("hipblasGemmStridedBatchedEx", api.multiply);
    const std::string version = version_by_name(opened.path);
    api.old_names = version.rfind("0", 0) == 0 || version.rfind("1", 0) == 0;
  }
  api.path = opened.path;
  found.path = opened.path;
  found.library = std::make_shared<Hipblas>(std::move(api));
  return found;
}

std::unique_ptr<MatrixProduct> describe_to_hipblas(const std::shared_ptr<Hipblas>& library, const Gemm& gemm,
                                                   const MatrixOperands& operands, int device) {
  const assay::Support possible = hipblas_possible(gemm, architecture(device));
  if (!possible.yes) throw assay::Unsupported(possible.reason);
  return std::make_unique<HipblasGemm>(library, gemm, operands, device);
}

}  // namespace vendor
