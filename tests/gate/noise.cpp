// Log time = load + run + rare bad run + rare mode + drift + correlated sample noise + rare wild samples.
// SPDX-License-Identifier: Apache-2.0
#include "tests/gate/noise.h"

#include <cmath>
#include <stdexcept>

namespace assay::gate {
namespace {

constexpr int samples = 50;

// What a process brings, apart from the part that it shares with the other metrics.
double of_run(Draws& random, const Noise& noise, double own) {
  double value = own * noise.run * random.normal();
  if (random.uniform() < noise.bad) value += noise.bad_least + (noise.bad_most - noise.bad_least) * random.uniform();
  if (random.uniform() < noise.mode) value += noise.mode_size;
  return value;
}

double sampled_median(Draws& random, const Noise& noise, double centre) {
  const double fresh = noise.sample * std::sqrt(1 - noise.memory * noise.memory);
  double state = noise.sample * random.normal();
  std::vector<double> values;
  for (int i = 0; i < samples; ++i) {
    double value = centre + state;
    if (random.uniform() < noise.wild) value -= noise.wild_size * std::log(random.uniform());
    values.push_back(value);
    state = noise.memory * state + fresh * random.normal();
  }
  return median(std::move(values));
}

// A run's median without its samples: a median scatters 1.2533 times as much as a mean does.
double quick_median(Draws& random, const Noise& noise, double centre) {
  const double independent = samples * (1 - noise.memory) / (1 + noise.memory);
  return centre + 1.2533 * noise.sample / std::sqrt(independent) * random.normal();
}

// A B B A A B B A ..., as many of each.
std::vector<bool> alternating(std::size_t runs) {
  std::vector<bool> after;
  for (std::size_t pair = 0; pair < runs; ++pair) {
    after.push_back(pair % 2 == 1);
    after.push_back(pair % 2 == 0);
  }
  return after;
}

}  // namespace

const std::vector<Noise>& noises() {
  static const std::vector<Noise> all{
      {"locked", 0.0025, 0.0015, 0.004, 0.3, 0.005, 0.10, 0.01, 0.02, 0.06, 0.001, 0, 0},
      {"typical", 0.006, 0.004, 0.008, 0.5, 0.01, 0.15, 0.02, 0.03, 0.08, 0.005, 0, 0},
      {"rented", 0.015, 0.010, 0.020, 0.6, 0.02, 0.20, 0.04, 0.04, 0.12, 0.015, 0.15, 0.025},
  };
  return all;
}

const Noise& noise(const std::string& name) {
  for (const Noise& one : noises())
    if (one.name == name) return one;
  throw std::invalid_argument("no such noise: " + name);
}

Sides experiment(Draws& random, const Noise& noise, std::size_t runs, Design design) {
  Sides sides;
  const double drift = noise.drift * random.normal();
  const double load_before = noise.load * random.normal(), load_after = noise.load * random.normal();
  const std::vector<bool> order = alternating(runs);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool blocks = design == Design::one_load_a_side;  // all before, a reboot, all after
    const bool after = blocks ? i >= runs : order[i];
    const double load = blocks ? (after ? load_after : load_before) : noise.load * random.normal();
    const double place = static_cast<double>(i) / static_cast<double>(order.size() - 1) - 0.5;
    const double centre = load + of_run(random, noise, 1) + drift * place;
    (after ? sides.after : sides.before).push_back(sampled_median(random, noise, centre));
  }
  return sides;
}

std::vector<Sides> suite(Draws& random, const Noise& noise, std::size_t runs, std::size_t metrics) {
  constexpr double share = 0.5;
  std::vector<Sides> all(metrics);
  for (const bool after : alternating(runs)) {
    const double common = share * noise.run * random.normal();
    for (Sides& sides : all) {
      const double centre = common + of_run(random, noise, std::sqrt(1 - share * share)) + noise.load * random.normal();
      (after ? sides.after : sides.before).push_back(quick_median(random, noise, centre));
    }
  }
  return all;
}

Sides load_medians(Draws& random, const Noise& noise, std::size_t loads, std::size_t runs) {
  Sides sides;
  for (const bool after : alternating(loads)) {
    const double load = noise.load * random.normal();
    std::vector<double> values;
    for (std::size_t i = 0; i < runs; ++i)
      values.push_back(quick_median(random, noise, load + of_run(random, noise, 1)));
    (after ? sides.after : sides.before).push_back(median(std::move(values)));
  }
  return sides;
}

Sides with_change(Sides sides, double share) {
  for (double& value : sides.after) value += std::log1p(share);
  return sides;
}

}  // namespace assay::gate
