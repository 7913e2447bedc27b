// Hodges-Lehmann shift over a scale from inside the sides, with critical values by Monte Carlo.
// SPDX-License-Identifier: Apache-2.0
#include "reports/gate/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <numbers>
#include <numeric>
#include <utility>

#include "core/error.h"

namespace assay::gate {
namespace {

constexpr double normal_quartile_of_differences = 1.6268;  // sqrt(2) times the normal's 87.5 % quantile, 1.15035
constexpr double normal_90 = 1.2816;                       // the normal's 90 % quantile
constexpr std::size_t draws = 20'000;                      // each counts twice: the statistic is symmetric
constexpr std::uint64_t seed = 20'260'101;

double middle_of(std::vector<double>& values) {
  const auto half = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), half, values.end());
  if (values.size() % 2 == 1) return *half;
  return (*half + *std::max_element(values.begin(), half)) / 2;
}

void add_differences(const std::vector<double>& values, std::vector<double>& all) {
  for (std::size_t i = 0; i < values.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) all.push_back(std::abs(values[i] - values[j]));
}

double shift_of(const Sides& sides, std::vector<double>& room) {
  room.clear();
  for (const double before : sides.before)
    for (const double after : sides.after) room.push_back(after - before);
  return middle_of(room);
}

double scale_of(const Sides& sides, std::vector<double>& room) {
  room.clear();
  add_differences(sides.before, room);
  add_differences(sides.after, room);
  const auto place = room.begin() + static_cast<std::ptrdiff_t>(room.size() * 3 / 4);
  std::nth_element(room.begin(), place, room.end());
  return *place / normal_quartile_of_differences;
}

double root(std::size_t before, std::size_t after) {
  return std::sqrt(1.0 / static_cast<double>(before) + 1.0 / static_cast<double>(after));
}

// The statistic's absolute values where nothing changed, ascending.
const std::vector<double>& null_draws(std::size_t before, std::size_t after) {
  static std::map<std::pair<std::size_t, std::size_t>, std::vector<double>> known;
  static std::mutex guard;
  const std::lock_guard lock(guard);
  std::vector<double>& values = known[{before, after}];
  if (!values.empty()) return values;
  Draws random(seed + before * 1000 + after);
  Sides sides{std::vector<double>(before), std::vector<double>(after)};
  std::vector<double> room;
  for (std::size_t draw = 0; draw < draws; ++draw) {
    for (double& value : sides.before) value = random.normal();
    for (double& value : sides.after) value = random.normal();
    values.push_back(std::abs(shift_of(sides, room)) / (scale_of(sides, room) * root(before, after)));
  }
  std::sort(values.begin(), values.end());
  return values;
}

void check_sizes(std::size_t before, std::size_t after) {
  if (before < least_runs || after < least_runs) throw Error("a comparison needs three runs a side at least");
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double square_sum(const double* first, std::size_t count) {
  const double middle = std::accumulate(first, first + count, 0.0) / static_cast<double>(count);
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += (first[i] - middle) * (first[i] - middle);
  return sum;
}

// Ways to deal `all` runs to sides of `after` and the rest; at least 1,001 counts as many.
std::size_t ways(std::size_t all, std::size_t after) {
  double count = 1;
  for (std::size_t i = 1; i <= after; ++i)
    count = count * static_cast<double>(all - after + i) / static_cast<double>(i);
  return count > 1000.5 ? 1001 : static_cast<std::size_t>(std::lround(count));
}

double threshold(const Estimate& one, double critical, double bar) {
  return std::max(std::log1p(bar / 2), critical * one.error);
}

}  // namespace

std::uint64_t Draws::next() {  // splitmix64 (Steele, Lea and Flood 2014)
  state_ += 0x9E3779B97F4A7C15ULL;
  std::uint64_t word = state_;
  word = (word ^ (word >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  word = (word ^ (word >> 27U)) * 0x94D049BB133111EBULL;
  return word ^ (word >> 31U);
}

double Draws::uniform() { return (static_cast<double>(next() >> 11U) + 0.5) * 0x1p-53; }

double Draws::normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  const double radius = std::sqrt(-2 * std::log(uniform()));
  const double angle = 2 * std::numbers::pi * uniform();
  spare_ = radius * std::sin(angle);
  has_spare_ = true;
  return radius * std::cos(angle);
}

double median(std::vector<double> values) {
  if (values.empty()) throw Error("there is no middle of no values");
  return middle_of(values);
}

double shift(const Sides& sides) {
  if (sides.before.empty() || sides.after.empty()) throw Error("a side has no runs");
  std::vector<double> room;
  return shift_of(sides, room);
}

double scale(const Sides& sides) {
  if (sides.before.size() < 2 && sides.after.size() < 2) throw Error("runs do not scatter where there is one a side");
  std::vector<double> room;
  return std::max(least_scale, scale_of(sides, room));
}

double critical_value(std::size_t before, std::size_t after, double alpha) {
  check_sizes(before, after);
  const std::vector<double>& values = null_draws(before, after);
  const auto above = static_cast<std::size_t>(std::ceil(2 * alpha * static_cast<double>(values.size())));
  return values[values.size() - std::clamp(above, std::size_t{1}, values.size())];
}

double upper_tail(std::size_t before, std::size_t after, double statistic) {
  check_sizes(before, after);
  const std::vector<double>& values = null_draws(before, after);
  const auto at = std::lower_bound(values.begin(), values.end(), std::abs(statistic));
  const double half = (static_cast<double>(values.end() - at) + 0.5) / (2 * static_cast<double>(values.size()) + 1);
  return statistic >= 0 ? half : 1 - half;
}

double permutation_tail(const Sides& sides) {
  std::vector<double> all = sides.before;
  all.insert(all.end(), sides.after.begin(), sides.after.end());
  const std::size_t after = sides.after.size();
  const double seen = std::accumulate(sides.after.begin(), sides.after.end(), 0.0) - 1e-12;
  if (ways(all.size(), after) > 1000) {
    constexpr int deals = 2000;
    Draws random(seed);
    int hits = 0;
    for (int deal = 0; deal < deals; ++deal) {
      double sum = 0;
      for (std::size_t i = 0; i < after; ++i) {
        const auto other = i + static_cast<std::size_t>(random.uniform() * static_cast<double>(all.size() - i));
        std::swap(all[i], all[other]);
        sum += all[i];
      }
      if (sum >= seen) ++hits;
    }
    return (hits + 1.0) / (deals + 1.0);
  }
  std::vector<bool> chosen(all.size(), false);
  std::fill(chosen.begin(), chosen.begin() + static_cast<std::ptrdiff_t>(after), true);
  std::size_t hits = 0, count = 0;
  do {
    double sum = 0;
    for (std::size_t i = 0; i < all.size(); ++i) sum += chosen[i] ? all[i] : 0;
    ++count;
    if (sum >= seen) ++hits;
  } while (std::prev_permutation(chosen.begin(), chosen.end()));
  return static_cast<double>(hits) / static_cast<double>(count);
}

bool two_modes(std::vector<double> values) {
  if (values.size() < 4) return false;
  std::sort(values.begin(), values.end());
  std::size_t cut = 2;
  for (std::size_t i = 2; i + 2 <= values.size(); ++i)
    if (values[i] - values[i - 1] > values[cut] - values[cut - 1]) cut = i;
  const double inside = square_sum(values.data(), cut) + square_sum(values.data() + cut, values.size() - cut);
  const double scatter = std::sqrt(inside / static_cast<double>(values.size() - 2));
  return values[cut] - values[cut - 1] > 4 * std::max(scatter, least_scale);
}

Estimate estimate(const Sides& sides, double bar, double load_error) {
  const std::size_t before = sides.before.size(), after = sides.after.size();
  check_sizes(before, after);
  Estimate one;
  one.shift = shift(sides);
  one.scale = scale(sides);
  one.error = std::hypot(one.scale * root(before, after), load_error);
  one.at_least = one.shift - critical_value(before, after, alpha_slower) * one.error;
  one.at_most = one.shift + critical_value(before, after, alpha_ok) * one.error;
  one.tail = upper_tail(before, after, one.shift / one.error);
  one.tail_faster = upper_tail(before, after, -one.shift / one.error);
  one.smallest_found = threshold(one, critical_value(before, after, alpha_slower), bar) + normal_90 * one.error;
  one.two_modes = two_modes(sides.before) || two_modes(sides.after);
  if (one.two_modes)
    one.permutation_tail = one.shift >= 0 ? permutation_tail(sides) : permutation_tail({sides.after, sides.before});
  return one;
}

bool slower(const Estimate& estimate, double bar, double alpha) {
  return estimate.tail <= alpha && estimate.shift >= std::log1p(bar / 2) &&
         (!estimate.two_modes || estimate.permutation_tail <= alpha);
}

bool faster(const Estimate& estimate, double bar, double alpha) {
  return estimate.tail_faster <= alpha && -estimate.shift >= std::log1p(bar / 2) &&
         (!estimate.two_modes || estimate.permutation_tail <= alpha);
}

bool ok(const Estimate& estimate, double bar) { return estimate.at_most < std::log1p(bar); }

double smallest_found(double scale, std::size_t runs, double bar) {
  Estimate one;
  one.error = std::max(scale, least_scale) * root(runs, runs);
  return std::expm1(threshold(one, critical_value(runs, runs, alpha_slower), bar) + normal_90 * one.error);
}

std::size_t runs_needed(double scale, double bar) {
  constexpr std::size_t most = 20;
  for (std::size_t runs = least_runs; runs <= most; ++runs)
    if (smallest_found(scale, runs, bar) <= bar) return runs;
  return 0;
}

std::vector<bool> hold_together(const std::vector<double>& tails, double rate) {
  std::vector<std::size_t> order(tails.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return tails[a] < tails[b]; });
  std::size_t held = 0;
  for (std::size_t rank = 1; rank <= order.size(); ++rank)
    if (tails[order[rank - 1]] <= rate * static_cast<double>(rank) / static_cast<double>(order.size())) held = rank;
  std::vector<bool> result(tails.size(), false);
  for (std::size_t rank = 0; rank < held; ++rank) result[order[rank]] = true;
  return result;
}

double prediction_limit(const std::vector<double>& earlier) {
  // Student's one-sided 99 % quantile by degrees of freedom, from 2; beyond 30 the normal's is near enough.
  constexpr double student_99[] = {6.965, 4.541, 3.747, 3.365, 3.143, 2.998, 2.896, 2.821, 2.764, 2.718,
                                   2.681, 2.650, 2.624, 2.602, 2.583, 2.567, 2.552, 2.539, 2.528, 2.518,
                                   2.508, 2.500, 2.492, 2.485, 2.479, 2.473, 2.467, 2.462, 2.457};
  if (earlier.size() < least_runs) throw Error("a prediction needs three earlier values at least");
  const double count = static_cast<double>(earlier.size());
  const double deviation = std::sqrt(square_sum(earlier.data(), earlier.size()) / (count - 1));
  const std::size_t freedom = earlier.size() - 1;
  const double quantile = freedom - 2 < std::size(student_99) ? student_99[freedom - 2] : 2.42;
  return mean(earlier) + quantile * std::max(deviation, least_scale) * std::sqrt(1 + 1 / count);
}

double history_limit(const std::vector<double>& earlier, double bar) {
  return std::max(prediction_limit(earlier), median(earlier) + std::log1p(bar / 2));
}

}  // namespace assay::gate
