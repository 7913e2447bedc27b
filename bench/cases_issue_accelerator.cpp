// Multiply-adds from an accelerator's registers, by unit and format: what no library can beat.
// SPDX-License-Identifier: Apache-2.0
#include "bench/case_formats.h"
#include "bench/case_sizes.h"
#include "bench/cases.h"

namespace assay {

namespace {

Case issue_case(const std::string& format, Format operands, Element accumulate, Unit unit) {
  Issue issue;
  issue.operands = operands;
  issue.accumulate = accumulate;
  issue.unit = unit;
  // A millisecond of vector work by all lanes; back ends let matrix units go on for longer where that is too short.
  issue.count = 1 << 17;
  const std::string name = unit == Unit::vector ? "vector" : "matrix";
  Case item = single_case("issue/" + format + "/" + name + "/all", issue, format);
  item.variant = "all_units";
  return item;
}

}  // namespace

std::vector<Case> accelerator_issue_cases(const DeviceInfo& device) {
  std::vector<Case> cases;
  // Vector units add in the format that they multiply.
  for (const Element element : {Element::fp32, Element::fp16, Element::bf16, Element::fp64}) {
    cases.push_back(issue_case(text(element), Format{element, Scaling::none}, element, Unit::vector));
  }
  for (const ProductFormat& format : product_formats(device)) {
    if (format.name == "fp32") continue;  // no matrix unit multiplies it
    Format operands = format.a;
    if (operands.scaling == Scaling::tensor) operands.scaling = Scaling::none;  // one number for all: no unit sees it
    cases.push_back(issue_case(format.name, operands, format.accumulate, Unit::matrix));
  }
  // What no library offers, but the units have.
  const ProductFormat eight = product_format(device, "fp8_e4m3");
  const Format fp8{eight.a.element, Scaling::none};
  cases.push_back(issue_case(eight.name + "_fp16_sums", fp8, Element::fp16, Unit::matrix));
  const Format mxfp4{Element::fp4_e2m1, Scaling::block32_ue8m0};
  cases.push_back(issue_case("mxfp4", mxfp4, Element::fp32, Unit::matrix));
  return cases;
}

}  // namespace assay
