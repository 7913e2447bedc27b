// Number formats: what an element is, how a tensor of them is scaled, and how many bits that takes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

// One number. OCP and FNUZ FP8 are different elements: the same bits mean different numbers.
enum class Element : std::uint8_t {
  fp64,
  fp32,
  tf32,  // stored as fp32 (32 bits); the product rounds to 10 mantissa bits
  bf16,
  fp16,
  fp8_e4m3,       // OCP: no infinity, 448 is the largest
  fp8_e5m2,       // OCP: infinities, 57344 is the largest
  fp8_e4m3_fnuz,  // gfx94x: bias 8, no infinity, no negative zero, 240 is the largest
  fp8_e5m2_fnuz,  // gfx94x: bias 16, no infinity, no negative zero, 57344 is the largest
  int8,
  int32,
  int64,
  fp4_e2m1,  // 4 bits, two to a byte, the even index in the low half
  ue8m0,     // a power of two, only ever a block scale
};

// How the elements of a tensor are multiplied back. Block scalings run along the last dimension.
enum class Scaling : std::uint8_t {
  none,
  tensor,         // one fp32 for the whole tensor
  block32_ue8m0,  // OCP MX: 32 elements share one power of two
  block16_e4m3,   // NVFP4: 16 elements share one fp8_e4m3, and the tensor has one fp32
  group128,       // 128 elements share one fp32
};

struct Format {
  Element element = Element::fp32;
  Scaling scaling = Scaling::none;
};
inline bool operator==(Format a, Format b) { return a.element == b.element && a.scaling == b.scaling; }
inline bool operator!=(Format a, Format b) { return !(a == b); }

// All elements, in the order of the enumeration.
const std::vector<Element>& elements();

// Bits that one element takes in memory.
int bits(Element element);

// Bytes of `rows` rows of `columns` elements, scales not counted; a row of 4-bit elements is padded to whole bytes.
// Throws Error where the product does not fit into 63 bits or a dimension is negative.
std::int64_t element_bytes(Element element, std::int64_t rows, std::int64_t columns);

// Bytes of the scales that go with it (0 for Scaling::none).
std::int64_t scale_bytes(Format format, std::int64_t rows, std::int64_t columns);

// Stable names: "fp32", "bf16", "fp8_e4m3", "fp8_e4m3.tensor", "fp4_e2m1.block16_e4m3". They go into result files.
std::string text(Element element);
std::string text(Scaling scaling);
std::string text(Format format);
std::optional<Element> parse_element(std::string_view name);
std::optional<Format> parse_format(std::string_view name);

// Unit roundoff: half the distance from 1 to the next number (2^-8 for bf16: 8 significant bits). 0 for the integers.
double unit_roundoff(Element element);

// The largest finite value.
double largest(Element element);

// Every integer of magnitude up to this is held exactly (256 for bf16: 2^8).
double exact_integers_to(Element element);

}  // namespace assay
