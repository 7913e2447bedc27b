// Multiply-adds from a processor's registers, by format, on one core and on all.
// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "bench/case_sizes.h"
#include "bench/cases.h"

namespace assay {

namespace {

struct Way {
  Element operands;
  Element accumulate;
  Unit unit;
};

constexpr std::array<Way, 5> vector_ways = {{
    {Element::fp32, Element::fp32, Unit::vector},
    {Element::fp64, Element::fp64, Unit::vector},
    {Element::bf16, Element::fp32, Unit::vector},
    {Element::fp16, Element::fp16, Unit::vector},
    {Element::int8, Element::int32, Unit::vector},
}};

// Processors with a matrix unit have it for these two.
constexpr std::array<Way, 2> matrix_ways = {{
    {Element::bf16, Element::fp32, Unit::matrix},
    {Element::int8, Element::int32, Unit::matrix},
}};

Case issue_case(const Way& way, int threads) {
  Issue issue;
  issue.operands = Format{way.operands, Scaling::none};
  issue.accumulate = way.accumulate;
  issue.unit = way.unit;
  const std::string unit = way.unit == Unit::vector ? "vector" : "matrix";
  Case item = single_case("issue/" + text(way.operands) + "/" + unit + (threads == 1 ? "/one_core" : "/all"), issue,
                          text(way.operands));
  item.preparation.threads = threads;
  item.variant = threads == 1 ? "one_core" : "all_cores";
  return item;
}

}  // namespace

std::vector<Case> issue_cases(const DeviceInfo& device, ProfileKind) {
  if (!is_processor(device)) return accelerator_issue_cases(device);
  std::vector<Case> cases;
  for (const Way& way : vector_ways) {
    cases.push_back(issue_case(way, 0));
    cases.push_back(issue_case(way, 1));
  }
  for (const Way& way : matrix_ways) cases.push_back(issue_case(way, 0));
  return cases;
}

}  // namespace assay
