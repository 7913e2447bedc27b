// Formats and the architectures that multiply them.
// SPDX-License-Identifier: Apache-2.0
#include "hip/matrix_types.h"

#include "hip/architectures.h"

namespace vendor {
namespace {

using assay::Element;
using assay::Format;
using assay::Gemm;
using assay::Scaling;
using assay::Support;
using assay::text;

Support no(std::string reason) { return {false, std::move(reason)}; }

bool is_ocp(Element e) { return e == Element::fp8_e4m3 || e == Element::fp8_e5m2; }
bool is_fnuz(Element e) { return e == Element::fp8_e4m3_fnuz || e == Element::fp8_e5m2_fnuz; }

Support no_such_product(const Gemm& gemm) {
  return no("there is no matrix product of " + text(gemm.a) + " by " + text(gemm.b) + " into " + text(gemm.d) +
            ", accumulated in " + text(gemm.accumulate));
}

Support plain_possible(const Gemm& gemm, int architecture) {
  const Element a = gemm.a.element;
  const Element d = gemm.d.element;
  if (gemm.b != gemm.a || gemm.d.scaling != Scaling::none) return no_such_product(gemm);
  if (a == Element::int8) {
    if (d != Element::int32 || gemm.accumulate != Element::int32) return no_such_product(gemm);
    if (gemm.alpha != 1 || gemm.bias || gemm.activation != assay::Activation::none) {
      return no("INT8 products into INT32 have no alpha, no bias and no activation");
    }
    return {true, ""};
  }
  if (a == Element::fp64) {
    return d == Element::fp64 && gemm.accumulate == Element::fp64 ? Support{true, ""} : no_such_product(gemm);
  }
  if (gemm.accumulate == Element::fp16) {
    return no("AMD's libraries accumulate FP16 in FP32 alone");
  }
  if (gemm.accumulate != Element::fp32) return no_such_product(gemm);
  if (a == Element::tf32) {
    if (d != Element::fp32 && d != Element::tf32) return no_such_product(gemm);
    if (architecture >= 940 && architecture < 950) return {true, ""};
    return no(architecture_text(architecture) + " has no XF32 (AMD's TF32); only gfx940 to gfx942 have it");
  }
  if (a == Element::fp32) return d == Element::fp32 ? Support{true, ""} : no_such_product(gemm);
  if (a == Element::fp16 || a == Element::bf16) {
    return d == a || d == Element::fp32 ? Support{true, ""} : no_such_product(gemm);
  }
  return no_such_product(gemm);
}

Support fp8_possible(const Gemm& gemm, int architecture) {
  const Element d = gemm.d.element;
  const bool wide = d == Element::fp16 || d == Element::bf16 || d == Element::fp32;
  if (gemm.accumulate != Element::fp32 || !wide || gemm.d.scaling != Scaling::none) return no_such_product(gemm);
  const std::string here = architecture_text(architecture);
  switch (fp8_dialect(architecture)) {
    case Fp8Dialect::none:
      return no(here + " has no FP8; it came with gfx942 (MI300), gfx950 (MI350) and gfx1200 (RDNA4)");
    case Fp8Dialect::fnuz:
      if (is_ocp(gemm.a.element)) {
        return no(here + " multiplies FP8 in the FNUZ dialect (fp8_e4m3_fnuz), and OCP's numbers are others");
      }
      return {true, ""};
    case Fp8Dialect::ocp:
      if (is_fnuz(gemm.a.element)) {
        return no(here + " multiplies FP8 in OCP's dialect (fp8_e4m3), and the FNUZ numbers are others");
      }
      return {true, ""};
  }
  return {true, ""};
}

}  // namespace

Support formats_possible(const Gemm& gemm, int architecture) {
  const bool by_tensor = (gemm.a.scaling == Scaling::none || gemm.a.scaling == Scaling::tensor) &&
                         (gemm.b.scaling == Scaling::none || gemm.b.scaling == Scaling::tensor);
  const bool one_dialect =
      (is_ocp(gemm.a.element) && is_ocp(gemm.b.element)) || (is_fnuz(gemm.a.element) && is_fnuz(gemm.b.element));
  if (one_dialect && by_tensor) return fp8_possible(gemm, architecture);
  if (gemm.a.scaling != Scaling::none) {
    return no("this program multiplies no block-scaled numbers on AMD's cards: " + text(gemm.a));
  }
  return plain_possible(gemm, architecture);
}

}  // namespace vendor
