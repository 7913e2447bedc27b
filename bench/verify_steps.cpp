// Comparisons of whole tensors by their root mean square.
// SPDX-License-Identifier: Apache-2.0
#include "bench/verify_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <variant>

#include "core/interpreter.h"

namespace assay {

namespace {

constexpr int fingerprint_places = 48;

// Tensors that can be read after a run, because nothing else takes their memory, and that a step has written.
std::vector<int> results_of(const Work& work) {
  std::vector<bool> written(work.tensors.size(), false);
  for (const Step& step : work.steps) {
    const std::vector<Operand> all = operands(step.op);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].access != Access::read) written[static_cast<std::size_t>(step.operands[i])] = true;
    }
  }
  std::vector<int> results;
  for (std::size_t i = 0; i < work.tensors.size(); ++i) {
    if (written[i] && work.tensors[i].persistent) results.push_back(static_cast<int>(i));
  }
  return results;
}

// The gradient that an optimizer step turned into this tensor, -1 where none did. Adam's first step moves a weight by
// the learning rate in the direction of its gradient, however small that is.
int gradient_behind(const Work& work, int tensor) {
  for (const Step& step : work.steps) {
    if (!std::holds_alternative<AdamW>(step.op) && !std::holds_alternative<AdamW8>(step.op)) continue;
    const auto written = std::find(step.operands.begin() + 2, step.operands.end(), tensor);
    if (written != step.operands.end()) return step.operands[1];
  }
  return -1;
}

// Whether most of a tensor is zero because few of its rows were looked up: the gradient of an embedding, and what an
// optimizer makes of that. A product that is written into the same gradient (a tied head) reaches all of it.
bool is_sparse(const Work& work, int tensor) {
  const int behind = gradient_behind(work, tensor);
  const int gradient = behind < 0 ? tensor : behind;
  bool scattered = false;
  for (const Step& step : work.steps) {
    const std::vector<Operand> all = operands(step.op);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (step.operands[i] != gradient || all[i].access == Access::read) continue;
      if (std::holds_alternative<Gemm>(step.op)) return false;
      scattered =
          scattered || std::holds_alternative<Embedding>(step.op) || std::holds_alternative<CacheAppend>(step.op);
    }
  }
  return scattered;
}

// How far two right ways to do the same steps may lie apart, as a share of a tensor's root mean square: the device adds
// in fp32 and in another order, so that now and then a value rounds to the other neighbour in the format it is kept in,
// and later steps carry that on.
double allowed_share(const Work& work) {
  double coarsest = 0;
  for (const Step& step : work.steps) {
    for (const Operand& operand : operands(step.op)) {
      if (operand.access != Access::read) coarsest = std::max(coarsest, unit_roundoff(operand.format.element));
    }
  }
  return 4 * coarsest + 256 * unit_roundoff(Element::fp32);
}

double root_mean_square(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum / static_cast<double>(std::max<std::size_t>(values.size(), 1)));
}

// Which elements of a tensor can be predicted: all, but for those that an optimizer moved by a gradient whose direction
// is a matter of rounding. The bias of the keys is the known case: softmax does not see it, so its gradient is zero.
std::vector<bool> predictable(const Work& work, int tensor, const Values& values, double share) {
  const auto count = values[static_cast<std::size_t>(tensor)].size();
  std::vector<bool> answer(count, true);
  const int gradient = gradient_behind(work, tensor);
  if (gradient < 0) return answer;
  const std::vector<double>& slopes = values[static_cast<std::size_t>(gradient)];
  const double noise = 8 * share * root_mean_square(slopes);
  for (std::size_t i = 0; i < count; ++i) answer[i] = std::abs(slopes[i]) > noise;
  return answer;
}

// Adds the comparison of one tensor to the verdict. A single value may be eight times further out than all together.
void compare(Verdict& verdict, const std::string& name, const std::vector<double>& got, const std::vector<double>& want,
             const std::vector<bool>& counts, double share) {
  if (!verdict.wrong.empty()) return;
  const double size = root_mean_square(want);
  std::vector<double> differences;
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (!counts[i]) continue;
    const double difference = got[i] - want[i];
    differences.push_back(difference);
    const double allowed = 8 * share * std::max(size, std::abs(want[i]));
    if (std::abs(difference) <= allowed) continue;
    verdict.wrong =
        fmt::format("{}: element {} is {:.9g}, must be {:.9g} within {:.2g}", name, i, got[i], want[i], allowed);
    return;
  }
  verdict.checked += static_cast<std::int64_t>(differences.size());
  const double off = root_mean_square(differences);
  if (off > share * size) {
    verdict.wrong = fmt::format("{}: off by {:.2g} (root mean square), {:.2g} is allowed", name, off, share * size);
  } else if (size > 0) {
    verdict.worst = std::max(verdict.worst, off / (share * size));
  }
}

}  // namespace

Verdict verify_twin(const Work& twin, Program& program, std::uint64_t seed) {
  Values values = initial_values(twin, Pattern::typical, seed);
  interpret(twin, values, true);
  program.fill(Pattern::typical, seed);
  program.run(1);
  const double share = allowed_share(twin);
  Verdict verdict;
  for (const int index : results_of(twin)) {
    const auto at = static_cast<std::size_t>(index);
    const std::vector<double> got = program.read(index, 0, elements(twin.tensors[at]));
    compare(verdict, "small twin, tensor " + twin.tensors[at].name, got, values[at],
            predictable(twin, index, values, share), share);
  }
  return verdict;
}

Fingerprint fingerprint(const Work& work, Program& program, std::uint64_t seed) {
  program.fill(Pattern::typical, seed);
  program.run(1);
  Fingerprint print;
  print.tensors = results_of(work);
  for (const int index : print.tensors) {
    std::vector<double> values;
    for (const std::int64_t place :
         sample_places(work.tensors[static_cast<std::size_t>(index)].shape, fingerprint_places)) {
      values.push_back(program.read(index, place, 1).at(0));
    }
    print.values.push_back(std::move(values));
  }
  return print;
}

Verdict verify_alone(const Work& work, const Fingerprint& print, std::uint64_t seed) {
  Verdict verdict;
  if (print.tensors.empty()) verdict.wrong = "the work leaves no tensor that could be checked";
  for (std::size_t i = 0; i < print.tensors.size() && verdict.wrong.empty(); ++i) {
    const int index = print.tensors[i];
    const Tensor& tensor = work.tensors[static_cast<std::size_t>(index)];
    const std::vector<std::int64_t> places = sample_places(tensor.shape, fingerprint_places);
    bool zero = true;
    bool untouched = true;
    for (std::size_t at = 0; at < places.size(); ++at) {
      const double value = print.values[i][at];
      if (!std::isfinite(value))
        verdict.wrong = fmt::format("tensor {}: element {} is {}", tensor.name, places[at], value);
      zero = zero && value == 0;
      untouched = untouched && value == initial_value(work, index, places[at], Pattern::typical, seed);
    }
    verdict.checked += static_cast<std::int64_t>(places.size());
    // A step of an optimizer may be too small for the format that the weight is kept in.
    untouched = untouched && gradient_behind(work, index) < 0;
    if (is_sparse(work, index)) continue;
    if (verdict.wrong.empty() && untouched) verdict.wrong = fmt::format("tensor {} was not written", tensor.name);
    if (verdict.wrong.empty() && zero) verdict.wrong = fmt::format("tensor {} is all zeros", tensor.name);
  }
  return verdict;
}

Verdict verify_again(const Work& work, const Fingerprint& before, const Fingerprint& after) {
  Verdict verdict;
  for (std::size_t i = 0; i < before.tensors.size(); ++i) {
    const Tensor& tensor = work.tensors[static_cast<std::size_t>(before.tensors[i])];
    // What an optimizer made of gradients that are zero but for rounding is the same again on the same device, mostly;
    // where it need not be, the twin has the last word.
    if (gradient_behind(work, before.tensors[i]) >= 0) continue;
    compare(verdict, "after timing, tensor " + tensor.name, after.values[i], before.values[i],
            std::vector<bool>(before.values[i].size(), true), allowed_share(work));
  }
  return verdict;
}

}  // namespace assay
