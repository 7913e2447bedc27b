// Quantiles, the robust Student interval and the test for drift.
// SPDX-License-Identifier: Apache-2.0
#include "bench/statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "core/error.h"

namespace assay {

namespace {

// Interpolates in samples that are already in order.
double quantile_of_sorted(const std::vector<double>& sorted, double probability) {
  const double place = static_cast<double>(sorted.size() - 1) * std::clamp(probability, 0.0, 1.0);
  const auto below = static_cast<std::size_t>(place);
  const auto above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

double mean(const std::vector<double>& samples) {
  double sum = 0;
  for (const double sample : samples) sum += sample;
  return sum / static_cast<double>(samples.size());
}

double sum_of_squared_deviations(const std::vector<double>& samples) {
  const double middle = mean(samples);
  double sum = 0;
  for (const double sample : samples) sum += (sample - middle) * (sample - middle);
  return sum;
}

}  // namespace

double quantile(std::vector<double> samples, double probability) {
  if (samples.empty()) throw Error("a quantile was asked of no samples at all");
  std::sort(samples.begin(), samples.end());
  return quantile_of_sorted(samples, probability);
}

double median(std::vector<double> samples) { return quantile(std::move(samples), 0.5); }

double student_95(int degrees_of_freedom) {
  // Published to three decimals in any table of the distribution.
  static constexpr std::array<double, 30> table = {
      12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
      2.120,  2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};
  if (degrees_of_freedom < 1) throw Error("Student's distribution was asked for with no degree of freedom");
  const auto index = static_cast<std::size_t>(degrees_of_freedom - 1);
  if (index < table.size()) return table[index];
  // Cornish and Fisher's expansion around the normal quantile, exact to three decimals from here on.
  const double z = 1.959964;
  const double freedom = degrees_of_freedom;
  const double first = (z * z * z + z) / 4;
  const double second = (5 * std::pow(z, 5) + 16 * z * z * z + 3 * z) / 96;
  return z + first / freedom + second / (freedom * freedom);
}

std::optional<Interval> interval_95(std::vector<double> samples) {
  const std::size_t count = samples.size();
  if (count < 2) return std::nullopt;
  std::sort(samples.begin(), samples.end());
  const double middle = quantile_of_sorted(samples, 0.5);
  const double smallest = samples.front();

  const std::size_t cut = count / 5;
  const std::vector<double> kept(samples.begin() + static_cast<std::ptrdiff_t>(cut),
                                 samples.end() - static_cast<std::ptrdiff_t>(cut));
  const double centre = mean(kept);
  // Winsorized: the samples cut off count as the outermost ones kept.
  for (std::size_t i = 0; i < cut; ++i) {
    samples[i] = kept.front();
    samples[count - 1 - i] = kept.back();
  }
  const double freedom = static_cast<double>(kept.size() - 1);
  const double squares = sum_of_squared_deviations(samples);
  const double error = std::sqrt(squares / (freedom * static_cast<double>(kept.size())));
  const double half = student_95(static_cast<int>(kept.size()) - 1) * error;
  const double lower = std::min(centre - half, middle);
  const bool beyond_zero = lower <= 0 && smallest > 0;
  return Interval{beyond_zero ? smallest : lower, std::max(centre + half, middle)};
}

std::optional<double> relative_half_width(const std::vector<double>& samples) {
  const auto interval = interval_95(samples);
  if (!interval) return std::nullopt;
  const double middle = median(samples);
  if (!(middle > 0)) return std::nullopt;
  return (interval->upper - interval->lower) / 2 / middle;
}

bool drifts(const std::vector<double>& samples, double worth) {
  if (samples.size() < 6) return false;
  const auto third = static_cast<std::ptrdiff_t>(samples.size() / 3);
  const std::vector<double> first(samples.begin(), samples.begin() + third);
  const std::vector<double> last(samples.end() - third, samples.end());
  const double pooled = std::sqrt((sum_of_squared_deviations(first) + sum_of_squared_deviations(last)) /
                                  static_cast<double>(2 * third - 2));
  // The standard error of a median is that of the mean times sqrt(pi / 2), for a normal distribution.
  const double error = 1.2533 * pooled * std::sqrt(2.0 / static_cast<double>(third));
  const double difference = std::abs(median(last) - median(first));
  return difference > 3 * error && difference > worth * median(samples);
}

}  // namespace assay
