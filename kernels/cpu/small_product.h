// Products of small matrices of float that lie in the nearest caches, for bodies that are compiled for each instruction
// set. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace assay::cpu {
// Nothing of this may be shared between the object files of different levels.
namespace {

// 16 floats: one register on the widest level, several on others. It may lie anywhere.
typedef float Lanes __attribute__((vector_size(64), aligned(4), may_alias));

// C [rows, 16 vectors] += A [rows, depth] B [depth, 16 vectors]; element (r, k) of A is a[r a_row + k a_depth].
template <int rows, int vectors>
[[gnu::always_inline]] static inline void multiply_tile(const float* a, std::int64_t a_row, std::int64_t a_depth,
                                                        const float* b, std::int64_t b_row, float* c,
                                                        std::int64_t c_row, std::int64_t depth) {
  Lanes sum[rows][vectors];
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) sum[r][v] = *reinterpret_cast<const Lanes*>(c + r * c_row + 16 * v);
  }
  for (std::int64_t k = 0; k < depth; ++k) {
    Lanes line[vectors];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) line[v] = *reinterpret_cast<const Lanes*>(b + k * b_row + 16 * v);
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) {
      const float factor = a[r * a_row + k * a_depth];
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) sum[r][v] += factor * line[v];
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) *reinterpret_cast<Lanes*>(c + r * c_row + 16 * v) = sum[r][v];
  }
}

struct Matrices {
  const float* a;
  std::int64_t a_row, a_depth;
  const float* b;
  std::int64_t b_row;
  float* c;
  std::int64_t c_row;
};

template <int tile, int vectors>
static inline void multiply_columns(const Matrices& m, std::int64_t rows, std::int64_t column, std::int64_t depth) {
  std::int64_t r = 0;
  for (; r + tile <= rows; r += tile) {
    multiply_tile<tile, vectors>(m.a + r * m.a_row, m.a_row, m.a_depth, m.b + column, m.b_row,
                                 m.c + r * m.c_row + column, m.c_row, depth);
  }
  for (; r < rows; ++r) {
    multiply_tile<1, vectors>(m.a + r * m.a_row, m.a_row, m.a_depth, m.b + column, m.b_row, m.c + r * m.c_row + column,
                              m.c_row, depth);
  }
}

// C += A B; `columns` is a multiple of 16. Tiles of 16 registers, whatever their shape.
static inline void multiply(const Matrices& m, std::int64_t rows, std::int64_t columns, std::int64_t depth) {
  std::int64_t column = 0;
  for (; column + 64 <= columns; column += 64) multiply_columns<4, 4>(m, rows, column, depth);
  for (; column + 32 <= columns; column += 32) multiply_columns<8, 2>(m, rows, column, depth);
  for (; column + 16 <= columns; column += 16) multiply_columns<16, 1>(m, rows, column, depth);
}

static inline void clear(float* x, std::int64_t count) {
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) x[i] = 0.0f;
}

}  // namespace
}  // namespace assay::cpu
