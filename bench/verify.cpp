// Sampled outputs against expected values, and the inputs of the precision probe.
// SPDX-License-Identifier: Apache-2.0
#include "bench/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>
#include <variant>

#include "core/error.h"
#include "core/fill.h"
#include "core/number.h"

namespace assay {

namespace {

constexpr int most_places = 72;        // looked at in one operand
constexpr int fewest_places = 12;      // even where one of them takes a million inputs
constexpr double most_inputs = 1.5e6;  // regenerated for one operand's places together; about a tenth of a second
constexpr int probed_places = 16;

// Inputs that go into one output, roughly: it decides how many outputs can be checked in reasonable time.
double inputs_of_one(const Op& op) {
  if (const auto* gemm = std::get_if<Gemm>(&op)) return 4.0 * static_cast<double>(gemm->k);
  if (const auto* softmax = std::get_if<Softmax>(&op)) return 4.0 * static_cast<double>(softmax->columns);
  if (const auto* norm = std::get_if<Norm>(&op)) return 6.0 * static_cast<double>(norm->columns);
  if (const auto* norm = std::get_if<NormWeights>(&op)) return 4.0 * static_cast<double>(norm->rows);
  if (const auto* sum = std::get_if<ColumnSum>(&op)) return 2.0 * static_cast<double>(sum->rows);
  if (const auto* loss = std::get_if<CrossEntropy>(&op)) return 4.0 * static_cast<double>(loss->columns);
  if (const auto* embedding = std::get_if<Embedding>(&op)) return 2.0 * static_cast<double>(embedding->rows);
  return 4;
}

int places_for(const Op& op) {
  const double affordable = most_inputs / inputs_of_one(op);
  return static_cast<int>(std::clamp(affordable, double{fewest_places}, double{most_places}));
}

// What one place said, and what it should have said.
struct Comparand {
  double got = 0;
  double want = 0;
  double before = 0;
  double allowed = 0;
};

std::string describe_place(const Operand& operand, std::int64_t place) {
  std::string indices;
  for (std::size_t i = operand.shape.size(); i-- > 0;) {
    indices = fmt::format("{}{}{}", place % operand.shape[i], indices.empty() ? "" : ", ", indices);
    place /= operand.shape[i];
  }
  return fmt::format("{}[{}]", operand.name, indices);
}

// Collects the comparisons of one operand into a verdict, and says what is wrong in the most telling way.
class Comparison {
 public:
  Comparison(const Operand& operand, Pattern pattern) : operand_(operand), pattern_(pattern) {}

  void add(std::int64_t place, Comparand at) {
    ++checked_;
    const double error = std::abs(at.got - at.want);
    const bool right = error <= at.allowed;
    if (!(at.got == 0)) all_zero_ = false;
    if (!(at.want == 0)) wanted_zero_ = false;
    if (!(at.got == at.before)) untouched_ = false;
    if (at.allowed > 0 && right) worst_ = std::max(worst_, error / at.allowed);
    if (right) return;
    ++wrong_;
    if (!std::isfinite(at.got)) ++not_finite_;
    const double share = std::isfinite(error) && at.allowed > 0 ? error / at.allowed : INFINITY;
    if (wrong_ == 1 || share > worst_share_) {
      worst_share_ = share;
      worst_place_ = place;
      worst_at_ = at;
    }
  }

  std::int64_t checked() const { return checked_; }
  double worst() const { return worst_; }

  std::string sentence() const {
    if (wrong_ == 0) return "";
    const std::string what = fmt::format("with {} data", text(pattern_));
    if (untouched_)
      return fmt::format("{}: operand {} was not written ({} places looked at)", what, operand_.name, checked_);
    if (all_zero_ && !wanted_zero_)
      return fmt::format("{}: operand {} is all zeros ({} places looked at)", what, operand_.name, checked_);
    std::string sentence =
        fmt::format("{}: {} of {} values of {} are wrong; {} is {:.9g}, must be {:.9g}", what, wrong_, checked_,
                    operand_.name, describe_place(operand_, worst_place_), worst_at_.got, worst_at_.want);
    sentence += worst_at_.allowed > 0 ? fmt::format(" within {:.2g}", worst_at_.allowed) : " to the last bit";
    if (not_finite_ > 0) sentence += fmt::format("; {} are not finite", not_finite_);
    return sentence;
  }

 private:
  const Operand& operand_;
  Pattern pattern_;
  std::int64_t checked_ = 0, wrong_ = 0, not_finite_ = 0, worst_place_ = 0;
  double worst_ = 0, worst_share_ = 0;
  bool all_zero_ = true, wanted_zero_ = true, untouched_ = true;
  Comparand worst_at_;
};

// Row, column and batch of a flat index into a product's D, and the pairs that make it.
ProbedOutput pairs_of(const Gemm& gemm, std::int64_t place, const Reader& stored) {
  const std::int64_t column = place % gemm.n;
  const std::int64_t row = place / gemm.n % gemm.m;
  const std::int64_t batch = place / gemm.n / gemm.m;
  ProbedOutput output;
  for (std::int64_t i = 0; i < gemm.k; ++i) {
    const std::int64_t a = gemm.transpose_a ? i * gemm.m + row : row * gemm.k + i;
    const std::int64_t b = gemm.transpose_b ? column * gemm.k + i : i * gemm.n + column;
    output.a.push_back(stored(0, batch * gemm.m * gemm.k + a));
    output.b.push_back(stored(1, batch * gemm.k * gemm.n + b));
  }
  return output;
}

const Step& only_step(const Work& work) {
  if (work.steps.size() != 1) throw Error("only a work of one op can be checked op by op, not " + work.name);
  return work.steps.front();
}

Reader stored_values(const Work& work, Pattern pattern, std::uint64_t seed) {
  std::vector<Filling> fillings;
  for (const int tensor : only_step(work).operands) fillings.push_back(filling(work, tensor, pattern, seed));
  return [fillings](int operand, std::int64_t index) { return fillings[static_cast<std::size_t>(operand)](index); };
}

// Element (row, column) of a matrix laid out as `columns` a row.
struct Grid {
  std::int64_t rows = 1;
  std::int64_t columns = 1;
  std::int64_t at(std::int64_t row, std::int64_t column) const { return row * columns + column; }
};

}  // namespace

std::vector<std::int64_t> sample_places(const std::vector<std::int64_t>& shape, int count) {
  Grid grid;
  for (std::size_t i = 0; i < shape.size(); ++i) (i + 1 == shape.size() ? grid.columns : grid.rows) *= shape[i];
  const std::int64_t total = grid.rows * grid.columns;
  std::set<std::int64_t> places;
  if (total <= count) {
    for (std::int64_t i = 0; i < total; ++i) places.insert(i);
    return {places.begin(), places.end()};
  }
  const std::int64_t last_row = grid.rows - 1;
  const std::int64_t last_column = grid.columns - 1;
  places = {0, last_column, grid.at(last_row, 0), total - 1};
  std::uint64_t draw = 0;
  const auto below = [&draw](std::int64_t range) { return uniform_below(mix(measuring_seed, draw++), range); };
  for (int i = 0; i < count / 16; ++i) {
    places.insert(below(grid.columns));
    places.insert(grid.at(last_row, below(grid.columns)));
    places.insert(grid.at(below(grid.rows), 0));
    places.insert(grid.at(below(grid.rows), last_column));
  }
  while (static_cast<std::int64_t>(places.size()) < count) {
    const std::int64_t row = below(grid.rows);
    places.insert(grid.at(row, below(grid.columns)));
  }
  return {places.begin(), places.end()};
}

bool verifiable(const Op& op) {
  if (is_long_read(op)) return false;
  if (std::holds_alternative<Issue>(op) || std::holds_alternative<Chase>(op) || std::holds_alternative<Launch>(op)) {
    return false;
  }
  const std::vector<Operand> all = operands(op);
  return std::any_of(all.begin(), all.end(), [](const Operand& operand) { return operand.access != Access::read; });
}

Pattern proving_pattern(const Op& op, Pattern timed) {
  return exact(op) && !std::holds_alternative<Transfer>(op) ? Pattern::exact : timed;
}

bool is_long_read(const Op& op) {
  const auto* stream = std::get_if<Stream>(&op);
  return stream != nullptr && stream->kind == StreamKind::read && static_cast<double>(stream->count) > most_inputs;
}

Verdict verify_long_read(const Work& work, Program& program) {
  const Step& step = only_step(work);
  const auto& stream = std::get<Stream>(step.op);
  const double count = static_cast<double>(stream.count) * static_cast<double>(stream.turns);
  const double want = count * filling(work, step.operands.front(), Pattern::constant, measuring_seed)(0);
  const double got = program.read(step.operands.back(), 0, 1).at(0);
  Verdict verdict;
  verdict.checked = 1;
  // Sums of one constant round in the same direction for long stretches; this still sees one line in a million missing.
  if (!(std::abs(got - want) <= 1e-6 * std::abs(want))) {
    verdict.wrong = fmt::format("the sum of {:.0f} equal numbers is {:.9g}, must be {:.9g}", count, got, want);
  }
  return verdict;
}

Verdict verify(const Work& work, Program& program, Pattern pattern, std::uint64_t seed, bool executed_once) {
  const Step& step = only_step(work);
  const std::vector<Operand> all = operands(step.op);
  const Reader before = stored_values(work, pattern, seed);
  Verdict verdict;
  const bool moves = std::holds_alternative<Transfer>(step.op);
  verdict.exact = moves || (pattern == Pattern::exact && exact(step.op));
  for (std::size_t i = 0; i < all.size() && verdict.wrong.empty(); ++i) {
    const Operand& operand = all[i];
    if (operand.access == Access::read || (operand.access == Access::read_write && !executed_once)) continue;
    Comparison comparison(operand, pattern);
    const int index = static_cast<int>(i);
    for (const std::int64_t place : sample_places(operand.shape, places_for(step.op))) {
      Comparand at;
      at.got = program.read(step.operands[i], place, 1).at(0);
      at.before = before(index, place);
      at.want = expected(step.op, index, place, before);
      if (verdict.exact) {
        at.want = rounded(operand.format.element, at.want);
      } else {
        at.allowed = tolerance(step.op, index, place, before);
      }
      comparison.add(place, at);
    }
    verdict.checked += comparison.checked();
    verdict.worst = std::max(verdict.worst, comparison.worst());
    verdict.wrong = comparison.sentence();
  }
  return verdict;
}

bool can_probe(const Op& op) {
  const auto* gemm = std::get_if<Gemm>(&op);
  if (gemm == nullptr || gemm->bias || gemm->beta != 0 || gemm->activation != Activation::none) return false;
  return gemm->accumulate != Element::int32 && unit_roundoff(gemm->a.element) > 0 && unit_roundoff(gemm->b.element) > 0;
}

Precision probed_precision(const Work& work, Program& program, std::uint64_t seed) {
  const Step& step = only_step(work);
  const Gemm& gemm = std::get<Gemm>(step.op);
  const Reader stored = stored_values(work, Pattern::probe, seed);
  std::vector<ProbedOutput> outputs;
  for (const std::int64_t place : sample_places({gemm.batch, gemm.m, gemm.n}, probed_places)) {
    ProbedOutput output = pairs_of(gemm, place, stored);
    output.result = program.read(step.operands.back(), place, 1).at(0) / gemm.alpha;
    outputs.push_back(std::move(output));
  }
  return judge_precision(outputs, gemm.a.element, gemm.b.element, gemm.d.element, gemm.accumulate);
}

}  // namespace assay
