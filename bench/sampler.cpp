// Warm-up, the number of executions in a run, batches of runs, and when to stop.
// SPDX-License-Identifier: Apache-2.0
#include "bench/sampler.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "bench/statistics.h"

namespace assay {

namespace {

constexpr int most_executions = 1 << 24;  // in one run; also where a clock that stands still ends the search
constexpr int fewest_worth_having = 3;
constexpr double warm_drift = 0.002;  // a warm-up is over when six runs drift by less than this

class Sampling {
 public:
  Sampling(const std::function<double(int)>& run, const std::function<double()>& clock, const Limits& limits)
      : run_(run), clock_(clock), limits_(limits), start_(clock()) {}

  Sampled result() {
    const double once = timed_run();
    // One execution that eats half of what is allowed is a sample itself; measuring ran the work before, so that it is
    // not the first touch.
    if (2 * std::max(once, elapsed()) >= limits_.maximum_seconds) {
      sampled_.seconds.push_back(once);
      sampled_.executions = 1;
      sampled_.stop = "time";
    } else {
      warm_up();
      take_batches();
    }
    if (static_cast<int>(sampled_.seconds.size()) < limits_.minimum_samples) {
      sampled_.conditions.push_back("few_samples");
    }
    if (!warm_ || drifts(sampled_.seconds, limits_.half_width)) sampled_.conditions.push_back("not_steady");
    return sampled_;
  }

 private:
  double elapsed() const { return clock_() - start_; }

  // Seconds of one execution, from one run of the present size.
  double timed_run() {
    const double before = clock_();
    last_run_ = run_(sampled_.batch);
    last_wall_ = clock_() - before;
    return last_run_ / sampled_.batch;
  }

  // Runs until the warm-up is over and a run is long enough. The size grows at most tenfold at a time, because the
  // first execution is often slower than the rest.
  void warm_up() {
    std::vector<double> history;
    const double patience = limits_.maximum_seconds / 3;
    while (true) {
      const bool long_enough = !grow();
      if (long_enough && elapsed() >= limits_.warm_up_seconds) {
        if (!limits_.steady_clock || settled(history)) return;
        if (elapsed() >= patience) {
          warm_ = false;
          return;
        }
      }
      if (elapsed() + last_wall_ >= limits_.maximum_seconds / 2) return;
      history.push_back(timed_run());
      if (sampled_.batch == most_executions && last_wall_ <= 0) return;  // no clock moves: nothing to wait for
    }
  }

  static bool settled(const std::vector<double>& history) {
    if (history.size() < 6) return false;
    return !drifts({history.end() - 6, history.end()}, warm_drift);
  }

  // Makes the next run larger where the last one was too short, by the device's clock and by the host's.
  bool grow() {
    if (last_run_ >= limits_.batch_seconds || last_wall_ >= 10 * limits_.batch_seconds) return false;
    if (sampled_.batch == most_executions) return false;
    const double share = last_run_ > 0 ? limits_.batch_seconds / last_run_ : 10;
    const double wanted = std::ceil(sampled_.batch * std::min(1.05 * share, 10.0));
    sampled_.batch = static_cast<int>(std::clamp(wanted, sampled_.batch + 1.0, static_cast<double>(most_executions)));
    return true;
  }

  void take_batches() {
    // Long runs are not repeated within a batch: an interrupt is nothing to them.
    const int runs = last_run_ >= 10 * limits_.batch_seconds ? 1 : std::max(limits_.runs_per_batch, 1);
    double batch_wall = last_wall_ * runs;
    while (sampled_.stop.empty()) {
      const double before = clock_();
      std::vector<double> values;
      for (int i = 0; i < runs; ++i) values.push_back(timed_run());
      batch_wall = clock_() - before;
      sampled_.seconds.push_back(median(values));
      sampled_.executions += static_cast<std::int64_t>(sampled_.batch) * runs;
      sampled_.stop = reason_to_stop(batch_wall);
    }
  }

  std::string reason_to_stop(double next_batch) const {
    const int count = static_cast<int>(sampled_.seconds.size());
    if (count >= limits_.minimum_samples) {
      const auto half_width = relative_half_width(sampled_.seconds);
      if (half_width && *half_width <= limits_.half_width) return "steady";
    }
    if (count >= limits_.maximum_samples) return "samples";
    // Two samples say nothing about each other: a third may take longer than allowed, but not twice as long.
    const double allowed = (count < fewest_worth_having ? 2 : 1) * limits_.maximum_seconds;
    if (elapsed() + next_batch > allowed) return "time";
    return "";
  }

  const std::function<double(int)>& run_;
  const std::function<double()>& clock_;
  Limits limits_;
  double start_;
  double last_run_ = 0;   // seconds of the last run, by the device
  double last_wall_ = 0;  // and by the host
  bool warm_ = true;
  Sampled sampled_;
};

}  // namespace

Sampled sample(const std::function<double(int)>& run, const std::function<double()>& clock, const Limits& limits) {
  return Sampling(run, clock, limits).result();
}

}  // namespace assay
