// Which formats there are, and which of them a device has said it does not have.
// SPDX-License-Identifier: Apache-2.0
#include "bench/case_formats.h"

#include <algorithm>

#include "bench/case_sizes.h"
#include "core/error.h"

namespace assay {

namespace {

ProductFormat alike(const std::string& name, Element element, Element result, Element accumulate = Element::fp32) {
  const Format operand{element, Scaling::none};
  return {name, name, operand, operand, Format{result, Scaling::none}, accumulate};
}

ProductFormat scaled(const std::string& name, Element a, Element b, Scaling scaling) {
  return {name, name, Format{a, scaling}, Format{b, scaling}, Format{Element::bf16, Scaling::none}, Element::fp32};
}

}  // namespace

const std::vector<ProductFormat>& product_formats() {
  using enum Element;
  static const std::vector<ProductFormat> all = {
      alike("bf16", bf16, bf16),
      scaled("fp8_e4m3", fp8_e4m3, fp8_e4m3, Scaling::tensor),
      alike("fp16", fp16, fp16),
      alike("fp32", fp32, fp32),
      alike("tf32", tf32, fp32),
      alike("int8", int8, int32, int32),
      scaled("nvfp4", fp4_e2m1, fp4_e2m1, Scaling::block16_e4m3),
      scaled("mxfp8", fp8_e4m3, fp8_e4m3, Scaling::block32_ue8m0),
      alike("fp64", fp64, fp64, fp64),
      alike("fp16_fp16_sums", fp16, fp16, fp16),
      scaled("fp8_e5m2", fp8_e5m2, fp8_e4m3, Scaling::tensor),  // gradients by weights or activations, as in training
  };
  return all;
}

bool has_fnuz(const DeviceInfo& device) {
  const std::vector<std::string> known = fact_list(device, "matrix_formats");
  const auto has = [&](Element element) {
    return std::find(known.begin(), known.end(), text(Format{element, Scaling::none})) != known.end();
  };
  return has(Element::fp8_e4m3_fnuz) && !has(Element::fp8_e4m3);
}

std::vector<ProductFormat> product_formats(const DeviceInfo& device) {
  std::vector<ProductFormat> formats = product_formats();
  if (!has_fnuz(device)) return formats;
  for (ProductFormat& format : formats) {
    if (format.a.scaling != Scaling::tensor) continue;  // block scales go with OCP's numbers alone
    for (Format* operand : {&format.a, &format.b})
      operand->element = operand->element == Element::fp8_e5m2 ? Element::fp8_e5m2_fnuz : Element::fp8_e4m3_fnuz;
    format.name += "_fnuz";
  }
  return formats;
}

ProductFormat product_format(const DeviceInfo& device, const std::string& family) {
  const auto all = product_formats(device);
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const ProductFormat& one) { return one.family == family; });
  if (found == all.end()) throw Error("no matrix product is measured in " + family);
  return *found;
}

bool known_missing(const DeviceInfo& device, const ProductFormat& format) {
  if (format.name == "fp32" || format.name == "fp64") return false;  // the vector units have them
  const std::vector<std::string> known = fact_list(device, "matrix_formats");
  Format operand = format.a;
  if (operand.scaling == Scaling::tensor) operand.scaling = Scaling::none;  // one number for all: no unit sees it
  return !known.empty() && std::find(known.begin(), known.end(), text(operand)) == known.end();
}

ProductFormat usual_format(const DeviceInfo& device) {
  const ProductFormat bf16 = product_format(device, "bf16");
  return known_missing(device, bf16) ? product_format(device, "fp16") : bf16;
}

Gemm product(const ProductFormat& format, std::int64_t m, std::int64_t n, std::int64_t k) {
  Gemm gemm;
  gemm.m = m;
  gemm.n = n;
  gemm.k = k;
  gemm.a = format.a;
  gemm.b = format.b;
  gemm.d = format.d;
  gemm.accumulate = format.accumulate;
  gemm.transpose_b = bits(format.a.element) <= 8;
  return gemm;
}

}  // namespace assay
