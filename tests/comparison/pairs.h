// Times two ways of doing the same in turns, so that whatever disturbs the machine disturbs both.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

namespace assay::comparison {

// Does something so many times and returns the seconds all of them took.
using Timed = std::function<double(int executions)>;

// Runs `once` so many times in a loop and times that.
Timed timed(std::function<void()> once);

struct Pair {
  double ours = 0;    // seconds of one execution, median
  double theirs = 0;  // seconds of one execution, median
  double ratio = 0;   // median over the pairs of theirs / ours: above 1, ours is faster
};

// `pairs` measurements of each, in turns, each long enough to mean something.
Pair in_turns(const Timed& ours, const Timed& theirs, int pairs);

// Prints "what   ours   theirs   ratio   PASS" and remembers whether a bar was missed.
class Table {
 public:
  explicit Table(std::string unit) : unit_(std::move(unit)) {}
  void title(const std::string& text, const std::string& ours, const std::string& theirs) const;
  void line(const std::string& what, double ours, double theirs, double ratio, double bar);

  // A bar that a ratio must not exceed.
  void line_at_most(const std::string& what, double ours, double theirs, double ratio, double bar);
  int below() const { return below_; }

 private:
  void print(const std::string& what, double ours, double theirs, double ratio, const std::string& bar, bool good);

  std::string unit_;
  int below_ = 0;
};

}  // namespace assay::comparison
