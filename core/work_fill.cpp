// What the tensors of a work hold before it runs.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/number.h"
#include "core/op_exact.h"
#include "core/work.h"

namespace assay {
namespace {

// Every tensor gets numbers of its own from the seed of the work.
// Streams lie beyond all tensors' own indices.
std::uint64_t seed_of(std::uint64_t seed, int tensor, int stream) {
  constexpr std::uint64_t streams = std::uint64_t{1} << 40U;
  return mix(seed, stream < 0 ? static_cast<std::uint64_t>(tensor) : streams + static_cast<std::uint64_t>(stream));
}

// Cosines of position times frequency, then sines; see Rope.
double rope_value(std::int64_t index, std::int64_t columns, std::int64_t first) {
  const std::int64_t half = std::max<std::int64_t>(1, columns / 2);
  const std::int64_t column = index % columns;
  const double frequency = std::pow(10000.0, -2.0 * static_cast<double>(column % half) / static_cast<double>(columns));
  const double angle = static_cast<double>(first + index / columns) * frequency;
  return column < half ? std::cos(angle) : std::sin(angle);
}

// The first step of a training run: learning rate 1e-3, bias corrections of beta1 0.9 and beta2 0.95 at t = 1, a
// gradient scale of 1, no skip, a loss scale of 1.
double adam_scalar(std::int64_t index) {
  constexpr double values[] = {1e-3, 0.1, 0.05, 1, 0, 1, 0, 1};
  return index < 8 ? values[index] : 0;
}

// Before the first step: no corrections yet, a gradient scale of 1, and the loss scale.
double training_scalar(std::int64_t index, double loss_scale) {
  if (index == 3) return 1;
  return index == 5 ? loss_scale : 0;
}

double raw_value(const Filling& filling, std::int64_t index) {
  switch (filling.initial) {
    case Initial::pattern:
      return fill_value(filling.pattern, filling.seed, index, filling.magnitude);
    case Initial::index:
      return static_cast<double>(uniform_below(mix(filling.seed, static_cast<std::uint64_t>(index)), filling.bound));
    case Initial::one:
      return 1;
    case Initial::zero:
      return 0;
    case Initial::rope_table:
      return rope_value(index, filling.columns, filling.bound);
    case Initial::adam_scalars:
      return adam_scalar(index);
    case Initial::training_scalars:
      return training_scalar(index, filling.magnitude);
    case Initial::constant:
      return filling.magnitude;
    case Initial::position:
      return static_cast<double>(filling.bound + index % filling.columns);
    case Initial::last_position:
      return static_cast<double>((index + 1) * filling.bound - 1);
  }
  return 0;
}

bool counts_in_integers(Pattern pattern) { return pattern == Pattern::exact || pattern == Pattern::integer; }

}  // namespace

double fill_magnitude(const Work& work, int tensor, Pattern pattern) {
  const Tensor& chosen = work.tensors.at(static_cast<std::size_t>(tensor));
  if (!counts_in_integers(pattern)) {
    if (chosen.magnitude != 0) return chosen.magnitude;
    return chosen.format.element == Element::int8 ? 32 : 1;
  }
  constexpr double widest = 2147483647;  // fill_value() draws from ranges of up to 2^32
  double most = std::min(widest, exact_integers_to(chosen.format.element));
  for (const Step& step : work.steps) {
    for (std::size_t i = 0; i < step.operands.size(); ++i) {
      if (step.operands[i] == tensor) most = std::min(most, exact_magnitude(step.op, static_cast<int>(i)));
    }
  }
  return std::max(1.0, std::floor(most));
}

double Filling::operator()(std::int64_t index) const {
  return decode(element, encode(element, raw_value(*this, index)));
}

Filling filling(const Work& work, int tensor, Pattern pattern, std::uint64_t seed) {
  const Tensor& chosen = work.tensors.at(static_cast<std::size_t>(tensor));
  Filling result;
  result.element = chosen.format.element;
  result.initial = chosen.initial;
  result.pattern = pattern;
  result.seed = seed_of(seed, tensor, chosen.stream);
  result.magnitude = fill_magnitude(work, tensor, pattern);
  if (chosen.initial == Initial::constant) result.magnitude = chosen.magnitude;
  if (chosen.initial == Initial::training_scalars) result.magnitude = chosen.magnitude == 0 ? 1 : chosen.magnitude;
  result.bound = chosen.bound;
  result.columns = chosen.shape.empty() ? 1 : std::max<std::int64_t>(1, chosen.shape.back());
  return result;
}

double initial_value(const Work& work, int tensor, std::int64_t index, Pattern pattern, std::uint64_t seed) {
  return filling(work, tensor, pattern, seed)(index);
}

}  // namespace assay
