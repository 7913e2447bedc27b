// Lifetimes and places: which tensors can share memory because they are never alive together.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <numeric>

#include "core/checked.h"
#include "core/error.h"
#include "core/work.h"

namespace assay {
namespace {

constexpr std::size_t categories = static_cast<std::size_t>(Category::input) + 1;

// Steps between which a tensor holds something, both included.
struct Lifetime {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t last = -1;
};

bool meet(const Lifetime& a, const Lifetime& b) { return a.first <= b.last && b.first <= a.last; }

std::vector<Lifetime> lifetimes(const Work& work) {
  std::vector<Lifetime> result(work.tensors.size());
  for (std::size_t step = 0; step < work.steps.size(); ++step) {
    for (const int operand : work.steps[step].operands) {
      Lifetime& life = result.at(static_cast<std::size_t>(operand));
      life.first = std::min(life.first, static_cast<std::int64_t>(step));
      life.last = static_cast<std::int64_t>(step);
    }
  }
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (work.tensors[i].persistent || result[i].last < 0) {
      result[i] = {-1, std::numeric_limits<std::int64_t>::max()};
    }
  }
  return result;
}

bool everlasting(const Lifetime& life) { return life.first < 0; }

std::int64_t round_up(std::int64_t size, std::int64_t alignment) {
  return checked_add(size, alignment - 1) / alignment * alignment;
}

// What is alive throughout goes to the bottom, in order; the rest by falling size, for large ones find no gap later.
std::vector<std::size_t> placing_order(const std::vector<Lifetime>& lives, const std::vector<std::int64_t>& sizes) {
  std::vector<std::size_t> order(lives.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (everlasting(lives[a]) != everlasting(lives[b])) return everlasting(lives[a]);
    return !everlasting(lives[a]) && sizes[a] > sizes[b];
  });
  return order;
}

struct Taken {
  std::int64_t begin;
  std::int64_t end;
};

// The lowest gap of `size` between the ranges, which may overlap each other.
std::int64_t lowest_gap(std::vector<Taken> ranges, std::int64_t size) {
  std::sort(ranges.begin(), ranges.end(), [](const Taken& a, const Taken& b) { return a.begin < b.begin; });
  std::int64_t offset = 0;
  for (const Taken& range : ranges) {
    if (range.begin - offset >= size) break;
    offset = std::max(offset, range.end);
  }
  return offset;
}

// Bytes alive on one device while `step` runs, by category.
std::vector<std::int64_t> alive(const Work& work, const Plan& plan, const std::vector<Lifetime>& lives, Place place,
                                std::int64_t step) {
  std::vector<std::int64_t> result(categories);
  for (std::size_t i = 0; i < lives.size(); ++i) {
    if (!(work.tensors[i].place == place) || step < lives[i].first || step > lives[i].last) continue;
    std::int64_t& sum = result[static_cast<std::size_t>(work.tensors[i].category)];
    sum = checked_add(sum, plan.bytes[i]);
  }
  return result;
}

// The device whose block is the largest; the first such.
Place largest_device(const Work& work, Plan& plan) {
  Place place;
  for (std::size_t i = 0; i < work.tensors.size(); ++i) {
    if (work.tensors[i].place.kind != PlaceKind::device) continue;
    const std::int64_t end = checked_add(plan.offset[i], plan.bytes[i]);
    if (end > plan.peak) {
      plan.peak = end;
      place = work.tensors[i].place;
    }
  }
  return place;
}

}  // namespace

Plan plan(const Work& work, std::int64_t alignment) {
  if (alignment < 1) throw Error("planning work '" + work.name + "': the alignment must be at least 1");
  Plan result;
  for (const Tensor& tensor : work.tensors) result.bytes.push_back(round_up(bytes(tensor), alignment));
  result.offset.assign(work.tensors.size(), 0);
  const std::vector<Lifetime> lives = lifetimes(work);

  std::vector<std::size_t> placed;
  for (const std::size_t tensor : placing_order(lives, result.bytes)) {
    std::vector<Taken> ranges;
    for (const std::size_t other : placed) {
      if (!(work.tensors[other].place == work.tensors[tensor].place) || !meet(lives[other], lives[tensor])) continue;
      ranges.push_back({result.offset[other], checked_add(result.offset[other], result.bytes[other])});
    }
    result.offset[tensor] = lowest_gap(std::move(ranges), result.bytes[tensor]);
    placed.push_back(tensor);
  }

  const Place device = largest_device(work, result);
  const auto steps = std::max<std::int64_t>(1, static_cast<std::int64_t>(work.steps.size()));
  for (std::int64_t step = 0; step < steps; ++step) {
    std::vector<std::int64_t> live = alive(work, result, lives, device, step);
    const std::int64_t sum = std::accumulate(live.begin(), live.end(), std::int64_t{0});
    if (step > 0 && sum <= result.live_peak) continue;
    result.live_peak = sum;
    result.peak_step = static_cast<int>(step);
    result.live_at_peak = std::move(live);
  }
  return result;
}

}  // namespace assay
