// Compares probed results with what each candidate precision would have given.
// SPDX-License-Identifier: Apache-2.0
#include "bench/precision_probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>

#include "core/error.h"
#include "core/number.h"

namespace assay {

namespace {

// How a sum is kept between additions.
struct Accumulator {
  const char* name;
  int significant_bits;
  bool truncates;  // cuts instead of rounding to nearest
};

constexpr Accumulator fp64_sums = {"fp64", 53, false};
constexpr Accumulator fp32_sums = {"fp32", 24, false};
constexpr Accumulator fp16_sums = {"fp16", 11, false};
constexpr Accumulator bf16_sums = {"bf16", 8, false};
// FP8 products on some matrix units keep 13 bits behind the point and cut the rest off.
constexpr Accumulator short_sums = {"14_bits", 14, true};

// Formats whose rounding the probe tells apart, finest first: those an input so stored may be multiplied in. FP8 E5M2
// rounds the probe as E4M3 does, so that one stands for both.
std::vector<Element> candidates(Element stored) {
  switch (stored) {
    case Element::fp64:
      return {Element::fp64, Element::fp32, Element::tf32, Element::bf16};
    case Element::fp32:
    case Element::tf32:
      return {Element::fp32, Element::tf32, Element::bf16};
    case Element::bf16:
      return {Element::bf16, Element::fp8_e4m3};
    case Element::fp16:
      return {Element::fp16, Element::bf16, Element::fp8_e4m3};
    case Element::fp8_e4m3:
    case Element::fp8_e5m2:
    case Element::fp8_e4m3_fnuz:
    case Element::fp8_e5m2_fnuz:
    case Element::fp4_e2m1:
      return {stored};
    case Element::int8:
    case Element::int32:
    case Element::int64:
    case Element::ue8m0:
      break;
  }
  return {};
}

double keep(Accumulator accumulator, double sum) {
  if (accumulator.significant_bits == 53 || sum == 0 || !std::isfinite(sum)) return sum;
  int exponent = 0;
  const double fraction = std::frexp(sum, &exponent);  // 0.5 .. 1
  const double scaled = std::ldexp(fraction, accumulator.significant_bits);
  const double whole = accumulator.truncates ? std::trunc(scaled) : std::nearbyint(scaled);
  return std::ldexp(whole, exponent - accumulator.significant_bits);
}

long double exact_sum(const ProbedOutput& output, Element format) {
  long double sum = 0;
  for (std::size_t i = 0; i < output.a.size(); ++i) {
    sum += static_cast<long double>(rounded(format, output.a[i])) * rounded(format, output.b[i]);
  }
  return sum;
}

double kept_sum(const ProbedOutput& output, Element format, Accumulator accumulator) {
  double sum = 0;
  for (std::size_t i = 0; i < output.a.size(); ++i) {
    sum = keep(accumulator, sum + rounded(format, output.a[i]) * rounded(format, output.b[i]));
  }
  return sum;
}

double root_mean_square(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum / static_cast<double>(values.size()));
}

// How far the results are from the sums of inputs rounded to `format`: relative, root mean square.
double distance(const std::vector<ProbedOutput>& outputs, Element format) {
  std::vector<double> errors;
  for (const ProbedOutput& output : outputs) {
    const long double sum = exact_sum(output, format);
    errors.push_back(static_cast<double>((output.result - sum) / sum));
  }
  return root_mean_square(errors);
}

struct Executed {
  std::optional<Element> format;
  double error = 0;
};

// The candidate that the results are nearest to, if it is nearer than every other by a factor of three.
Executed executed_format(const std::vector<ProbedOutput>& outputs, const std::vector<Element>& formats) {
  std::vector<double> distances;
  for (const Element format : formats) distances.push_back(distance(outputs, format));
  const auto best = std::min_element(distances.begin(), distances.end());
  for (auto other = distances.begin(); other != distances.end(); ++other) {
    if (other != best && !(*other > 3 * *best)) return {std::nullopt, *best};
  }
  return {formats[static_cast<std::size_t>(best - distances.begin())], *best};
}

// The probed outputs with what they would be if nothing were lost after the inputs were rounded to `format`.
struct Reference {
  const std::vector<ProbedOutput>& outputs;
  Element format;
  std::vector<double> sums;
};

Reference reference_for(const std::vector<ProbedOutput>& outputs, Element format) {
  Reference reference{outputs, format, {}};
  for (const ProbedOutput& output : outputs) reference.sums.push_back(static_cast<double>(exact_sum(output, format)));
  return reference;
}

// The error that is left when the rounding of the result itself is allowed for.
double error_of_the_sum(const Reference& reference, Element output_element) {
  std::vector<double> errors;
  for (std::size_t i = 0; i < reference.sums.size(); ++i) {
    const double result = reference.outputs[i].result;
    const double allowed = unit_roundoff(output_element) * std::abs(result);
    const double sum = reference.sums[i];
    errors.push_back(std::max(0.0, std::abs(result - sum) - allowed) / std::abs(sum));
  }
  return root_mean_square(errors);
}

double sequential_error(const Reference& reference, Accumulator accumulator) {
  std::vector<double> errors;
  for (std::size_t i = 0; i < reference.sums.size(); ++i) {
    const double sum = reference.sums[i];
    errors.push_back((kept_sum(reference.outputs[i], reference.format, accumulator) - sum) / sum);
  }
  return root_mean_square(errors);
}

// Blocked and pairwise sums are better than sequential ones and never much worse; hence the factor. The floor is for
// sums so short that nothing is lost.
bool as_good_as(const Reference& reference, Accumulator accumulator, double error) {
  return error <= 4 * sequential_error(reference, accumulator) + std::ldexp(2.0, -accumulator.significant_bits);
}

// What is as good as was asked for gets that name. What is not gets that of the accumulator whose plain sequential sum
// is wrong by the most similar amount; which of them come into question depends on what multiplies.
const char* accumulator_name(const Reference& reference, Element asked, double error) {
  if (asked == Element::fp64 && as_good_as(reference, fp64_sums, error)) return fp64_sums.name;
  if (as_good_as(reference, fp32_sums, error)) return fp32_sums.name;
  const char* nearest = "";
  double smallest = std::log(8.0);  // farther from all of them: unlike any
  for (const Accumulator& candidate : {bits(reference.format) >= 16 ? bf16_sums : short_sums, fp16_sums}) {
    const double ratio = std::abs(std::log(error / sequential_error(reference, candidate)));
    if (ratio >= smallest) continue;
    smallest = ratio;
    nearest = candidate.name;
  }
  return nearest;
}

// Sums in 14 bits are what some FP8 units do when asked for fp32: told, but not held against the number.
bool shorter_sum(const std::string& accumulated, Element asked) {
  if (asked == Element::fp64) return accumulated != "fp64";
  return asked == Element::fp32 && (accumulated == "fp16" || accumulated == "bf16");
}

}  // namespace

Precision judge_precision(const std::vector<ProbedOutput>& outputs, Element a_element, Element b_element,
                          Element output, Element accumulate) {
  // The input with the longer mantissa says most; the other one is stored shorter already and rounds to itself.
  const Element stored = unit_roundoff(a_element) <= unit_roundoff(b_element) ? a_element : b_element;
  const std::vector<Element> formats = candidates(stored);
  if (outputs.empty() || formats.empty()) throw Error("the precision of " + text(stored) + " cannot be probed");

  Precision result;
  const Executed executed = executed_format(outputs, formats);
  // With sums so poor that they hide what multiplied, the sums are judged against the inputs as stored.
  const Reference reference = reference_for(outputs, executed.format.value_or(formats.front()));
  result.accumulated = accumulator_name(reference, accumulate, error_of_the_sum(reference, output));
  if (executed.format) {
    result.executed = text(*executed.format);
    result.lower_than_asked = unit_roundoff(*executed.format) > unit_roundoff(stored);
    result.proof = fmt::format("probe: {} within {:.1e}", result.executed, executed.error);
  } else {
    result.proof = fmt::format("probe: products not told apart, off by {:.1e}", executed.error);
  }
  result.lower_than_asked = result.lower_than_asked || shorter_sum(result.accumulated, accumulate);
  result.proof += result.accumulated.empty() ? ", sums unlike any known" : ", sums " + result.accumulated;
  return result;
}

}  // namespace assay
