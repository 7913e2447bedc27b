// Pairs of rows, and what they make.
// SPDX-License-Identifier: Apache-2.0
#include "bench/derived.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "bench/case_sizes.h"
#include "bench/derived_steps.h"
#include "bench/rows.h"

namespace assay {

namespace {

// Shares of a limit may exceed 1 by what two medians differ from run to run, and no more.
constexpr double most_of_a_limit = 1.02;

bool begins_with(const std::string& text, const std::string& start) { return text.rfind(start, 0) == 0; }

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

bool has(const std::string& list, const std::string& flag) {
  return ("," + list + ",").find("," + flag + ",") != std::string::npos;
}

bool usable(const Row& row) {
  return row.status == Status::ok && row.family != "derived" && row.value && std::isfinite(*row.value) &&
         *row.value > 0 && !has(row.conditions, "planted");
}

std::optional<Interval> interval_of(const Row& row) {
  if (!row.lower || !row.upper) return std::nullopt;
  return Interval{*row.lower, *row.upper};
}

// The usable rows of one device in one repetition.
class Found {
 public:
  Found(const std::vector<Row>& rows, const std::string& device, int repetition) {
    for (const Row& row : rows) {
      if (row.device == device && row.repetition == repetition && usable(row))
        by_case_[{row.case_name, row.metric}] = &row;
    }
  }

  const Row* row(const std::string& name, const std::string& metric) const {
    const auto found = by_case_.find({name, metric});
    return found == by_case_.end() ? nullptr : found->second;
  }

  // The highest of that metric among those that fit; null where none does.
  const Row* best(const std::string& metric, const std::function<bool(const Row&)>& fits) const {
    const Row* best = nullptr;
    for (const auto& [key, row] : by_case_) {
      if (key.second == metric && fits(*row) && (best == nullptr || *row->value > *best->value)) best = row;
    }
    return best;
  }

  std::vector<const Row*> all(const std::string& metric, const std::function<bool(const Row&)>& fits) const {
    std::vector<const Row*> all;
    for (const auto& [key, row] : by_case_) {
      if (key.second == metric && fits(*row)) all.push_back(row);
    }
    return all;
  }

 private:
  std::map<std::pair<std::string, std::string>, const Row*> by_case_;
};

bool is_usual_gemm(const Row& row, const std::string& precision) {
  return row.family == "gemm" && row.precision == precision && row.data == "typical" && row.phase != "sustained";
}

const Row* best_gemm(const Found& found, const std::string& precision) {
  return found.best("flops_per_second", [&](const Row& row) { return is_usual_gemm(row, precision); });
}

// A limit that was not measured but read, with what it was read from.
struct Limit {
  double value = 0;
  std::string words;
};

class Deriving {
 public:
  Deriving(const Found& found, const DeviceInfo& device) : found_(found), device_(device) {}

  void compare_with(const Found& processor) {
    for (const std::string& precision : precisions()) {
      ratio("over_processor/gemm/" + precision, "over_processor", best_gemm(found_, precision),
            best_gemm(processor, precision));
    }
    for (const char* name : {"memory/triad/plain/dram", "memory/read/plain/dram"}) {
      ratio(std::string("over_processor/") + name, "over_processor", found_.row(name, "bytes_per_second"),
            processor.row(name, "bytes_per_second"));
    }
  }

  void derive() {
    for (const std::string& precision : precisions()) issue_utilisation(precision);
    memory_utilisation();
    host_links();
    peer_links();
    concurrency();
    overlap();
    short_sums();
    variants();
    waves();
  }

  std::vector<Row> take() { return std::move(rows_); }

 private:
  std::set<std::string> precisions() const {
    std::set<std::string> all;
    for (const Row* row : found_.all("flops_per_second", [](const Row& one) { return one.family == "gemm"; })) {
      all.insert(row->precision);
    }
    return all;
  }

  std::optional<double> fact(const std::string& name) const {
    for (const Fact& one : device_.facts) {
      if (one.name == name && one.value && *one.value > 0) return one.value;
    }
    return std::nullopt;
  }

  Row& add(const std::string& name, const std::string& metric, double value, const std::optional<Interval>& interval,
           const std::vector<const Row*>& sources) {
    const Row& first = *sources.front();
    Row row;
    row.case_name = "derived/" + name;
    row.family = "derived";
    row.backend = first.backend;
    row.device = first.device;
    row.device_name = first.device_name;
    row.device_id = first.device_id;
    row.scope = first.scope;
    row.precision = first.precision;
    row.repetition = first.repetition;
    row.metric = metric;
    row.unit = "1";
    row.value = value;
    if (interval) {
      row.lower = interval->lower;
      row.upper = interval->upper;
    }
    std::vector<std::string> conditions;
    for (const Row* source : sources) {
      if (!source->conditions.empty()) conditions.push_back(source->conditions);
    }
    row.conditions = joined(split(conditions));
    rows_.push_back(std::move(row));
    return rows_.back();
  }

  static std::vector<std::string> split(const std::vector<std::string>& lists) {
    std::vector<std::string> flags;
    for (const std::string& list : lists) {
      std::size_t start = 0;
      while (start <= list.size()) {
        const std::size_t comma = std::min(list.find(',', start), list.size());
        if (comma > start) flags.push_back(list.substr(start, comma - start));
        start = comma + 1;
      }
    }
    return flags;
  }

  // How many times `below` the row `above` is. Nothing where one is missing.
  Row* ratio(const std::string& name, const std::string& metric, const Row* above, const Row* below) {
    if (above == nullptr || below == nullptr) return nullptr;
    Row& row = add(name, metric, *above->value / *below->value,
                   ratio_interval(interval_of(*above), interval_of(*below)), {above, below});
    const bool elsewhere = above->device != below->device;
    row.method = above->case_name + " over " + below->case_name + (elsewhere ? " of " + below->device : "");
    row.better = "higher";
    return &row;
  }

  static void doubt(Row& row, const std::string& limit) {
    if (*row.value <= most_of_a_limit) return;
    row.status = Status::mistrusted;
    row.reason = fmt::format("{:.3g} times {}, which is more than there can be: one of the two is wrong ({})",
                             *row.value, limit, row.method);
  }

  void share_of(const std::string& name, const std::string& metric, const Row* row, const Limit& limit) {
    if (row == nullptr) return;
    Row& share = add(name, metric, *row->value / limit.value,
                     ratio_interval(interval_of(*row), Interval{limit.value, limit.value}), {row});
    share.method = row->case_name + " over " + limit.words;
    share.better = "higher";
    doubt(share, limit.words);
  }

  // What of the rate at which the units take instructions a library turns into products.
  void issue_utilisation(const std::string& precision) {
    const Row* issue = found_.best("flops_per_second", [&](const Row& row) {
      return row.family == "issue" && row.precision == precision && ends_with(row.case_name, "/all");
    });
    Row* row = ratio("issue_utilisation/" + precision, "issue_utilisation", best_gemm(found_, precision), issue);
    if (row != nullptr) doubt(*row, "the rate at which the units take instructions");
  }

  void memory_utilisation() {
    const auto peak = fact("memory_peak_bytes_per_second");
    if (!peak) return;
    const Row* best = found_.best("bytes_per_second", [](const Row& row) {
      return row.family == "memory" && begins_with(row.op, "stream ") && ends_with(row.case_name, "/dram") &&
             !has(row.conditions, "near_cache");
    });
    share_of("memory_utilisation", "memory_utilisation", best,
             {*peak, fmt::format("the {:.4g} B/s that the driver's memory clock and bus width make", *peak)});
  }

  // The fastest of a way's sizes.
  const Row* fastest_copy(const std::string& way) const {
    return found_.best("bytes_per_second",
                       [&](const Row& row) { return begins_with(row.case_name, "transfer/" + way + "/"); });
  }

  void host_links() {
    const auto generation = fact("pcie_generation_most");
    const auto lanes = fact("pcie_width");
    if (!generation || !lanes) return;
    const auto link = pcie_bytes_per_second(static_cast<int>(*generation), static_cast<int>(*lanes));
    if (!link) return;
    const std::string words =
        fmt::format("the {:.4g} B/s of PCIe generation {:.0f} with {:.0f} lanes", *link, *generation, *lanes);
    for (const char* way : {"host_to_device/pinned", "device_to_host/pinned"}) {
      share_of(std::string("link_utilisation/") + way, "link_utilisation", fastest_copy(way), {*link, words});
    }
    share_of("link_utilisation/both_ways/pinned", "link_utilisation", fastest_copy("both_ways/pinned"),
             {2 * *link, "twice " + words});
  }

  // Over all links of the device together; where a pair has only some of them, its share says how many.
  void peer_links() {
    const auto active = fact("nvlink_active");
    const auto each = fact("nvlink_link_bytes_per_second");
    if (!active || !each) return;
    const double all = *active * *each;
    const std::string words = fmt::format("the {:.4g} B/s of {:.0f} links of the device", all, *active);
    for (const std::string& peer : fact_list(device_, "peer_devices")) {
      const std::string to = "to_device_" + peer;
      const std::string both = "both_ways_device_" + peer;
      share_of("link_utilisation/" + to, "link_utilisation", fastest_copy(to), {all, words});
      share_of("link_utilisation/" + both, "link_utilisation", fastest_copy(both), {2 * all, "twice " + words});
    }
  }

  void concurrency() {
    const Row* one = found_.row("concurrency/gemm/1", "flops_per_second");
    for (const char* lanes : {"2", "4", "8"}) {
      ratio(std::string("concurrency_gain/gemm/") + lanes, "concurrency_gain",
            found_.row(std::string("concurrency/gemm/") + lanes, "flops_per_second"), one);
    }
  }

  // How much of the shorter of the two is hidden behind the other: 1 all of it, 0 none.
  void overlap() {
    const std::string start = "concurrency/copy_beside_gemm/";
    const Row* both = found_.row(start + "both", "seconds");
    const Row* gemm = found_.row(start + "gemm_alone", "seconds");
    const Row* copy = found_.row(start + "copy_alone", "seconds");
    if (both == nullptr || gemm == nullptr || copy == nullptr) return;
    const double shorter = std::min(*gemm->value, *copy->value);
    // Of a short one the difference of two long times says nothing.
    if (shorter < 0.1 * std::max(*gemm->value, *copy->value)) return;
    std::optional<Interval> interval;
    const auto of_both = interval_of(*both), of_gemm = interval_of(*gemm), of_copy = interval_of(*copy);
    if (of_both && of_gemm && of_copy) {
      const double least = of_gemm->lower + of_copy->lower - of_both->upper;
      const double most = of_gemm->upper + of_copy->upper - of_both->lower;
      interval = Interval{least / shorter, most / shorter};
    }
    Row& row = add("hidden_share/copy_beside_gemm", "hidden_share",
                   (*gemm->value + *copy->value - *both->value) / shorter, interval, {both, gemm, copy});
    row.better = "higher";
    row.method = "(gemm_alone + copy_alone - both) over the shorter of the two alone, of " + start + "*";
  }

  // Sums in half the width on the same size, the largest that both have.
  void short_sums() {
    const std::string with = "gemm/fp16_fp16_sums/square/";
    const Row* largest = nullptr;
    for (const Row* row : found_.all("flops_per_second", [&](const Row& one) {
           return begins_with(one.case_name, with) && one.variant == "default" && one.data == "typical";
         })) {
      const bool paired = found_.row("gemm/fp16/square/" + row->case_name.substr(with.size()), row->metric) != nullptr;
      if (paired && (largest == nullptr || row->flops.value_or(0) > largest->flops.value_or(0))) largest = row;
    }
    if (largest == nullptr) return;
    ratio("fp16_sums_over_fp32_sums", "fp16_sums_over_fp32_sums", largest,
          found_.row("gemm/fp16/square/" + largest->case_name.substr(with.size()), largest->metric));
  }

  // Cases that differ in one thing from that whose name they continue.
  void variants() {
    const std::pair<const char*, const char*> changes[] = {{"/constant_data", "constant_over_typical"},
                                                           {"/integer_data", "integer_over_typical"},
                                                           {"/zero_data", "zero_over_typical"},
                                                           {"/sustained", "sustained_over_burst"},
                                                           {"/cold", "cold_over_hot"},
                                                           {"/best", "best_over_default"}};
    for (const auto& [end, metric] : changes) {
      const std::string ending = end;
      for (const Row* row : found_.all("flops_per_second", [&](const Row& one) {
             return one.family == "gemm" && ends_with(one.case_name, ending);
           })) {
        const std::string plain = row->case_name.substr(0, row->case_name.size() - ending.size());
        ratio(std::string(metric) + plain.substr(plain.find('/')), metric, row, found_.row(plain, "flops_per_second"));
      }
    }
  }

  // What the worst number of rows costs: tiles and waves left partly empty.
  void waves() {
    const auto steps = found_.all("flops_per_second", [](const Row& row) {
      return row.family == "gemm" && row.case_name.find("/steps/") != std::string::npos;
    });
    if (steps.size() < 2) return;
    const auto [lowest, highest] = std::minmax_element(
        steps.begin(), steps.end(), [](const Row* a, const Row* b) { return *a->value < *b->value; });
    ratio("lowest_over_highest/gemm/steps", "lowest_over_highest", *lowest, *highest);
  }

  const Found& found_;
  const DeviceInfo& device_;
  std::vector<Row> rows_;
};

std::set<int> repetitions_of(const std::vector<Row>& rows, const std::string& device) {
  std::set<int> all;
  for (const Row& row : rows) {
    if (row.device == device) all.insert(row.repetition);
  }
  return all;
}

}  // namespace

std::optional<Interval> ratio_interval(std::optional<Interval> above, std::optional<Interval> below) {
  if (!above || !below || !(below->lower > 0) || !(below->upper > 0)) return std::nullopt;
  return Interval{above->lower / below->upper, above->upper / below->lower};
}

std::optional<double> pcie_bytes_per_second(int generation, int lanes) {
  struct Line {
    double transfers;  // a second on each lane, one bit each
    double useful;     // of the bits sent, by the line code
  };
  // PCI Express base specification: 8b/10b up to generation 2, then 128b/130b; generation 6 sends flits of 256 bytes,
  // of which 236 are packets.
  const std::map<int, Line> lines = {{1, {2.5e9, 8.0 / 10}},   {2, {5e9, 8.0 / 10}},     {3, {8e9, 128.0 / 130}},
                                     {4, {16e9, 128.0 / 130}}, {5, {32e9, 128.0 / 130}}, {6, {64e9, 236.0 / 256}}};
  const auto line = lines.find(generation);
  if (line == lines.end() || lanes < 1) return std::nullopt;
  return line->second.transfers * line->second.useful * lanes / 8;
}

std::vector<Row> derived_rows(const std::vector<Row>& rows, const std::vector<DeviceInfo>& devices) {
  const auto host = std::find_if(devices.begin(), devices.end(), is_processor);
  std::vector<Row> all;
  for (const DeviceInfo& device : devices) {
    for (const int repetition : repetitions_of(rows, device.id)) {
      for (Row& row : derived_step_rows(rows, device, repetition)) all.push_back(std::move(row));
    }
    if (is_processor(device)) continue;
    for (const int repetition : repetitions_of(rows, device.id)) {
      const Found found(rows, device.id, repetition);
      Deriving deriving(found, device);
      deriving.derive();
      if (host != devices.end()) deriving.compare_with(Found(rows, host->id, repetition));
      for (Row& row : deriving.take()) all.push_back(std::move(row));
    }
  }
  return all;
}

std::vector<Row> not_yet_written(const std::vector<Row>& derived, const std::vector<Row>& before) {
  std::vector<Row> fresh;
  for (const Row& row : derived) {
    const bool there = std::any_of(before.begin(), before.end(), [&](const Row& old) {
      return old.family == "derived" && old.device == row.device && old.case_name == row.case_name &&
             old.repetition == row.repetition && old.value == row.value && old.status == row.status;
    });
    if (!there) fresh.push_back(row);
  }
  return fresh;
}

}  // namespace assay
