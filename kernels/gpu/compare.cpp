// Ways of doing the same, timed in turns.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/compare.h"

#include <algorithm>
#include <cstddef>

#include "kernels/gpu/handles.h"

namespace assay::gpu {
namespace {

class StopWatch {
 public:
  explicit StopWatch(vendor::Stream stream) : stream_(stream) {}

  // Seconds of one of `repeats` runs queued back to back, by the device's clock.
  double seconds(const std::function<void()>& enqueue, int repeats) {
    vendor::record(first_.get(), stream_);
    for (int i = 0; i < repeats; ++i) enqueue();
    vendor::record(last_.get(), stream_);
    vendor::synchronise(stream_);
    return vendor::seconds_between(first_.get(), last_.get()) / repeats;
  }

 private:
  vendor::Stream stream_;
  EventHandle first_ = new_event();
  EventHandle last_ = new_event();
};

double median(std::vector<double> samples) {
  if (samples.size() > 1) samples.erase(samples.begin());  // the first was alone on the stream
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

}  // namespace

std::vector<double> compare(const std::vector<std::function<void()>>& ways, vendor::Stream stream) {
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
  for (const std::vector<double>& of_one : samples) medians.push_back(median(of_one));
  return medians;
}

}  // namespace assay::gpu
