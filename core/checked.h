// Arithmetic on sizes that come from outside: an overflow is an error, never a wrapped number.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "core/error.h"

namespace assay {

inline std::int64_t checked_multiply(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) {
    throw Error(std::to_string(a) + " x " + std::to_string(b) + " does not fit into 63 bits");
  }
  return product;
}

inline std::int64_t checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) {
    throw Error(std::to_string(a) + " + " + std::to_string(b) + " does not fit into 63 bits");
  }
  return sum;
}

inline std::int64_t checked_product(std::initializer_list<std::int64_t> factors) {
  std::int64_t product = 1;
  for (const std::int64_t factor : factors) product = checked_multiply(product, factor);
  return product;
}

// Number of elements of a shape; 1 for a scalar.
inline std::int64_t elements_of(const std::vector<std::int64_t>& shape) {
  std::int64_t product = 1;
  for (const std::int64_t extent : shape) product = checked_multiply(product, extent);
  return product;
}

}  // namespace assay
