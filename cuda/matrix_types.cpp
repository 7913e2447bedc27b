// Formats in NVIDIA's words.
// SPDX-License-Identifier: Apache-2.0
#include "matrix_types.h"

#include <cstring>

#include "core/number.h"

namespace vendor {
namespace {

using assay::Element;
using assay::Format;
using assay::Gemm;
using assay::Scaling;
using assay::Support;
using assay::text;

bool is_fp8(Element element) { return element == Element::fp8_e4m3 || element == Element::fp8_e5m2; }

bool is_plain(Format format) { return format.scaling == Scaling::none; }

std::string architecture_text(int architecture) { return "sm_" + std::to_string(architecture); }

Support no(std::string reason) { return {false, std::move(reason)}; }

// "sm_80 has no ...: it came with ...".
Support needs(int architecture, int first, const std::string& what, const std::string& since) {
  if (architecture >= first) return {true, ""};
  return no(architecture_text(architecture) + " has no " + what + "; it came with " + since);
}

std::string product_text(const Gemm& gemm) {
  return text(gemm.a) + " by " + text(gemm.b) + " into " + text(gemm.d) + ", accumulated in " + text(gemm.accumulate);
}

Support no_such_product(const Gemm& gemm) { return no("there is no matrix product of " + product_text(gemm)); }

bool is_wide_output(const Gemm& gemm) {
  return is_plain(gemm.d) &&
         (gemm.d.element == Element::bf16 || gemm.d.element == Element::fp16 || gemm.d.element == Element::fp32);
}

Support plain_possible(const Gemm& gemm, int architecture) {
  const Element d = gemm.d.element;
  const Element accumulate = gemm.accumulate;
  if (gemm.b != gemm.a || !is_plain(gemm.d)) return no_such_product(gemm);
  if (gemm.a.element == Element::fp64) {
    return d == Element::fp64 && accumulate == Element::fp64 ? Support{true, ""} : no_such_product(gemm);
  }
  if (gemm.a.element == Element::fp32) {
    return d == Element::fp32 && accumulate == Element::fp32 ? Support{true, ""} : no_such_product(gemm);
  }
  if (gemm.a.element == Element::tf32) {
    if ((d != Element::fp32 && d != Element::tf32) || accumulate != Element::fp32) return no_such_product(gemm);
    return needs(architecture, 80, "TF32", "sm_80 (Ampere)");
  }
  if (gemm.a.element == Element::bf16) {
    if ((d != Element::bf16 && d != Element::fp32) || accumulate != Element::fp32) return no_such_product(gemm);
    return needs(architecture, 80, "BF16 matrix unit", "sm_80 (Ampere)");
  }
  if (gemm.a.element == Element::fp16) {
    const bool wide = accumulate == Element::fp32 && (d == Element::fp16 || d == Element::fp32);
    const bool narrow = accumulate == Element::fp16 && d == Element::fp16;
    return wide || narrow ? Support{true, ""} : no_such_product(gemm);
  }
  if (gemm.a.element == Element::int8) {
    if (d != Element::int32 || accumulate != Element::int32) return no_such_product(gemm);
    if (gemm.alpha != 1) return no("an INT8 product with an alpha other than 1 does not stay in INT32");
    if (gemm.bias || gemm.activation != assay::Activation::none) {
      return no("INT8 products into INT32 have no bias and no activation");
    }
    return {true, ""};
  }
  return no_such_product(gemm);
}

Support fp8_possible(const Gemm& gemm, int architecture) {
  if (gemm.accumulate != Element::fp32 || !is_wide_output(gemm)) return no_such_product(gemm);
  if (gemm.a.element == Element::fp8_e5m2 && gemm.b.element == Element::fp8_e5m2) {
    return no("NVIDIA's FP8 products have at most one operand in E5M2");
  }
  return needs(architecture, 89, "FP8", "sm_89 (Ada) and sm_90 (Hopper)");
}

Support block_possible(const Gemm& gemm, int architecture) {
  if (gemm.accumulate != Element::fp32 || !is_wide_output(gemm) || gemm.b.scaling != gemm.a.scaling) {
    return no_such_product(gemm);
  }
  return needs(architecture, 100, "block-scaled products (" + text(gemm.a) + ")", "sm_100 and sm_120 (Blackwell)");
}

}  // namespace

std::optional<cudaDataType_t> data_type(Element element) {
  switch (element) {
    case Element::fp64:
      return CUDA_R_64F;
    case Element::fp32:
    case Element::tf32:
      return CUDA_R_32F;
    case Element::bf16:
      return CUDA_R_16BF;
    case Element::fp16:
      return CUDA_R_16F;
    case Element::fp8_e4m3:
      return CUDA_R_8F_E4M3;
    case Element::fp8_e5m2:
      return CUDA_R_8F_E5M2;
    case Element::int8:
      return CUDA_R_8I;
    case Element::int32:
      return CUDA_R_32I;
    case Element::fp4_e2m1:
#if CUDART_VERSION >= 12080
      return CUDA_R_4F_E2M1;
#else
      return std::nullopt;
#endif
    case Element::int64:
    case Element::fp8_e4m3_fnuz:
    case Element::fp8_e5m2_fnuz:
    case Element::ue8m0:
      break;
  }
  return std::nullopt;
}

Arithmetic arithmetic(const Gemm& gemm) {
  if (gemm.accumulate == Element::fp64) return {CUBLAS_COMPUTE_64F, CUDA_R_64F};
  if (gemm.accumulate == Element::int32) return {CUBLAS_COMPUTE_32I, CUDA_R_32I};
  if (gemm.accumulate == Element::fp16) return {CUBLAS_COMPUTE_16F, CUDA_R_16F};
  if (gemm.a.element == Element::tf32) return {CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F};
  return {CUBLAS_COMPUTE_32F, CUDA_R_32F};
}

ScaleValue scale_value(cudaDataType_t type, double value) {
  ScaleValue result;
  const auto put = [&](auto number) { std::memcpy(result.bytes, &number, sizeof number); };
  if (type == CUDA_R_64F) {
    put(value);
  } else if (type == CUDA_R_32I) {
    put(static_cast<std::int32_t>(value));
  } else if (type == CUDA_R_16F) {
    put(static_cast<std::uint16_t>(assay::encode(Element::fp16, value)));
  } else {
    put(static_cast<float>(value));
  }
  return result;
}

Support formats_possible(const Gemm& gemm, int architecture) {
  for (const Format format : {gemm.a, gemm.b, gemm.d}) {
    if (!data_type(format.element)) return no("NVIDIA's matrix units have no " + text(format.element));
  }
  const Scaling scaling = gemm.a.scaling;
  if (is_fp8(gemm.a.element) && is_fp8(gemm.b.element)) {
    const auto by_tensor = [](Format f) { return f.scaling == Scaling::tensor || f.scaling == Scaling::none; };
    if (by_tensor(gemm.a) && by_tensor(gemm.b)) return fp8_possible(gemm, architecture);
    if (scaling == Scaling::block32_ue8m0) return block_possible(gemm, architecture);
  }
  if (gemm.a.element == Element::fp4_e2m1 && gemm.b == gemm.a && scaling == Scaling::block16_e4m3) {
    return block_possible(gemm, architecture);
  }
  if (is_plain(gemm.a)) return plain_possible(gemm, architecture);
  return no_such_product(gemm);
}

}  // namespace vendor
