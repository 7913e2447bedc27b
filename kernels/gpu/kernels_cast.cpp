// Casts between stored formats, all FP8 dialects among them, with and without a scale.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/kernels_elements.h"

namespace assay::gpu {
namespace {

// Bits as they are.
struct Same {
  template <class Storage>
  __device__ Storage operator()(Storage x) const {
    return x;
  }
};

// Nearest even, by an instruction where the device has one.
template <class To>
__device__ To rounded_to(float value) {
  if constexpr (std::is_same_v<To, bodies::Fp8E4m3> && vendor::has_fp8_conversions()) {
    return {vendor::float_to_fp8_e4m3(value)};
  } else if constexpr (std::is_same_v<To, bodies::Fp8E5m2> && vendor::has_fp8_conversions()) {
    return {vendor::float_to_fp8_e5m2(value)};
  } else {
    return bodies::from_float<To>(value);
  }
}

// One kernel with and without a scale, since there are many pairs of formats. The scale is read from memory, and stays
// in the nearest cache.
template <class To>
struct CastOne {
  const float* scale;  // null where there is none
  template <class From>
  __device__ To operator()(From x) const {
    const float value = bodies::to_float(x);
    return rounded_to<To>(scale == nullptr ? value : value / *scale);
  }
};

template <class Function>
Prepared with_any_storage(Element element, Function f) {
  switch (element) {
    case Element::fp8_e4m3:
      return f(bodies::Fp8E4m3{});
    case Element::fp8_e5m2:
      return f(bodies::Fp8E5m2{});
    case Element::fp8_e4m3_fnuz:
      return f(bodies::Fp8E4m3Fnuz{});
    case Element::fp8_e5m2_fnuz:
      return f(bodies::Fp8E5m2Fnuz{});
    case Element::int8:
      return f(bodies::Int8{});
    case Element::fp64:
    case Element::fp32:
    case Element::tf32:
    case Element::bf16:
    case Element::fp16:
    case Element::int32:
    case Element::int64:
    case Element::fp4_e2m1:
    case Element::ue8m0:
      break;
  }
  return with_storage(element, f);
}

template <class From, class To>
Prepared prepare_cast(const Cast& op, const Pointers& operands, const BodySetup& setup) {
  const auto* const x = as<From>(operands.at(0));
  auto* const y = as<To>(operands.back());
  const bool scaled = op.to.scaling == Scaling::tensor;
  if constexpr (std::is_same_v<From, To>) {
    if (!scaled) return prepare_elements<wide<To>, 4>(Map1<Same, To, To>{{}, y, x, false}, op.count, setup);
  }
  // 16 bytes of the wider side, but not more than 8 elements: their conversions are long, and there are 64 of them.
  // Between two formats of 8 bits nobody is in a hurry.
  constexpr int narrower = wide<From> < wide<To> ? wide<From> : wide<To>;
  constexpr int width = narrower == 16 ? 4 : narrower;
  const float* const scale = scaled ? as<float>(operands.at(1)) : nullptr;
  return prepare_elements<width, 2>(Map1<CastOne<To>, To, From>{{scale}, y, x, false}, op.count, setup);
}

}  // namespace

Prepared prepare(const Cast& op, const Pointers& operands, const BodySetup& setup) {
  return with_any_storage(op.from.element, [&](auto from) {
    return with_any_storage(op.to.element,
                            [&](auto to) { return prepare_cast<decltype(from), decltype(to)>(op, operands, setup); });
  });
}

}  // namespace assay::gpu
