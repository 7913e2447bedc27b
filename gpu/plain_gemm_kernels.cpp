// Own matrix products by plain multiply-adds: 64 x 64 elements of D a block, 4 x 4 a thread, 16 of K at a time.
// SPDX-License-Identifier: Apache-2.0
#include "gpu/plain_gemm.h"
#include "gpu/product_store.h"

namespace vendor {
namespace {

constexpr int threads = 256;
constexpr int k_at_a_time = 16;

template <class Stored, class Number>
__device__ void load(Number (&to)[k_at_a_time][plain_tile + 1], const PlainOperand& operand, std::int64_t batch,
                     std::int64_t first_row, std::int64_t rows, std::int64_t first_k, std::int64_t k) {
  const auto* from = static_cast<const Stored*>(operand.memory) + batch * operand.batch_stride;
#pragma unroll
  for (int i = 0; i < plain_tile * k_at_a_time / threads; ++i) {
    const int index = static_cast<int>(thread_index()) + i * threads;
    const bool k_first = operand.k_stride == 1;  // neighbouring threads read what lies next to each other
    const int row = k_first ? index / k_at_a_time : index % plain_tile;
    const int at = k_first ? index % k_at_a_time : index / plain_tile;
    const bool inside = first_row + row < rows && first_k + at < k;
    to[at][row] =
        inside ? number(from[(first_row + row) * operand.row_stride + (first_k + at) * operand.k_stride]) : Number(0);
  }
}

template <class Stored, class Number>
__global__ void __launch_bounds__(threads) plain_product(PlainProduct p) {
  __shared__ Number a[k_at_a_time][plain_tile + 1];
  __shared__ Number b[k_at_a_time][plain_tile + 1];
  const std::int64_t within = block_index() % (p.tile_rows * p.tile_columns);
  const std::int64_t batch = block_index() / (p.tile_rows * p.tile_columns);
  const std::int64_t first_row = within % p.tile_rows * plain_tile;
  const std::int64_t first_column = within / p.tile_rows * plain_tile;
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

void launch_plain_product(const PlainProduct& product, unsigned blocks, Stream stream) {
  const auto start = [&](auto kernel) { launch(kernel, blocks, threads, 0, stream, product); };
  if (product.element == Element::fp16) return start(plain_product<Half, float>);
  if (product.element == Element::bf16) return start(plain_product<Brain, float>);
  if (product.element == Element::int8) return start(plain_product<std::int8_t, std::int32_t>);
  if (product.element == Element::fp64) return start(plain_product<double, double>);
  return start(plain_product<float, float>);
}

}  // namespace vendor
