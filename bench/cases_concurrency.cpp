// Several queues at once: alike products that each leave part of the device idle, and a copy beside a product.
// SPDX-License-Identifier: Apache-2.0
#include "bench/case_formats.h"
#include "bench/case_sizes.h"
#include "bench/cases.h"

namespace assay {

namespace {

// Puts an op with operands of its own onto a lane, `times` after each other.
void add_lane(Work& work, const Op& op, int lane, const std::string& phase, int times) {
  const Work alone = single(op);
  Step step = alone.steps.front();
  for (int& operand : step.operands) operand += static_cast<int>(work.tensors.size());
  for (Tensor tensor : alone.tensors) {
    tensor.name += "_" + std::to_string(lane);
    work.tensors.push_back(std::move(tensor));
  }
  step.lane = lane;
  step.phase = phase;
  for (int i = 0; i < times; ++i) work.steps.push_back(step);
  work.lanes = std::max(work.lanes, lane + 1);
}

constexpr int times_in_a_row = 8;  // so that the lanes overlap for longer than it takes to start them

// 1024 x 1024 results are 32 to 64 tiles: a part of a large device.
Work alike_products(const ProductFormat& format, int lanes, std::int64_t size, int times) {
  Work work;
  work.name = std::to_string(lanes) + " products at once";
  const Gemm gemm = product(format, size, size, size);
  for (int lane = 0; lane < lanes; ++lane) add_lane(work, gemm, lane, "gemm", times);
  return work;
}

enum class Beside { both, product_alone, copy_alone };

Work copy_and_product(const ProductFormat& format, Beside which, std::int64_t size, std::int64_t bytes) {
  Work work;
  work.name = "a copy beside a product";
  Transfer transfer;
  transfer.bytes = bytes;
  transfer.from = Place{PlaceKind::host_pinned, -1};
  if (which != Beside::copy_alone) {
    add_lane(work, product(format, size, size, size), 0, "gemm", 2);
  }
  if (which != Beside::product_alone)
    add_lane(work, transfer, work.lanes == 1 && work.steps.empty() ? 0 : 1, "copy", 2);
  return work;
}

Case lanes_case(const std::string& name, Work work, Work twin) {
  Case item;
  item.name = "concurrency/" + name;
  item.family = "concurrency";
  item.work = std::move(work);
  item.twin = std::move(twin);
  item.whole_step = true;
  item.cache = "hot";
  return item;
}

}  // namespace

std::vector<Case> concurrency_cases(const DeviceInfo& device, ProfileKind profile) {
  std::vector<Case> cases;
  if (is_processor(device)) return cases;
  constexpr std::int64_t twin_size = 48;
  const ProductFormat format = usual_format(device);
  for (const int lanes : {1, 2, 4, 8}) {
    cases.push_back(lanes_case("gemm/" + std::to_string(lanes), alike_products(format, lanes, 1024, times_in_a_row),
                               alike_products(format, lanes, twin_size, 2)));
    cases.back().precision = format.name;
    measure_briefly(cases.back(), profile);
  }
  // About as long as each other on a large card; on a small one the product takes longer.
  constexpr std::int64_t size = 6144;
  constexpr std::int64_t bytes = 32 << 20;
  const auto beside = [&](const char* name, Beside which) {
    cases.push_back(lanes_case(name, copy_and_product(format, which, size, bytes),
                               copy_and_product(format, which, twin_size, 1 << 12)));
    if (which != Beside::copy_alone) cases.back().precision = format.name;
    measure_briefly(cases.back(), profile);
  };
  beside("copy_beside_gemm/both", Beside::both);
  beside("copy_beside_gemm/gemm_alone", Beside::product_alone);
  beside("copy_beside_gemm/copy_alone", Beside::copy_alone);
  return cases;
}

}  // namespace assay
