// How long something takes on a stream, to choose between ways of doing it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "runtime.h"

namespace vendor {

class StopWatch {
 public:
  explicit StopWatch(Stream stream) : stream_(stream), first_(make_event()) {
    try {
      last_ = make_event();
    } catch (...) {
      destroy(first_);
      throw;
    }
  }
  ~StopWatch() {
    destroy(first_);
    destroy(last_);
  }
  StopWatch(const StopWatch&) = delete;
  StopWatch& operator=(const StopWatch&) = delete;

  // Seconds of one of `repeats` runs queued back to back, by the device's clock.
  double seconds(const std::function<void()>& enqueue, int repeats) {
    record(first_, stream_);
    for (int i = 0; i < repeats; ++i) enqueue();
    record(last_, stream_);
    synchronise(stream_);
    return seconds_between(first_, last_) / repeats;
  }

 private:
  Stream stream_;
  Event first_{};
  Event last_{};
};

// Seconds of each of `ways`, the median of a few rounds in which they take turns, so that a clock that rises or falls
// meanwhile does the same to all. What is half as fast as the best in the first round is not tried again. Each must
// have run once before.
inline std::vector<double> compare(const std::vector<std::function<void()>>& ways, Stream stream) {
  constexpr double enough = 200e-6;  // a sample that long is timed well
  constexpr int rounds = 5;
  StopWatch watch(stream);
  std::vector<std::vector<double>> samples(ways.size());
  double best = 0;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    samples[i] = {watch.seconds(ways[i], 1)};
    best = i == 0 ? samples[i][0] : std::min(best, samples[i][0]);
  }
  const int repeats = best > 0 ? std::clamp(static_cast<int>(enough / best) + 1, 1, 50) : 50;
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < ways.size(); ++i) {
      const bool hopeless = samples[i][0] > 2 * best + 20e-6;  // one short run alone is off by microseconds
      if (!hopeless) samples[i].push_back(watch.seconds(ways[i], repeats));
    }
  }
  std::vector<double> medians;
  for (std::vector<double>& of_one : samples) {
    if (of_one.size() > 1) of_one.erase(of_one.begin());  // the first was alone on the stream
    std::nth_element(of_one.begin(), of_one.begin() + static_cast<std::ptrdiff_t>(of_one.size() / 2), of_one.end());
    medians.push_back(of_one[of_one.size() / 2]);
  }
  return medians;
}

}  // namespace vendor
