// Own matrix products by plain multiply-adds: 64 x 64 elements of D a block, 4 x 4 a thread, 16 of K at a time.
// SPDX-License-Identifier: Apache-2.0
#include <type_traits>

#include "lanes.h"
#include "own_gemm.h"
#include "packed.h"

namespace vendor {
namespace {

using assay::Activation;
using assay::Element;

constexpr int threads = 256;
constexpr int k_at_a_time = 16;

struct Half {
  std::uint16_t bits;
};
struct Brain {
  std::uint16_t bits;
};
__device__ float number(Half value) { return half_to_float(value.bits); }
__device__ float number(Brain value) {
  return __builtin_bit_cast(float, static_cast<std::uint32_t>(value.bits) << 16U);
}
__device__ float number(float value) { return value; }
__device__ double number(double value) { return value; }
__device__ std::int32_t number(std::int8_t value) { return value; }

__device__ double stored(const void* memory, Element element, std::int64_t index) {
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
    return Number(0.5) * x * (Number(1) + tanh(Number(0.7978845608028654) * (x + Number(0.044715) * x * x * x)));
  }
  return x;
}

// One element of D, where it is inside. Integers have no alpha, bias or activation.
template <class Number>
__device__ void finish(const OwnProduct& p, std::int64_t batch, std::int64_t row, std::int64_t column, Number sum) {
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

template <class Stored, class Number>
__device__ void load(Number (&to)[k_at_a_time][own_tile + 1], const OwnOperand& operand, std::int64_t batch,
                     std::int64_t first_row, std::int64_t rows, std::int64_t first_k, std::int64_t k) {
  const auto* from = static_cast<const Stored*>(operand.memory) + batch * operand.batch_stride;
#pragma unroll
  for (int i = 0; i < own_tile * k_at_a_time / threads; ++i) {
    const int index = static_cast<int>(thread_index()) + i * threads;
    const bool k_first = operand.k_stride == 1;  // neighbouring threads read what lies next to each other
    const int row = k_first ? index / k_at_a_time : index % own_tile;
    const int at = k_first ? index % k_at_a_time : index / own_tile;
    const bool inside = first_row + row < rows && first_k + at < k;
    to[at][row] =
        inside ? number(from[(first_row + row) * operand.row_stride + (first_k + at) * operand.k_stride]) : Number(0);
  }
}

template <class Stored, class Number>
__global__ void __launch_bounds__(threads) own_product(OwnProduct p) {
  __shared__ Number a[k_at_a_time][own_tile + 1];
  __shared__ Number b[k_at_a_time][own_tile + 1];
  const std::int64_t within = block_index() % (p.tile_rows * p.tile_columns);
  const std::int64_t batch = block_index() / (p.tile_rows * p.tile_columns);
  const std::int64_t first_row = within % p.tile_rows * own_tile;
  const std::int64_t first_column = within / p.tile_rows * own_tile;
  const int row = static_cast<int>(thread_index() / 16);
  const int column = static_cast<int>(thread_index() % 16);
  Number sums[4][4] = {};
#pragma unroll 1
  for (std::int64_t first_k = 0; first_k < p.k; first_k += k_at_a_time) {
    load<Stored>(a, p.a, batch, first_row, p.m, first_k, p.k);
    load<Stored>(b, p.b, batch, first_column, p.n, first_k, p.k);
    wait_for_block();
#pragma unroll
    for (int at = 0; at < k_at_a_time; ++at) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) sums[i][j] += a[at][row + i * 16] * b[at][column + j * 16];
      }
    }
    wait_for_block();
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      finish(p, batch, first_row + row + i * 16, first_column + column + j * 16, sums[i][j]);
    }
  }
}

}  // namespace

void launch_own_product(const OwnProduct& product, unsigned blocks, Stream stream) {
  const auto start = [&](auto kernel) { launch(kernel, blocks, threads, 0, stream, product); };
  if (product.element == Element::fp16) return start(own_product<Half, float>);
  if (product.element == Element::bf16) return start(own_product<Brain, float>);
  if (product.element == Element::int8) return start(own_product<std::int8_t, std::int32_t>);
  if (product.element == Element::fp64) return start(own_product<double, double>);
  return start(own_product<float, float>);
}

}  // namespace vendor
