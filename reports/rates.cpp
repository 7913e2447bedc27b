// What an op costs here: lookup, interpolation, peaks.
// SPDX-License-Identifier: Apache-2.0
#include "reports/rates.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "reports/phrase.h"
#include "reports/rates_rows.h"

namespace assay {
namespace {

// A price is this much less certain for each doubling between its shape and the nearest measured one.
constexpr double slack_per_doubling = 0.10;
constexpr std::size_t neighbours = 4;

double moved(const Cost& cost) { return cost.bytes_read + cost.bytes_written; }

// Over memory: what is read over and over comes from a cache.
bool is_plain_stream(const Op& op) {
  const auto* stream = std::get_if<Stream>(&op);
  return stream != nullptr && stream->store == Store::plain && stream->turns == 1;
}

bool writes(const Op& op) {
  const StreamKind kind = std::get<Stream>(op).kind;
  return kind != StreamKind::read && kind != StreamKind::write;
}

bool same_formats(const Gemm& left, const Gemm& right) {
  return left.a == right.a && left.b == right.b && left.accumulate == right.accumulate;
}

double doublings(std::int64_t left, std::int64_t right) {
  return std::log2(static_cast<double>(left) / static_cast<double>(right));
}

// Distance in doublings over the shape. Layout counts as half a doubling, batches half as much as the other sizes.
double distance(const Gemm& left, const Gemm& right) {
  const double m = doublings(left.m, right.m), n = doublings(left.n, right.n), k = doublings(left.k, right.k);
  const double batch = doublings(left.batch, right.batch) / 2;
  const double layout =
      (left.transpose_a != right.transpose_a ? 0.5 : 0) + (left.transpose_b != right.transpose_b ? 0.5 : 0);
  return std::sqrt(m * m + n * n + k * k + batch * batch) + layout;
}

double interpolate(const std::map<double, double>& points, double at) {
  const auto above = points.lower_bound(at);
  if (above == points.end()) return std::prev(above)->second;
  if (above == points.begin()) return above->second;
  const auto below = std::prev(above);
  const double share = std::log(at / below->first) / std::log(above->first / below->first);
  return below->second * std::pow(above->second / below->second, share);
}

// Kind, direction and format of an op, without its sizes: ops that are alike move their bytes alike.
std::string likeness(const Op& op) {
  return std::visit(
      [](const auto& value) -> std::string {
        using Type = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<Type, Pointwise>)
          return fmt::format("pointwise {} {}", static_cast<int>(value.kind), text(value.format));
        else if constexpr (std::is_same_v<Type, Cast>)
          return "cast " + text(value.from) + " " + text(value.to);
        else if constexpr (std::is_same_v<Type, AdamW>)
          return "adamw " + text(value.weight) + " " + text(value.gradient);
        else if constexpr (std::is_same_v<Type, Softmax>)
          return fmt::format("softmax {} {}", static_cast<int>(value.direction), text(value.format));
        else if constexpr (std::is_same_v<Type, Norm>)
          return fmt::format("norm {} {} {}", static_cast<int>(value.kind), static_cast<int>(value.direction),
                             text(value.format));
        else if constexpr (std::is_same_v<Type, NormWeights>)
          return fmt::format("norm_weights {} {}", static_cast<int>(value.kind), text(value.format));
        else if constexpr (std::is_same_v<Type, ColumnSum>)
          return "column_sum " + text(value.format);
        else if constexpr (std::is_same_v<Type, CrossEntropy>)
          return "cross_entropy " + text(value.format);
        else if constexpr (std::is_same_v<Type, Embedding>)
          return fmt::format("embedding {} {}", static_cast<int>(value.direction), text(value.format));
        else if constexpr (std::is_same_v<Type, Rope>)
          return fmt::format("rope {} {}", static_cast<int>(value.direction), text(value.format));
        else if constexpr (std::is_same_v<Type, Heads>)
          return fmt::format("heads {} {}", static_cast<int>(value.direction), text(value.format));
        else if constexpr (std::is_same_v<Type, Stream>)
          return value.turns > 1 ? ""
                                 : fmt::format("stream {} {} {}", static_cast<int>(value.kind),
                                               static_cast<int>(value.store), text(value.format));
        else
          return "";  // neither a stream of bytes nor comparable
      },
      op);
}

}  // namespace

std::string text(Origin origin) {
  switch (origin) {
    case Origin::measured:
      return "measured";
    case Origin::interpolated:
      return "interpolated";
    case Origin::peak:
      return "from peaks";
    case Origin::published:
      return "published";
    case Origin::not_judged:
      return "not judged";
  }
  return "";
}

Rates::Rates(const std::vector<Run>& runs, const std::string& device) {
  RateRows rows = rate_rows(runs, device);
  known_ = std::move(rows.known);
  planted_ = rows.planted;
  unreadable_ = rows.unreadable;
  for (const Known& known : known_) {
    if (!is_plain_stream(known.op)) continue;
    const double bytes = moved(known.cost), rate = bytes / known.seconds;
    reads_[bytes] = std::max(reads_[bytes], rate);
    if (writes(known.op)) mixed_[bytes] = std::max(mixed_[bytes], rate);
  }
}

std::optional<double> Rates::bandwidth_at(double working_set, bool reads_only) const {
  const auto& points = reads_only || mixed_.empty() ? reads_ : mixed_;
  if (points.empty() || !(working_set > 0)) return std::nullopt;
  return interpolate(points, working_set);
}

std::optional<double> Rates::memory_bandwidth() const {
  if (reads_.empty()) return std::nullopt;
  // Sets within a factor of two of the largest are past every cache, if any is.
  const double largest = reads_.rbegin()->first;
  double best = 0;
  for (const auto& [bytes, rate] : reads_)
    if (bytes * 2 > largest) best = std::max(best, rate);
  return best;
}

std::optional<double> Rates::peak_flops(Element element) const {
  double products = 0, issue = 0;
  for (const Known& known : known_) {
    const double rate = known.cost.flops / known.seconds;
    if (const auto* gemm = std::get_if<Gemm>(&known.op)) {
      if (gemm->a.element == element) products = std::max(products, rate);
    } else if (const auto* registers = std::get_if<Issue>(&known.op)) {
      if (registers->operands.element == element) issue = std::max(issue, rate);
    }
  }
  if (products > 0) return products;
  if (issue > 0) return issue;
  return std::nullopt;
}

std::optional<double> Rates::roofline(const Gemm& op) const {
  const auto flops = peak_flops(op.a.element);
  const Cost needs = cost(Op(op));
  const auto bandwidth = bandwidth_at(moved(needs), true);
  if (!flops || !bandwidth) return std::nullopt;
  return std::max(needs.flops / *flops, moved(needs) / *bandwidth);
}

std::optional<Price> Rates::same(const Op& op) const {
  for (const Known& known : known_) {
    if (known.op != op) continue;
    return Price{known.seconds, known.lower, known.upper, Origin::measured, known.case_name};
  }
  return std::nullopt;
}

// Efficiency, the share of what the measured peaks allow, changes slowly with the shape; seconds do not.
Price Rates::price_product(const Gemm& op) const {
  const auto ideal = roofline(op);
  struct Near {
    double distance, efficiency;
    const Known* known;
  };
  std::vector<Near> near;
  for (const Known& known : known_) {
    const auto* gemm = std::get_if<Gemm>(&known.op);
    if (gemm == nullptr || !same_formats(*gemm, op)) continue;
    const auto theirs = roofline(*gemm);
    if (theirs) near.push_back({distance(op, *gemm), std::min(1.0, *theirs / known.seconds), &known});
  }
  if (!ideal)
    return {{}, 0, 0, Origin::not_judged, "no matrix product in " + text(op.a.element) + " and no stream was measured"};
  if (near.empty())
    return {
        *ideal, *ideal, 2 * *ideal, Origin::peak,
        "the measured peak of " + text(op.a.element) + " and the memory's bandwidth; at best so fast, at worst half"};

  std::sort(near.begin(), near.end(), [](const Near& a, const Near& b) { return a.distance < b.distance; });
  near.resize(std::min(near.size(), neighbours));
  double weights = 0, sum = 0, best = 0, worst = 1;
  for (const Near& one : near) {
    const double weight = 1 / (one.distance * one.distance + 0.01);
    weights += weight;
    sum += weight * std::log(one.efficiency);
    best = std::max(best, one.efficiency);
    worst = std::min(worst, one.efficiency);
  }
  const double slack = 1 + slack_per_doubling * near.front().distance;
  const double efficiency = std::exp(sum / weights);
  return {*ideal / efficiency, *ideal / std::min(1.0, best * slack), *ideal / worst * slack, Origin::interpolated,
          fmt::format("efficiency {:.0f} % between {} measured shapes, the nearest {} ({:.1f} doublings away)",
                      efficiency * 100, near.size(), near.front().known->case_name, near.front().distance)};
}

Price Rates::price_stream(const Op& op) const {
  const double bytes = moved(cost(op));
  const std::string kind = likeness(op);
  const auto bandwidth = bandwidth_at(bytes);
  if (kind.empty() || !(bytes > 0)) return {{}, 0, 0, Origin::not_judged, "this op has to be measured itself"};

  // The same kind at another size: its share of the bandwidth at its size, taken to this size.
  const Known* nearest = nullptr;
  for (const Known& known : known_) {
    if (likeness(known.op) != kind) continue;
    const auto far = [&](const Known& other) { return std::abs(std::log2(moved(other.cost) / bytes)); };
    if (nearest == nullptr || far(known) < far(*nearest)) nearest = &known;
  }
  if (nearest != nullptr) {
    const double theirs = moved(nearest->cost), rate = theirs / nearest->seconds;
    const double scale = bandwidth ? *bandwidth / *bandwidth_at(theirs) : 1;
    const double away = std::abs(std::log2(theirs / bytes)), slack = 1 + slack_per_doubling * away;
    const double seconds = bytes / (rate * scale);
    return {seconds, seconds * nearest->lower / nearest->seconds / slack,
            seconds * nearest->upper / nearest->seconds * slack, Origin::interpolated,
            fmt::format("{} ({:.1f} doublings away)", nearest->case_name, away)};
  }
  if (!bandwidth) return {{}, 0, 0, Origin::not_judged, "no stream through memory was measured"};
  const double seconds = bytes / *bandwidth;
  return {seconds, seconds, 2 * seconds, Origin::peak,
          "bandwidth of a stream of " + shown_bytes(bytes) + "; at best so fast, at worst half"};
}

double Rates::launch() const {
  double least = 0;
  for (const Known& known : known_) {
    const auto* launch = std::get_if<Launch>(&known.op);
    if (launch == nullptr || launch->kind != LaunchKind::kernel) continue;
    const double one = known.seconds / static_cast<double>(launch->count);
    least = least == 0 ? one : std::min(least, one);
  }
  return least;
}

// What was not measured itself takes at least as long as starting it.
Price Rates::price(const Op& op) const {
  if (const auto found = same(op)) return *found;
  const auto* gemm = std::get_if<Gemm>(&op);
  Price price = gemm != nullptr ? price_product(*gemm) : price_stream(op);
  if (!price.seconds) return price;
  const double least = launch();
  if (*price.seconds < least) price.because += "; at least one launch";
  price.seconds = std::max(*price.seconds, least);
  price.lower = std::max(price.lower, least);
  price.upper = std::max(price.upper, least);
  return price;
}

}  // namespace assay
