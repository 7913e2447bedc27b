// Pairs of timings and their table.
// SPDX-License-Identifier: Apache-2.0
#include "tests/comparison/pairs.h"

#include <algorithm>
#include <cstdio>
#include <vector>

#include "kernels/cpu/clock.h"

namespace assay::comparison {
namespace {

constexpr double shortest = 0.02;  // seconds of one measurement

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// Executions that take about `shortest`, found after a warm one.
int executions_for(const Timed& work) {
  work(1);
  const double once = std::max(1e-7, std::min(work(1), work(2) / 2));
  return static_cast<int>(std::clamp(shortest / once, 1.0, 1e6));
}

}  // namespace

Timed timed(std::function<void()> once) {
  return [once = std::move(once)](int executions) {
    const double start = cpu::monotonic_seconds();
    for (int i = 0; i < executions; ++i) {
      once();
    }
    return cpu::monotonic_seconds() - start;
  };
}

Pair in_turns(const Timed& ours, const Timed& theirs, int pairs) {
  const int ours_executions = executions_for(ours);
  const int theirs_executions = executions_for(theirs);
  std::vector<double> mine;
  std::vector<double> others;
  std::vector<double> ratios;
  for (int pair = 0; pair < pairs; ++pair) {
    if (pair % 2 == 0) {  // who goes first changes, since the second may find caches as the first left them
      mine.push_back(ours(ours_executions) / ours_executions);
      others.push_back(theirs(theirs_executions) / theirs_executions);
    } else {
      others.push_back(theirs(theirs_executions) / theirs_executions);
      mine.push_back(ours(ours_executions) / ours_executions);
    }
    ratios.push_back(others.back() / mine.back());
  }
  return {median(mine), median(others), median(ratios)};
}

void Table::title(const std::string& text, const std::string& ours, const std::string& theirs) const {
  std::printf("\n%-58s %12s %12s %8s %8s\n", (text + " [" + unit_ + "]").c_str(), ours.c_str(), theirs.c_str(), "ratio",
              "bar");
}

void Table::line(const std::string& what, double ours, double theirs, double ratio, double bar) {
  char text[32];
  std::snprintf(text, sizeof text, ">= %.2f", bar);
  print(what, ours, theirs, ratio, text, ratio >= bar);
}

void Table::line_at_most(const std::string& what, double ours, double theirs, double ratio, double bar) {
  char text[32];
  std::snprintf(text, sizeof text, "<= %.2f", bar);
  print(what, ours, theirs, ratio, text, ratio <= bar);
}

void Table::print(const std::string& what, double ours, double theirs, double ratio, const std::string& bar,
                  bool good) {
  below_ += good ? 0 : 1;
  std::printf("%-58s %12.2f %12.2f %8.3f %8s  %s\n", what.c_str(), ours, theirs, ratio, bar.c_str(),
              good ? "PASS" : "below");
  std::fflush(stdout);
}

}  // namespace assay::comparison
