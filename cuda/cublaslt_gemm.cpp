// Matrix products by NVIDIA's library: algorithms asked for, tried and timed.
// SPDX-License-Identifier: Apache-2.0
#include "cublaslt_gemm.h"

#include <array>
#include <cstddef>

#include "core/error.h"
#include "cublaslt_descriptors.h"
#include "cublaslt_names.h"
#include "matrix_memory.h"

namespace vendor {
namespace {

using assay::Choice;
using assay::Element;
using assay::Format;
using assay::Gemm;
using assay::Scaling;
using assay::text;

using Heuristic = cublasLtMatmulHeuristicResult_t;
constexpr int algorithms_asked_for = 16;

// The largest power of two that divides an address, up to what the library cares about.
std::uint32_t alignment_of(const void* address) {
  const auto bits = reinterpret_cast<std::uintptr_t>(address);
  const std::uintptr_t lowest = bits & (~bits + 1);
  return lowest == 0 || lowest > 256 ? 256 : static_cast<std::uint32_t>(lowest);
}

std::int64_t element_bytes_of(Format format, std::int64_t batch, std::int64_t rows, std::int64_t columns) {
  return assay::element_bytes(format.element, batch * rows, columns);
}

template <class Value>
Value configured(const CublasLtApi& api, const cublasLtMatmulAlgo_t& algorithm,
                 cublasLtMatmulAlgoConfigAttributes_t attribute) {
  Value value = 0;
  std::size_t written = 0;
  const auto status = api.algorithm_get(&algorithm, attribute, &value, sizeof value, &written);
  return status == CUBLAS_STATUS_SUCCESS && written <= sizeof value ? value : Value{0};
}

AlgorithmNumbers numbers_of(const CublasLtApi& api, const cublasLtMatmulAlgo_t& algorithm) {
  AlgorithmNumbers numbers;
  numbers.id = configured<std::int32_t>(api, algorithm, CUBLASLT_ALGO_CONFIG_ID);
  numbers.tile = configured<std::uint32_t>(api, algorithm, CUBLASLT_ALGO_CONFIG_TILE_ID);
  numbers.stages = configured<std::uint32_t>(api, algorithm, CUBLASLT_ALGO_CONFIG_STAGES_ID);
  numbers.split_k = configured<std::int32_t>(api, algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM);
  numbers.cluster = configured<std::uint16_t>(api, algorithm, CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID);
  return numbers;
}

std::uint64_t numerical_flags(const CublasLtApi& api, const cublasLtMatmulAlgo_t& algorithm) {
  std::uint64_t flags = 0;
  std::size_t written = 0;
  const auto status =
      api.capability_get(&algorithm, CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS, &flags, sizeof flags, &written);
  return status == CUBLAS_STATUS_SUCCESS ? flags : 0;
}

// The tensor scale of an operand lies right behind its elements.
const void* behind(const void* elements, std::int64_t bytes) { return static_cast<const std::byte*>(elements) + bytes; }

// Scales of one, laid out as the library wants them, both operands' in one block.
class PaddedScales {
 public:
  PaddedScales(const CublasLtProblem& problem, Stream stream)
      : first_(round(problem.block_scales_a.bytes)), memory_(first_ + round(problem.block_scales_b.bytes)) {
    if (memory_.bytes() == 0) return;
    set_bytes(memory_.get(), problem.block_scales_a.one, problem.block_scales_a.bytes, stream);
    set_bytes(second(), problem.block_scales_b.one, problem.block_scales_b.bytes, stream);
  }
  const void* first() const { return memory_.get(); }
  void* second() const { return static_cast<std::byte*>(memory_.get()) + first_; }
  std::int64_t bytes() const { return memory_.bytes(); }

 private:
  static std::int64_t round(std::int64_t bytes) { return (bytes + 255) / 256 * 256; }
  std::int64_t first_;
  MatrixMemory memory_;
};

class CublasLtGemm : public MatrixProduct {
 public:
  CublasLtGemm(std::shared_ptr<CublasLt> library, const Gemm& gemm, const MatrixOperands& operands, int device,
               Stream stream)
      : library_(std::move(library)),
        device_(device),
        handle_(library_->handle(device)),
        gemm_(gemm),
        operands_(operands),
        problem_(cublaslt_problem(gemm)),
        scales_(std::make_shared<PaddedScales>(problem_, stream)),
        descriptors_(library_->shared_api(), problem_, addresses()),
        alpha_(scale_value(problem_.arithmetic.scale, gemm.alpha)),
        beta_(scale_value(problem_.arithmetic.scale, gemm.beta)) {}
  CublasLtGemm(const CublasLtGemm& other, const MatrixOperands& operands)
      : library_(other.library_),
        device_(other.device_),
        handle_(other.handle_),
        gemm_(other.gemm_),
        operands_(operands),
        problem_(other.problem_),
        scales_(other.scales_),
        descriptors_(library_->shared_api(), problem_, addresses()),
        alpha_(other.alpha_),
        beta_(other.beta_),
        algorithms_(other.algorithms_) {}

  void ask(std::optional<std::int64_t> workspace_limit) {
    algorithms_ = usable(workspace_limit.value_or(recommended_workspace(architecture(device_))));
  }

  int ways() const override { return static_cast<int>(algorithms_.size()); }
  std::int64_t workspace(int way) const override { return static_cast<std::int64_t>(algorithm(way).workspaceSize); }

  void enqueue(int way, void* workspace, Stream stream) override {
    const Heuristic& chosen = algorithm(way);
    const auto status =
        library_->api().multiply(handle_, descriptors_.operation(), alpha_.bytes, operands_.b, descriptors_.a(),
                                 operands_.a, descriptors_.b(), beta_.bytes, operands_.d, descriptors_.d(), operands_.d,
                                 descriptors_.d(), &chosen.algo, workspace, chosen.workspaceSize, stream);
    if (status == CUBLAS_STATUS_SUCCESS) return;  // the sentence is only made where it is needed: launching is timed
    check(library_->api(), status, "multiplying by cuBLASLt: " + shape_text());
  }

  Choice choice(int way) const override {
    const CublasLtApi& api = library_->api();
    const cublasLtMatmulAlgo_t& chosen = algorithm(way).algo;
    const NumericalKind kind = numerical_kind(numerical_flags(api, chosen));
    Choice choice;
    choice.method = "cublaslt " + cublaslt_version_text(api.version) + " " + algorithm_text(numbers_of(api, chosen));
    choice.executed = kind.multiplies.empty() ? executed_by_environment() : kind.multiplies;
    choice.accumulated = kind.adds.empty() ? text(gemm_.accumulate) : kind.adds;
    choice.workspace = scales_->bytes();
    choice.note = note(choice.executed);
    return choice;
  }

  std::unique_ptr<MatrixProduct> elsewhere(const MatrixOperands& operands) const override {
    return std::make_unique<CublasLtGemm>(*this, operands);
  }

 private:
  CublasLtAddresses addresses() const {
    CublasLtAddresses addresses;
    addresses.bias = gemm_.bias ? operands_.bias : nullptr;
    if (problem_.tensor_scale_a) {
      addresses.scales_a = behind(operands_.b, element_bytes_of(gemm_.b, gemm_.batch, gemm_.n, gemm_.k));
    }
    if (problem_.tensor_scale_b) {
      addresses.scales_b = behind(operands_.a, element_bytes_of(gemm_.a, gemm_.batch, gemm_.m, gemm_.k));
    }
    if (problem_.block_scales_a.block != 0) addresses.scales_a = scales_->first();
    if (problem_.block_scales_b.block != 0) addresses.scales_b = scales_->second();
    return addresses;
  }

  const Heuristic& algorithm(int way) const { return algorithms_.at(static_cast<std::size_t>(way)); }

  std::vector<Heuristic> usable(std::int64_t limit) const {
    CublasLtLimits limits;
    limits.workspace = static_cast<std::uint64_t>(limit < 0 ? 0 : limit);
    limits.alignment_a = alignment_of(operands_.b);
    limits.alignment_b = alignment_of(operands_.a);
    limits.alignment_d = alignment_of(operands_.d);
    const CublasLtPreference preference(library_->shared_api(), limits);
    std::vector<Heuristic> found(algorithms_asked_for);
    int count = 0;
    const std::string doing = "asking cuBLASLt how to multiply " + shape_text();
    check(library_->api(),
          library_->api().heuristic(handle_, descriptors_.operation(), descriptors_.a(), descriptors_.b(),
                                    descriptors_.d(), descriptors_.d(), preference.get(), algorithms_asked_for,
                                    found.data(), &count),
          doing);
    std::vector<Heuristic> within;
    for (int i = 0; i < count; ++i) {
      const Heuristic& one = found[static_cast<std::size_t>(i)];
      if (one.state == CUBLAS_STATUS_SUCCESS && one.workspaceSize <= limits.workspace) within.push_back(one);
    }
    if (within.empty())
      throw assay::Unsupported(doing + ": it has no algorithm within " + std::to_string(limit) + " bytes of workspace");
    return within;
  }

  // The library may not say what multiplies; then it is the format asked for, unless the environment changes it.
  std::string executed_by_environment() const {
    const auto override_value = process_environment()("NVIDIA_TF32_OVERRIDE");
    if (gemm_.a.element == Element::fp32 && override_value == "1") return text(Element::tf32);
    if (gemm_.a.element == Element::tf32 && override_value == "0") return text(Element::fp32);
    return text(gemm_.a.element);
  }

  std::string note(const std::string& executed) const {
    std::string note = arithmetic_note(gemm_, process_environment());
    const auto add = [&](const std::string& sentence) { note += (note.empty() ? "" : "; ") + sentence; };
    if (executed != text(gemm_.a.element)) add("the library multiplies in " + executed);
    if (scales_->bytes() != 0) add("block scales are all one, in the library's own tiles of 128 rows by 4 scales");
    return note;
  }

  std::string shape_text() const {
    return text(gemm_.a) + " by " + text(gemm_.b) + " into " + text(gemm_.d) + ", m=" + std::to_string(gemm_.m) +
           " n=" + std::to_string(gemm_.n) + " k=" + std::to_string(gemm_.k) + " batch=" + std::to_string(gemm_.batch);
  }

  std::shared_ptr<CublasLt> library_;
  int device_;
  cublasLtHandle_t handle_;
  Gemm gemm_;
  MatrixOperands operands_;
  CublasLtProblem problem_;
  std::shared_ptr<const PaddedScales> scales_;
  CublasLtDescriptors descriptors_;
  ScaleValue alpha_;
  ScaleValue beta_;
  std::vector<Heuristic> algorithms_;
};

struct Flag {
  std::uint64_t bit;
  Element element;
};

constexpr std::array<Flag, 8> input_flags = {{
    {CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_16F, Element::fp16},
    {CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_16BF, Element::bf16},
    {CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_TF32, Element::tf32},
    {CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_32F, Element::fp32},
    {CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_64F, Element::fp64},
    {CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_8I, Element::int8},
    {CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_8F_E4M3, Element::fp8_e4m3},
    {CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_8F_E5M2, Element::fp8_e5m2},
}};

constexpr std::array<Flag, 4> accumulator_flags = {{
    {CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_16F, Element::fp16},
    {CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_32F, Element::fp32},
    {CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_64F, Element::fp64},
    {CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_32I, Element::int32},
}};

// The one element whose bit is set; "" where none is or several are.
template <std::size_t count>
std::string only(const std::array<Flag, count>& table, std::uint64_t flags) {
  std::string found;
  for (const Flag& flag : table) {
    if ((flags & flag.bit) == 0) continue;
    if (!found.empty()) return "";
    found = text(flag.element);
  }
  return found;
}

}  // namespace

std::string arithmetic_note(const Gemm& gemm, const Environment& environment) {
  std::string note;
  const auto mention = [&](const char* variable) {
    const auto value = environment(variable);
    if (value) note += (note.empty() ? "" : ", ") + std::string(variable) + "=" + *value;
  };
  const Element element = gemm.a.element;
  if (element == Element::fp32 || element == Element::tf32) {
    mention("NVIDIA_TF32_OVERRIDE");
    mention("CUBLAS_EMULATE_SINGLE_PRECISION");
    mention("CUBLAS_EMULATION_STRATEGY");
  } else if (element == Element::fp64) {
    mention("CUBLAS_EMULATE_DOUBLE_PRECISION");
    mention("CUBLAS_EMULATION_STRATEGY");
    mention("CUBLAS_FIXEDPOINT_EMULATION_MANTISSA_BIT_COUNT");
  }
  return note.empty() ? note : "the environment says " + note;
}

NumericalKind numerical_kind(std::uint64_t flags) { return {only(input_flags, flags), only(accumulator_flags, flags)}; }

std::int64_t recommended_workspace(int architecture) { return (architecture >= 90 ? 32LL : 4LL) << 20U; }

CublasLt::~CublasLt() {
  for (const auto& entry : handles_) api_->destroy(entry.second);
}

cublasLtHandle_t CublasLt::handle(int device) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto known = handles_.find(device);
  if (known != handles_.end()) return known->second;
  cublasLtHandle_t made = nullptr;
  check(*api_, api_->create(&made), "starting cuBLASLt on cuda:" + std::to_string(device));
  handles_[device] = made;
  return made;
}

std::unique_ptr<MatrixProduct> describe_to_cublaslt(const std::shared_ptr<CublasLt>& library, const Gemm& gemm,
                                                    const MatrixOperands& operands,
                                                    std::optional<std::int64_t> workspace_limit, int device,
                                                    Stream stream) {
  const assay::Support possible = cublaslt_possible(gemm, architecture(device), library->api().version);
  if (!possible.yes) throw assay::Unsupported(possible.reason);
  auto product = std::make_unique<CublasLtGemm>(library, gemm, operands, device, stream);
  product->ask(workspace_limit);
  synchronise(stream);  // scales are in place for whatever stream comes next
  return product;
}

}  // namespace vendor
