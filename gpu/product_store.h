// How own products read numbers and what they do with a sum: scale, bias, activation, and the format of D.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "gpu/plain_gemm.h"
#include "lanes.h"
#include "packed.h"

namespace vendor {

using assay::Activation;
using assay::Element;

struct Half {
  std::uint16_t bits;
};
struct Brain {
  std::uint16_t bits;
};
__device__ inline float number(Half value) { return half_to_float(value.bits); }
__device__ inline float number(Brain value) {
  return __builtin_bit_cast(float, static_cast<std::uint32_t>(value.bits) << 16U);
}
__device__ inline float number(float value) { return value; }
__device__ inline double number(double value) { return value; }
__device__ inline std::int32_t number(std::int8_t value) { return value; }

__device__ inline double stored(const void* memory, Element element, std::int64_t index) {
  if (element == Element::fp64) return static_cast<const double*>(memory)[index];
  if (element == Element::int32) return static_cast<const std::int32_t*>(memory)[index];
  if (element == Element::bf16) return static_cast<double>(number(static_cast<const Brain*>(memory)[index]));
  if (element == Element::fp16) return static_cast<double>(number(static_cast<const Half*>(memory)[index]));
  return static_cast<double>(static_cast<const float*>(memory)[index]);
}

template <class Number>
__device__ void store(void* memory, Element element, std::int64_t index, Number value) {
  if (element == Element::fp64) {
    static_cast<double*>(memory)[index] = static_cast<double>(value);
  } else if (element == Element::bf16) {
    static_cast<Brain*>(memory)[index].bits = float_to_bf16(static_cast<float>(value));
  } else if (element == Element::fp16) {
    static_cast<Half*>(memory)[index].bits = float_to_half(static_cast<float>(value));
  } else {
    static_cast<float*>(memory)[index] = static_cast<float>(value);
  }
}

template <class Number>
__device__ Number activated(Activation activation, Number x) {
  if (activation == Activation::relu) return x > Number(0) ? x : Number(0);
  if (activation == Activation::gelu) {  // 0.7978845608 is sqrt(2 / pi)
    return Number(0.5) * x * (Number(1) + std::tanh(Number(0.7978845608028654) * (x + Number(0.044715) * x * x * x)));
  }
  return x;
}

// One element of D, where it is inside. Integers have no alpha, bias or activation.
template <class Number>
__device__ void finish(const PlainProduct& p, std::int64_t batch, std::int64_t row, std::int64_t column, Number sum) {
  if (row >= p.m || column >= p.n) return;
  const std::int64_t index = (batch * p.m + row) * p.n + column;
  if constexpr (std::is_integral_v<Number>) {
    auto* d = static_cast<std::int32_t*>(p.d) + index;
    *d = p.beta != 0 ? *d + sum : sum;
  } else {
    Number value = static_cast<Number>(p.alpha) * sum;
    if (p.beta != 0) value += static_cast<Number>(stored(p.d, p.d_element, index));
    if (p.bias != nullptr) value += static_cast<Number>(stored(p.bias, p.d_element, column));
    store(p.d, p.d_element, index, activated(p.activation, value));
  }
}

}  // namespace vendor
