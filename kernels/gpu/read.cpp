// Reading: the bytes of the range asked for come to the host and are decoded there.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "core/error.h"
#include "core/number.h"
#include "kernels/gpu/fill.h"
#include "kernels/gpu/layout.h"

namespace assay::gpu {
namespace {

std::uint64_t bits_at(const Tensor& tensor, const std::vector<std::byte>& image, std::int64_t image_begin,
                      std::int64_t index) {
  const int width = bits(tensor.format.element);
  const auto at = static_cast<std::size_t>(byte_of(tensor, index) - image_begin);
  if (width < 8) {
    const auto byte = static_cast<unsigned>(image[at]);
    return (byte >> high_nibble_shift(tensor, index)) & 0xFU;
  }
  std::uint64_t word = 0;  // the machine is little-endian: the low bytes come first
  std::memcpy(&word, image.data() + at, static_cast<std::size_t>(width / 8));
  return word;
}

}  // namespace

std::vector<double> Contents::read(const Tensor& tensor, Spot from, std::int64_t first, std::int64_t count) {
  if (first < 0 || count < 0 || first > elements(tensor) - count) {
    throw Error("reading elements " + std::to_string(first) + " to " + std::to_string(first + count) + " of tensor \"" +
                tensor.name + "\", which has " + std::to_string(elements(tensor)));
  }
  std::vector<double> values;
  if (count == 0) return values;
  const std::int64_t begin = byte_of(tensor, first);
  const std::int64_t last_width = std::max(1, bits(tensor.format.element) / 8);
  std::vector<std::byte> image(static_cast<std::size_t>(byte_of(tensor, first + count - 1) + last_width - begin));
  if (from.home.kind == PlaceKind::device) {
    vendor::copy(image.data(), from.memory + begin, static_cast<std::int64_t>(image.size()), stream_);
    vendor::synchronise(stream_);
  } else {
    std::memcpy(image.data(), from.memory + begin, image.size());
  }
  values.reserve(static_cast<std::size_t>(count));
  for (std::int64_t index = first; index < first + count; ++index) {
    values.push_back(decode(tensor.format.element, bits_at(tensor, image, begin, index)));
  }
  return values;
}

}  // namespace assay::gpu
