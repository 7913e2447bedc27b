// How sure one can be that one side's runs are slower than the other's: the unit of evidence is a process start, or a
// driver load, never a sample.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay::gate {

// Natural logarithms of what each run of a side took, one value for each run. Whatever is compared is turned so that
// more is worse.
struct Sides {
  std::vector<double> before, after;
};

// The median of all differences after - before (Hodges and Lehmann 1963): the shift, in logarithms. Throws Error where
// a side is empty.
double shift(const Sides& sides);

// Run-to-run standard deviation inside the sides: the 75th percentile of all absolute differences between two runs of
// one side, over 1.6268, what that percentile is for two standard normal draws. A median instead would collapse where
// half of the runs sit in a second mode. At least `least_scale`: steps of a clock must not look like certainty. Throws
// Error where neither side has two runs.
double scale(const Sides& sides);
inline constexpr double least_scale = 0.001;

// shift / (scale sqrt(1/before + 1/after)) lies above this with probability `alpha` where nothing changed and runs
// scatter normally: from 40,000 draws of a generator with a fixed seed, so that all machines agree. Remembered.
double critical_value(std::size_t before, std::size_t after, double alpha);

// The share of those draws that lie at or above `statistic`: never 0, since a finite number of draws cannot say that.
double upper_tail(std::size_t before, std::size_t after, double statistic);

// The chance that whole runs dealt anew to the two sides would differ as much or more in their means: exact up to
// 1,000 ways to deal, else from 2,000 seeded ones.
double permutation_tail(const Sides& sides);

// What the sides say together.
struct Estimate {
  double shift = 0;             // logarithm; above 0 is worse
  double scale = 0;             // between two runs of one side
  double error = 0;             // of the shift: scale sqrt(1/before + 1/after), and what a driver load adds
  double at_least = 0;          // lower bound of the shift, one-sided 99 %
  double at_most = 0;           // upper bound of the shift, one-sided 95 %
  double tail = 1;              // chance of as much or more where nothing changed
  double tail_faster = 1;       // the same in the other direction
  double smallest_found = 0;    // the shift that such data would have shown with 90 %
  bool two_modes = false;       // a side's runs fall into two groups
  double permutation_tail = 1;  // worked out only where there are two modes
};

inline constexpr double alpha_slower = 0.01;
inline constexpr double alpha_ok = 0.05;
inline constexpr double alpha_screen = 0.05;
inline constexpr std::size_t least_runs = 3;  // a side

// `bar`: the slowdown that is to be found, as a share (0.02). `load_error`: what the driver loads add to the error
// of the shift, where they are too few to be the units themselves; 0 otherwise. Throws Error with fewer than
// `least_runs` on a side.
Estimate estimate(const Sides& sides, double bar, double load_error = 0);

// Whether the runs of one side fall into two groups of two or more, further apart than four times the scatter inside
// them.
bool two_modes(std::vector<double> values);

// Whether it is SLOWER by itself: bounds and effect, and the permutation test too where there are two modes.
bool slower(const Estimate& estimate, double bar, double alpha);
bool faster(const Estimate& estimate, double bar, double alpha);
bool ok(const Estimate& estimate, double bar);

// How many runs a side find a slowdown of `bar` with 90 % on a machine with this scale; 0: not with 20.
std::size_t runs_needed(double scale, double bar);
// The slowdown that so many runs a side find with 90 %, as a share.
double smallest_found(double scale, std::size_t runs, double bar);

// Which of these tails hold against testing all of them, by Benjamini and Hochberg's rule: where nothing changed, the
// chance of any is at most `rate`.
std::vector<bool> hold_together(const std::vector<double>& tails, double rate);
inline constexpr double suite_rate = 0.02;

// The limit for a new value after `earlier` ones: Student's prediction interval, one-sided 99 %. Throws Error with
// fewer than 3.
double prediction_limit(const std::vector<double>& earlier);
// The same, and half a bar above the middle of the earlier ones at least: a history without scatter is no proof.
double history_limit(const std::vector<double>& earlier, double bar);

double median(std::vector<double> values);

// Numbers by a fixed recipe: uniform in (0, 1), and standard normal.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : state_(seed) {}
  double uniform();
  double normal();

 private:
  std::uint64_t next();
  std::uint64_t state_;
  double spare_ = 0;
  bool has_spare_ = false;
};

}  // namespace assay::gate
