// All benchmarks, in the order of a report, and the order in which their cases are worth measuring.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "bench/case.h"
#include "bench/case_sizes.h"
#include "bench/cases.h"

namespace assay {

const std::vector<Benchmark>& catalogue() {
  static const std::vector<Benchmark> all = {
      {"host", "What does this host really grant: cores, memory, shared memory, processes, storage?", host_cases},
      {"capacity", "How much memory can really be had?", capacity_cases},
      {"gemm", "How fast is a matrix product, by precision and size?", gemm_square_cases},
      {"memory", "How fast is memory, by operation?", stream_cases},
      {"gemm", "How fast are the layers of real transformers?", gemm_layer_cases},
      {"gemm", "How fast are the products of decoding, where every token reads all weights?", gemm_decode_cases},
      {"issue", "How fast does the processor multiply and add when nothing comes from memory?", issue_cases},
      {"memory", "How fast is memory, by size of the working set?", working_set_cases},
      {"memory", "What does the cache beside each unit deliver?", reread_cases},
      {"memory", "How fast are the element and row operations between the products?", row_op_cases},
      {"memory", "How fast are rows gathered from a table that no cache holds?", gather_cases},
      {"latency", "How long does one load take, by size of the working set?", latency_cases},
      {"transfer", "How fast are copies, by size?", transfer_cases},
      {"launch", "What does it cost to start, to wait and to allocate?", launch_cases},
      {"concurrency", "What do several queues at once gain, and a copy beside a product?", concurrency_cases},
      {"train", "How long does one decoder block take, forward and backward?", train_cases},
      {"train", "How long does a whole training step take, and what does it keep in memory?", step_cases},
      {"train", "Does a model learn the same in every precision?", learning_cases},
      {"infer", "How long until the first token, and for each one after it?", infer_cases},
      {"gemm", "What do layout, data, caches and the choice of algorithm change?", gemm_variant_cases},
  };
  return all;
}

std::vector<Case> cases_for(const DeviceInfo& device, ProfileKind profile) {
  std::vector<Case> all;
  for (const Benchmark& benchmark : catalogue()) {
    for (Case& item : benchmark.cases(device, profile)) {
      item.family = benchmark.family;
      if (!item.work.steps.empty()) estimate(item, device, profile);
      all.push_back(std::move(item));
    }
  }
  // Within a rank the families stay together: each has a worker of its own, and starting one takes time, on an
  // accelerator so much that its families are gathered.
  const auto place = [&device](const Case& item) -> std::ptrdiff_t {
    if (is_processor(device)) return 0;
    const auto& known = catalogue();
    return std::find_if(known.begin(), known.end(), [&](const auto& one) { return one.family == item.family; }) -
           known.begin();
  };
  std::stable_sort(all.begin(), all.end(), [&](const Case& a, const Case& b) {
    return a.rank != b.rank ? a.rank < b.rank : place(a) < place(b);
  });
  std::string served;
  for (Case& item : all) {
    if (item.family != served) item.seconds_expected += worker_seconds(device);
    served = item.family;
  }
  return all;
}

}  // namespace assay
