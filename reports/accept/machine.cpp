// Looks facts, rows and rates up.
// SPDX-License-Identifier: Apache-2.0
#include "reports/accept/machine.h"

#include <algorithm>
#include <variant>

#include "core/error.h"
#include "reports/rates_rows.h"

namespace assay {
namespace {

bool begins(const std::string& text, const std::string& prefix) { return text.compare(0, prefix.size(), prefix) == 0; }

// Rows that were planted for a test are no evidence.
bool planted(const Row& row) { return has_condition(row, "planted"); }

}  // namespace

Machine::Machine(const Run& run) : run_(&run) {
  for (const DeviceInfo& device : run.info.devices)
    if (device.backend != "cpu") cards_.push_back(&device);
}

const Gpu* Machine::gpu(const DeviceInfo& device) const { return recognise_gpu(device.name); }

const Fact* Machine::fact(const DeviceInfo& device, const std::string& name) {
  for (const Fact& one : device.facts)
    if (one.name == name) return &one;
  return nullptr;
}

std::optional<double> Machine::number(const DeviceInfo& device, const std::string& name) {
  const Fact* found = fact(device, name);
  return found != nullptr ? found->value : std::nullopt;
}

std::string Machine::word(const DeviceInfo& device, const std::string& name) {
  const Fact* found = fact(device, name);
  return found != nullptr ? found->text : "";
}

std::optional<double> Machine::host_link(const DeviceInfo& device) {
  const auto generation = number(device, "pcie_generation_most");
  const auto lanes = number(device, "pcie_width");
  if (!generation || !lanes) return std::nullopt;
  return host_link_rate(static_cast<int>(*generation), static_cast<int>(*lanes));
}

bool Machine::telemetry(const DeviceInfo& device) const {
  return std::any_of(run_->rows.begin(), run_->rows.end(), [&](const Row& row) {
    return row.device == device.id && (row.power_watts || row.clock_hertz || !row.throttle.empty());
  });
}

bool Machine::managed(const DeviceInfo& device) const {
  if (const Fact* library = fact(device, "management_library")) return !library->text.empty();
  return number(device, "power_limit_watts").has_value() || telemetry(device);
}

std::optional<double> Machine::host_number(const std::string& name) const {
  for (const Row& row : run_->rows)
    if (row.family == "host" && row.metric == name && row.value) return row.value;
  for (const Fact& one : run_->info.facts)
    if (one.name == name && one.value) return one.value;
  return std::nullopt;
}

std::string Machine::host_word(const std::string& name) const {
  for (const Row& row : run_->rows)
    if (row.family == "host" && row.metric == name && row.status == Status::ok && !row.value) return row.reason;
  for (const Fact& one : run_->info.facts)
    if (one.name == name) return one.text;
  return "";
}

std::vector<const Row*> Machine::rows(const std::string& device, const std::string& prefix,
                                      const std::function<bool(const Row&)>& wanted) const {
  std::vector<const Row*> found;
  for (const Row& row : run_->rows)
    if (row.device == device && begins(row.case_name, prefix) && !planted(row) && wanted(row)) found.push_back(&row);
  return found;
}

std::vector<const Row*> Machine::timed(const std::string& device, const std::string& prefix) const {
  return rows(device, prefix, [](const Row& row) {
    return row.metric == "seconds" && row.status == Status::ok && row.value.value_or(0) > 0;
  });
}

std::optional<Reached> Machine::copy(const std::string& device, const std::string& prefix) const {
  std::optional<Reached> best;
  for (const Row* row : timed(device, prefix)) {
    try {
      const Op op = parse_op(row->op);
      const auto* transfer = std::get_if<Transfer>(&op);
      if (transfer == nullptr) continue;
      const double rate = static_cast<double>(transfer->bytes) / *row->value;
      if (!best || rate > best->rate) best = Reached{rate, row->case_name};
    } catch (const BadInput&) {
      continue;  // an op that a later version measured
    }
  }
  return best;
}

const Rates& Machine::rates(const std::string& device) const {
  const auto found = rates_.find(device);
  if (found != rates_.end()) return found->second;
  return rates_.emplace(device, Rates({*run_}, device)).first->second;
}

std::optional<Reached> Machine::products(const DeviceInfo& device, Element element) const {
  std::optional<Reached> best;
  for (const Known& known : rates(device.id).known()) {
    const auto* gemm = std::get_if<Gemm>(&known.op);
    if (gemm == nullptr || gemm->a.element != element || gemm->b.element != element || known.seconds <= 0) continue;
    const double rate = known.cost.flops / known.seconds;
    if (!best || rate > best->rate) best = Reached{rate, known.case_name};
  }
  return best;
}

std::optional<Reached> Machine::memory(const DeviceInfo& device) const {
  const auto best = rates(device.id).memory_bandwidth();
  if (!best) return std::nullopt;
  return Reached{*best, "memory"};
}

std::optional<double> host_link_rate(int generation, int lanes) {
  double transfers = 0, code = 128.0 / 130;  // the line code of generations 3 to 5
  switch (generation) {
    case 1:
      transfers = 2.5e9, code = 0.8;
      break;
    case 2:
      transfers = 5e9, code = 0.8;
      break;
    case 3:
      transfers = 8e9;
      break;
    case 4:
      transfers = 16e9;
      break;
    case 5:
      transfers = 32e9;
      break;
    case 6:
      transfers = 64e9, code = 242.0 / 256;
      break;
    default:
      return std::nullopt;
  }
  if (lanes <= 0) return std::nullopt;
  return transfers * code / 8 * lanes;
}

double middle(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

}  // namespace assay
