// The speed of a model on a card that nobody has measured.
// SPDX-License-Identifier: Apache-2.0
#include "reports/estimate_speed.h"

#include <algorithm>

namespace assay {
namespace {

// Shares of the published dense peak that large products reach in public benchmarks (mamf-finder, gpu-fryer,
// SuperBench, cuBLASLt and hipBLASLt benches): 0.50 for some CDNA3 formats, 0.70 to 0.86 for most, 0.94 for a few.
constexpr Span product_share{0.75, 0.50, 0.94};
// The same of memory bandwidth by plain streams (gpu-benches, dcgmproftester, SuperBench).
constexpr Span stream_share{0.88, 0.76, 0.98};
// Bus bandwidth of large and of 4 MB collectives against one direction of the link (NVLink boxes of eight).
constexpr Span link_share{0.75, 0.32, 1.0};
// Starting an op: nothing within a graph, 5.6 to 9.4 us of event and wall time otherwise (SuperBench on an A100), and
// about 50 us where a Python framework starts several kernels for one of these ops, one after the other.
constexpr Span start_of_op{3e-6, 0, 50e-6};
// A small collective of eight cards.
constexpr Span start_of_collective{25e-6, 10e-6, 55e-6};

// What products of this element run at, on the units the card has for it: formats without units of their own are
// unpacked and computed in 16 bits, or in fp32 where there are no 16-bit units.
std::optional<double> rate_of(const Gpu& gpu, Element element) {
  if (const auto own = peak(gpu, element)) return own;
  if (element != Element::fp32 && element != Element::fp64)
    for (const Element other : {Element::bf16, Element::fp16, Element::fp32})
      if (const auto rate = peak(gpu, other)) return rate;
  return std::nullopt;
}

std::optional<Span> time_of(const std::vector<CostedOp>& ops, const Gpu& gpu, int cards) {
  if (ops.empty() || !gpu.bandwidth) return std::nullopt;
  Span time;
  const double n = cards;
  for (const CostedOp& op : ops) {
    const double bytes = (op.cost.bytes_read + op.cost.bytes_written) / n;
    double arithmetic = 0;
    if (op.product) {
      const auto rate = rate_of(gpu, op.element);
      if (!rate) return std::nullopt;
      arithmetic = op.cost.flops / n / *rate;
    }
    const double memory = bytes / *gpu.bandwidth;
    time.middle +=
        op.count * (std::max(arithmetic / product_share.middle, memory / stream_share.middle) + start_of_op.middle);
    time.lower += op.count * std::max(arithmetic / product_share.upper, memory / stream_share.upper);
    time.upper +=
        op.count * (std::max(arithmetic / product_share.lower, memory / stream_share.lower) + start_of_op.upper);
  }
  return time;
}

// Bytes that every card sends for one pass, and in how many collectives.
struct Traffic {
  double bytes = 0, collectives = 0;
};

double parameter_bytes(const Demand& demand) { return static_cast<double>(parameters(demand.model)) * 2; }

// Tensor-parallel inference: two all-reduces a layer of the tokens in flight, in 16 bits. Fully sharded training: the
// weights are gathered twice and the gradients scattered once.
Traffic traffic(const Demand& demand, double tokens, int cards) {
  const double n = cards, layers = static_cast<double>(demand.model.layers);
  if (demand.training()) return {3 * parameter_bytes(demand) * (n - 1) / n, 3 * layers};
  const double one = tokens * static_cast<double>(demand.model.hidden) * 2;
  return {2 * layers * one * 2 * (n - 1) / n, 2 * layers};
}

void add_traffic(Span& time, const Traffic& sent, const Gpu& gpu, bool overlaps) {
  const auto link = gpu.link_bandwidth ? gpu.link_bandwidth : gpu.host_bandwidth;
  if (!link) return;
  const auto wire = [&](double share, double start) { return sent.bytes / (*link * share) + sent.collectives * start; };
  const double middle = wire(link_share.middle, start_of_collective.middle);
  const double least = wire(link_share.upper, start_of_collective.lower);
  const double most = wire(link_share.lower, start_of_collective.upper);
  // At best it all happens behind the arithmetic, at worst nothing does.
  time.lower = overlaps ? std::max(time.lower, least) : time.lower + least;
  time.middle = overlaps ? std::max(time.middle, middle) + 0.2 * std::min(time.middle, middle) : time.middle + middle;
  time.upper += most;
}

Span rate(double amount, const Span& time) { return {amount / time.middle, amount / time.upper, amount / time.lower}; }

}  // namespace

SpeedEstimate estimate_speed(const Demand& demand, const Gpu& gpu, int cards) {
  SpeedEstimate result;
  const double batch = static_cast<double>(demand.workload.batch);
  const double tokens = batch * static_cast<double>(demand.workload.context);
  auto first = time_of(demand.first, gpu, cards);
  if (!first) return result;
  if (demand.training()) {
    // Each card has a batch of its own, so its arithmetic is not shared out.
    first = time_of(demand.first, gpu, 1);
    if (cards > 1) add_traffic(*first, traffic(demand, tokens, cards), gpu, true);
    result.tokens_per_second = rate(tokens * cards, *first);
    return result;
  }
  if (cards > 1) add_traffic(*first, traffic(demand, tokens, cards), gpu, false);
  result.first_token = first;
  result.tokens_per_second = rate(tokens, *first);
  if (!demand.decodes()) return result;
  auto second = time_of(demand.second, gpu, cards);
  if (!second) return result;
  if (cards > 1) add_traffic(*second, traffic(demand, batch, cards), gpu, false);
  result.tokens_per_second = rate(batch, *second);
  return result;
}

}  // namespace assay
