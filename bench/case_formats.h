// The formats in which an accelerator's matrix products are measured, each with what goes with it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/device.h"
#include "core/ops/gemm.h"

namespace assay {

// Inputs, accumulator and result as training and inference use them.
struct ProductFormat {
  std::string name;    // "bf16", "fp16_fp16_sums", "fp8_e4m3_fnuz": in the names of cases, and their precision
  std::string family;  // the same without the dialect: "fp8_e4m3"
  Format a;
  Format b;
  Format d;
  Element accumulate = Element::fp32;
};

// All of them, most asked for first: bf16, fp8_e4m3, fp16, fp32, tf32, int8, nvfp4, mxfp8, fp64, fp16_fp16_sums,
// fp8_e5m2.
const std::vector<ProductFormat>& product_formats();

// The same as this device multiplies them: FP8 in the dialect of its matrix units (OCP's, or CDNA3's FNUZ, whose
// numbers are others), which is then in the name.
std::vector<ProductFormat> product_formats(const DeviceInfo& device);

// Of that family, as this device multiplies it; throws Error where there is none.
ProductFormat product_format(const DeviceInfo& device, const std::string& family);

// Whether the device says that its FP8 is of the FNUZ dialect, and of no other.
bool has_fnuz(const DeviceInfo& device);

// Whether the device itself says that it has no unit for that: then one case is enough, whose row says why. What the
// device does not speak of may well be possible.
bool known_missing(const DeviceInfo& device, const ProductFormat& format);

// What most models are run in on this device: bf16, or fp16 where it says that it does not have that.
ProductFormat usual_format(const DeviceInfo& device);

// Matrix units read elements of 8 bits and less along K alone, and weights are stored for that: B is [n, k].
Gemm product(const ProductFormat& format, std::int64_t m, std::int64_t n, std::int64_t k);

}  // namespace assay
