// Pure functions over samples: what is the middle, how far do they spread, how sure are we of the middle.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

namespace assay {

// The value below which the share `probability` (0..1) of the samples lies, interpolated between neighbours (type 7 of
// Hyndman and Fan 1996: what R, NumPy and spreadsheets do). Throws Error without samples.
double quantile(std::vector<double> samples, double probability);
double median(std::vector<double> samples);

// The two-sided 95 % quantile of Student's distribution: 12.706 for one degree of freedom, 1.960 for very many. Throws
// Error for less than one.
double student_95(int degrees_of_freedom);

struct Interval {
  double lower = 0;
  double upper = 0;
};

// Where the middle of the distribution lies with 95 % confidence: Student's interval of the 20 % trimmed mean with the
// winsorized deviation (Tukey and McLaughlin 1963; Yuen 1974), stretched where needed to hold the median. One sample in
// five on either side may be as far out as it likes without moving it. With fewer than five samples nothing is trimmed
// and it is Student's plain interval; with fewer than two there is none. Where all samples are positive it does not
// reach down to zero: then it begins at the smallest sample.
std::optional<Interval> interval_95(std::vector<double> samples);

// Half the interval's width as a share of the median; absent where there is none or the median is not positive.
std::optional<double> relative_half_width(const std::vector<double>& samples);

// True where the last third of the samples lies off the first third by more than three standard errors of the
// difference of their medians, and by more than the share `worth` of the median. Needs six samples; false with fewer.
bool drifts(const std::vector<double>& samples, double worth);

}  // namespace assay
