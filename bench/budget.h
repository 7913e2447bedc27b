// How long a run may take: a hard cap on the wall clock that includes cleaning up.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace assay {

// "10m", "1h30m", "45s", "90" (seconds), "0.5s" to seconds. Throws BadInput on anything else, and on 0.
double parse_duration(std::string_view text);

// 600 to "10m", 5400 to "1h30m", 45 to "45s", 0.25 to "0.25s".
std::string duration_text(double seconds);

class Budget {
 public:
  Budget(double seconds, double started);  // 0: none. `started` on monotonic_seconds()

  bool limited() const { return seconds_ > 0; }
  double cut_off() const;                                // when measuring must end; infinite where there is no budget
  bool fits(double seconds_expected, double now) const;  // whether that much can still be done
  std::string used_up() const;                           // "the budget of 10m was used up"

 private:
  double seconds_;
  double started_;
};

}  // namespace assay
