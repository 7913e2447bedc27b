// Sums over all cards: rows `collective/all_reduce/<cards>/<size>` with their bus rate.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "reports/accept/bands.h"
#include "reports/accept/observe.h"
#include "reports/phrase.h"
#include "reports/rates_rows.h"

namespace assay {
namespace {

constexpr const char* prefix = "collective/all_reduce/";

// By cards, then by bytes: bytes a second as bus rate.
std::map<int, std::map<double, double>> all_reduces(const Machine& machine) {
  std::map<int, std::map<double, double>> found;
  for (const Row& row : machine.run().rows) {
    if (row.case_name.rfind(prefix, 0) != 0 || row.metric != "bus_bytes_per_second" || row.status != Status::ok ||
        has_condition(row, "planted"))
      continue;
    const int cards = std::atoi(row.case_name.c_str() + std::string(prefix).size());
    if (cards < 2 || !row.value || !row.bytes) continue;
    double& rate = found[cards][*row.bytes];
    rate = std::max(rate, *row.value);
  }
  return found;
}

double best(const std::map<double, double>& sizes) {
  double most = 0;
  for (const auto& [bytes, rate] : sizes) most = std::max(most, rate);
  return most;
}

// The size at which the rate is lowest against both neighbours.
void observe_hole(Subject& host, const std::map<double, double>& sizes) {
  double least = 1;
  double where = 0;
  for (auto size = sizes.begin(); size != sizes.end(); ++size) {
    if (size == sizes.begin() || std::next(size) == sizes.end()) continue;
    const double beside = std::min(std::prev(size)->second, std::next(size)->second);
    if (beside > 0 && size->second / beside < least) least = size->second / beside, where = size->first;
  }
  if (sizes.size() < 3) {
    host.hidden("allreduce_hole", "fewer than three sizes were measured");
  } else {
    host.number("allreduce_hole", least,
                where > 0 ? "lowest at " + shown_bytes(where) + ", against its neighbours" : "no size stands out");
  }
}

}  // namespace

void observe_all_reduce(Subject& host, const Machine& machine) {
  const char* const names[] = {"allreduce", "allreduce_of_pass_line", "allreduce_few_over_all", "allreduce_hole"};
  if (machine.cards().size() < 2) {
    for (const char* name : names) host.not_here(name, "fewer than two cards");
    return;
  }
  const auto found = all_reduces(machine);
  if (found.empty()) {
    for (const char* name : names) host.hidden(name, "no sum over cards was measured");
    return;
  }
  const auto& [cards, sizes] = *found.rbegin();
  const double rate = best(sizes);
  const std::string words = fmt::format("{} cards: {}", cards, shown(rate, ReportUnit::bytes_per_second));
  host.number("allreduce", rate, words);
  const Gpu* gpu = machine.gpu(*machine.cards().front());
  const Band* band = gpu != nullptr ? find_band(gpu->name, "allreduce", false, cards) : nullptr;
  if (band == nullptr) {
    host.not_here("allreduce_of_pass_line", "nobody publishes one for this card and as many of them");
  } else {
    host.number("allreduce_of_pass_line", rate / band->value,
                fmt::format("{} of {} ({})", words, shown(band->value, ReportUnit::bytes_per_second), band->who), "",
                band->source);
  }
  const auto pair = found.find(2);
  if (cards == 2) {
    host.not_here("allreduce_few_over_all", "two cards only");
  } else if (pair == found.end() || rate <= 0) {
    host.hidden("allreduce_few_over_all", "two cards were not measured by themselves");
  } else {
    host.number("allreduce_few_over_all", best(pair->second) / rate, "two cards against " + words);
  }
  observe_hole(host, sizes);
}

}  // namespace assay
