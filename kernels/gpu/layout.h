// How a tensor lies in memory: rows of elements, then its scales. The same on every back end.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/work.h"

namespace assay::gpu {

struct Matrix {
  std::int64_t rows = 1;
  std::int64_t columns = 1;
};
inline Matrix matrix_of(const Tensor& tensor) {
  Matrix matrix;
  matrix.columns = tensor.shape.empty() ? 1 : tensor.shape.back();
  matrix.rows = matrix.columns == 0 ? 0 : elements(tensor) / matrix.columns;
  return matrix;
}

// Bytes of the elements, behind which the scales lie.
inline std::int64_t scales_offset(const Tensor& tensor) {
  const Matrix matrix = matrix_of(tensor);
  return element_bytes(tensor.format.element, matrix.rows, matrix.columns);
}

// Elements, or bytes of two elements where they have 4 bits.
inline std::int64_t stored_units(const Tensor& tensor) {
  return bits(tensor.format.element) < 8 ? scales_offset(tensor) : elements(tensor);
}

// The byte in which an element begins.
inline std::int64_t byte_of(const Tensor& tensor, std::int64_t index) {
  const int width = bits(tensor.format.element);
  if (width >= 8) return index * (width / 8);
  const std::int64_t columns = matrix_of(tensor).columns;
  return index / columns * ((columns + 1) / 2) + index % columns / 2;
}

// How far left in its byte an element of 4 bits lies: the even index is in the low half.
inline unsigned high_nibble_shift(const Tensor& tensor, std::int64_t index) {
  return bits(tensor.format.element) < 8 && index % matrix_of(tensor).columns % 2 != 0 ? 4 : 0;
}

}  // namespace assay::gpu
