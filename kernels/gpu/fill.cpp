// Filling and poisoning. Reading is in read.cpp.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/fill.h"

#include <algorithm>
#include <cstring>

#include "core/error.h"
#include "core/number.h"
#include "kernels/gpu/fill_kernel.h"
#include "kernels/gpu/layout.h"

namespace assay::gpu {
namespace {

constexpr std::int64_t staging_bytes = std::int64_t{64} << 20;

bool made_by_host(Initial initial) {
  switch (initial) {
    case Initial::rope_table:
    case Initial::adam_scalars:
    case Initial::training_scalars:
    case Initial::constant:
    case Initial::position:
    case Initial::last_position:
      return true;
    case Initial::pattern:
    case Initial::index:
    case Initial::one:
    case Initial::zero:
      break;
  }
  return false;
}

int poison_byte(Element element) {
  switch (element) {
    case Element::fp8_e4m3_fnuz:
    case Element::fp8_e5m2_fnuz:
      return 0x80;  // their only NaN
    case Element::int8:
    case Element::int32:
    case Element::int64:
      return 0x81;
    case Element::fp64:
    case Element::fp32:
    case Element::tf32:
    case Element::bf16:
    case Element::fp16:
    case Element::fp8_e4m3:
    case Element::fp8_e5m2:
    case Element::fp4_e2m1:
    case Element::ue8m0:
      break;
  }
  return 0xFF;  // NaN, and -6 twice for fp4
}

// Angles of positions and the like are few, and made by the host's cosine so that they are the same everywhere.
std::vector<std::byte> host_made(const Tensor& tensor, const Filling& filling) {
  const auto width = static_cast<std::size_t>(std::max(1, bits(tensor.format.element) / 8));
  std::vector<std::byte> image(static_cast<std::size_t>(scales_offset(tensor)));
  for (std::int64_t i = 0; i < elements(tensor); ++i) {
    std::uint64_t word = encode(tensor.format.element, filling(i)) << high_nibble_shift(tensor, i);
    std::byte* const to = image.data() + byte_of(tensor, i);
    if (high_nibble_shift(tensor, i) != 0) word |= static_cast<std::uint64_t>(*to);
    std::memcpy(to, &word, width);  // little-endian
  }
  return image;
}

}  // namespace

void Contents::fill_elements(const Tensor& tensor, const Filling& filling, std::byte* to, std::int64_t first,
                             std::int64_t count) {
  FillRange range;
  range.element = tensor.format.element;
  range.initial = filling.initial;
  range.pattern = filling.pattern;
  range.seed = filling.seed;
  range.magnitude = filling.magnitude;
  range.bound = filling.bound;
  range.columns = filling.columns;
  range.first = first;
  range.count = count;
  enqueue_fill(range, to, device_, stream_);
}

// Scales are 1.
void Contents::fill_scales(const Tensor& tensor, std::byte* scales, std::int64_t size) {
  // Copied, as a kernel would store whole words, and behind an odd number of elements words are not aligned.
  const auto floats = [&](std::byte* to, std::int64_t count) {
    const std::vector<float> ones(static_cast<std::size_t>(count), 1.0f);
    vendor::copy(to, ones.data(), count * static_cast<std::int64_t>(sizeof(float)), stream_);
    vendor::synchronise(stream_);  // before the numbers go
  };
  switch (tensor.format.scaling) {
    case Scaling::none:
      return;
    case Scaling::tensor:
    case Scaling::group128:
      return floats(scales, size / 4);
    case Scaling::block32_ue8m0:
      return vendor::set_bytes(scales, 127, size, stream_);  // 2^(127 - 127)
    case Scaling::block16_e4m3:
      vendor::set_bytes(scales, 0x38, size - 4, stream_);  // exponent 7 with bias 7, no mantissa: 1
      return floats(scales + size - 4, 1);
  }
}

// The whole tensor in the device's own memory.
void Contents::fill_image(const Tensor& tensor, const Filling& filling, std::byte* to) {
  const std::int64_t elements_end = scales_offset(tensor);
  if (made_by_host(filling.initial)) {
    const std::vector<std::byte> image = host_made(tensor, filling);
    vendor::copy(to, image.data(), static_cast<std::int64_t>(image.size()), stream_);
    vendor::synchronise(stream_);  // before the image goes
  } else {
    fill_elements(tensor, filling, to, 0, stored_units(tensor));
  }
  fill_scales(tensor, to + elements_end, bytes(tensor) - elements_end);
}

void Contents::queue_copy(Spot from, Spot to, std::int64_t bytes) {
  const auto foreign = [this](Home home) { return home.kind == PlaceKind::device && home.index != device_; };
  if (!foreign(from.home) && !foreign(to.home)) return vendor::copy(to.memory, from.memory, bytes, stream_);
  const auto number = [this](Home home) { return home.kind == PlaceKind::device ? home.index : device_; };
  if (from.home.kind == PlaceKind::device && to.home.kind == PlaceKind::device) {
    return vendor::copy_peer(to.memory, number(to.home), from.memory, number(from.home), bytes, stream_);
  }
  vendor::copy(to.memory, from.memory, bytes, stream_);  // the driver knows whose memory an address is
}

void Contents::fill(const Tensor& tensor, const Filling& filling, Spot to) {
  if (to.home == Home{PlaceKind::device, device_}) {
    fill_image(tensor, filling, to.memory);
    return vendor::synchronise(stream_);
  }
  const std::int64_t size = bytes(tensor);
  // Only plain elements can be made piece by piece; the rest is small.
  const bool pieces = tensor.format.scaling == Scaling::none && bits(tensor.format.element) >= 8 &&
                      !made_by_host(filling.initial) && size > staging_bytes;
  const Block staging({PlaceKind::device, device_}, pieces ? staging_bytes : size, device_);
  const Spot from{staging.data(), staging.home()};
  if (!pieces) {
    fill_image(tensor, filling, from.memory);
    queue_copy(from, to, size);
    return vendor::synchronise(stream_);
  }
  const std::int64_t width = bits(tensor.format.element) / 8;
  for (std::int64_t at = 0; at < size; at += staging_bytes) {
    const std::int64_t some = std::min(staging_bytes, size - at);
    fill_elements(tensor, filling, from.memory, at / width, some / width);
    queue_copy(from, {to.memory + at, to.home}, some);
    vendor::synchronise(stream_);
  }
}

void Contents::poison(const Tensor& tensor, Spot to) {
  const int value = poison_byte(tensor.format.element);
  const std::int64_t size = bytes(tensor);
  if (to.home.kind != PlaceKind::device) {
    std::memset(to.memory, value, static_cast<std::size_t>(size));
    return;
  }
  if (to.home.index == device_) {
    vendor::set_bytes(to.memory, value, size, stream_);
  } else {
    const std::vector<std::byte> image(static_cast<std::size_t>(size), static_cast<std::byte>(value));
    return write(image, to);
  }
  vendor::synchronise(stream_);
}

void Contents::copy(Spot from, Spot to, std::int64_t bytes) {
  queue_copy(from, to, bytes);
  vendor::synchronise(stream_);
}

void Contents::write(const std::vector<std::byte>& from, Spot to) {
  vendor::copy(to.memory, from.data(), static_cast<std::int64_t>(from.size()), stream_);
  vendor::synchronise(stream_);
}

}  // namespace assay::gpu
