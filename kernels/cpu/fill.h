// Puts values into tensors as memory holds them, and takes them out, by all threads.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/work.h"

namespace assay::cpu {

// Elements [0, count) become fill_value(pattern, seed, index, magnitude), rounded as encode() rounds. For elements of
// whole bytes.
void fill_elements(Element element, std::byte* memory, std::int64_t count, Pattern pattern, std::uint64_t seed,
                   double magnitude, int threads);

// What Program::fill must put into this tensor: filling(index) everywhere, and ones into the scales.
void fill_tensor(const Tensor& tensor, const Filling& filling, std::byte* memory, int threads);

// The same tensor at another place: copying takes a fraction of the time that making the values took.
void copy_tensor(const Tensor& tensor, const std::byte* from, std::byte* to, int threads);

// Makes every element NaN, or an improbable value where the element has none.
void poison_tensor(const Tensor& tensor, std::byte* memory, int threads);

// Elements [first, first + count), decoded. Throws Error outside of the tensor.
std::vector<double> read_tensor(const Tensor& tensor, const std::byte* memory, std::int64_t first, std::int64_t count);

}  // namespace assay::cpu
