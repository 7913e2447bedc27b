// From read and write sets to waits.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/order.h"

#include <algorithm>

namespace assay::gpu {
namespace {

struct Touch {
  Place place;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  bool writes = false;
};

std::vector<Touch> touches(const Work& work, const Plan& plan, const Step& step) {
  const std::vector<Operand> all = operands(step.op);
  std::vector<Touch> list;
  for (std::size_t i = 0; i < step.operands.size(); ++i) {
    const auto tensor = static_cast<std::size_t>(step.operands[i]);
    const std::int64_t begin = plan.offset[tensor];
    list.push_back({work.tensors[tensor].place, begin, begin + plan.bytes[tensor], all[i].access != Access::read});
  }
  return list;
}

bool clash(const std::vector<Touch>& a, const std::vector<Touch>& b) {
  return std::any_of(a.begin(), a.end(), [&](const Touch& one) {
    return std::any_of(b.begin(), b.end(), [&](const Touch& other) {
      return (one.writes || other.writes) && one.place == other.place && one.begin < other.end && other.begin < one.end;
    });
  });
}

}  // namespace

Order order_of(const Work& work, const Plan& plan) {
  const auto count = static_cast<int>(work.steps.size());
  const auto lanes = static_cast<std::size_t>(work.lanes);
  Order order;
  order.waits.resize(work.steps.size());
  order.awaited.assign(work.steps.size(), false);
  if (work.lanes < 2) return order;
  std::vector<std::vector<Touch>> sets;
  for (const Step& step : work.steps) sets.push_back(touches(work, plan, step));
  // The last step of each lane that a lane has waited for already: lanes are in order, so the ones before are done too.
  std::vector<std::vector<int>> seen(lanes, std::vector<int>(lanes, -1));
  std::vector<std::vector<int>> seen_before = seen;
  for (int step = 0; step < count; ++step) {
    const auto lane = static_cast<std::size_t>(work.steps[static_cast<std::size_t>(step)].lane);
    std::vector<int> latest(lanes, -1);
    std::vector<int> latest_before(lanes, -1);
    for (int other = 0; other < count; ++other) {
      const auto its = static_cast<std::size_t>(work.steps[static_cast<std::size_t>(other)].lane);
      if (its == lane || !clash(sets[static_cast<std::size_t>(step)], sets[static_cast<std::size_t>(other)])) continue;
      (other < step ? latest : latest_before)[its] = other;
    }
    const auto await = [&](int other, int& known, bool before) {
      if (other <= known) return;
      known = other;
      order.waits[static_cast<std::size_t>(step)].push_back({other, before});
      order.awaited[static_cast<std::size_t>(other)] = true;
    };
    for (std::size_t its = 0; its < lanes; ++its) {
      await(latest[its], seen[lane][its], false);
      await(latest_before[its], seen_before[lane][its], true);
    }
  }
  return order;
}

}  // namespace assay::gpu
