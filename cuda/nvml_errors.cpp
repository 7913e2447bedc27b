// ECC, replaced memory, links and partitions of one device.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <vector>

#include "cuda/nvml_device.h"

namespace vendor::nvml {
namespace {

std::optional<bool> truth(std::int64_t value) {
  if (value == 0) return false;
  if (value == 1) return true;
  return std::nullopt;
}

bool counted(std::uint64_t value) { return value != not_available && value < not_available_long / 2; }

}  // namespace

Switch Device::ecc() {
  int current = -1, pending = -1;
  if (!ask(ecc_mode, 0, whole_, &current, &pending)) return {};
  return {truth(current), truth(pending)};
}

Counts Device::ecc_errors(CounterKind kind) {
  const auto count = [&](MemoryError error) -> std::optional<std::int64_t> {
    std::uint64_t value = not_available_long;
    const int variant = static_cast<int>(error) * 2 + static_cast<int>(kind);
    if (!ask(nvml::ecc_errors, variant, whole_, error, kind, &value) || !counted(value)) return std::nullopt;
    return static_cast<std::int64_t>(value);
  };
  return {count(MemoryError::corrected), count(MemoryError::uncorrected)};
}

std::optional<Remapped> Device::remapped_rows() {
  std::uint32_t corrected = not_available, uncorrected = not_available, pending = 0, failed = 0;
  if (!ask(nvml::remapped_rows, 0, whole_, &corrected, &uncorrected, &pending, &failed)) return std::nullopt;
  if (corrected == not_available || uncorrected == not_available) return std::nullopt;
  return Remapped{corrected, uncorrected, pending == 1, failed == 1};
}

std::optional<std::int64_t> Device::pages(Retirement why) {
  const int variant = static_cast<int>(why);
  // Asked for no addresses, the library answers with their number, and with "insufficient size" where there are any.
  std::uint32_t count = 0;
  if (refused_.count({nvml::retired_pages.name, variant}) != 0 || lost_) return std::nullopt;
  const Status status = library_->call(nvml::retired_pages, whole_, why, &count, nullptr);
  if (status != Status::insufficient_size && !note(status, nvml::retired_pages.name, variant)) return std::nullopt;
  if (count == not_available) return std::nullopt;
  return count;
}

std::optional<std::int64_t> Device::retired_pages() {
  const auto single = pages(Retirement::many_single_bit), twice = pages(Retirement::double_bit);
  if (!single || !twice) return std::nullopt;
  return *single + *twice;
}

std::optional<bool> Device::retirement_pending() {
  int pending = -1;
  if (!ask(nvml::retirement_pending, 0, whole_, &pending)) return std::nullopt;
  return truth(pending);
}

Pcie Device::pcie() {
  const auto generation = [&](const Number& question) -> std::optional<int> {
    const auto value = number(question, 1, 10);
    return value ? std::optional<int>(static_cast<int>(*value)) : std::nullopt;
  };
  const auto lanes = [&](const Number& question) -> std::optional<int> {
    const auto value = number(question, 1, 32);
    return value ? std::optional<int>(static_cast<int>(*value)) : std::nullopt;
  };
  return {generation(pcie_generation), lanes(pcie_width), generation(pcie_generation_most), lanes(pcie_width_most),
          generation(pcie_generation_of_card)};
}

std::optional<std::int64_t> Device::pcie_replays() { return number(nvml::pcie_replays, 0, not_available - 1); }

std::optional<Links> Device::links() {
  Links links;
  const auto said = field(field_link_count, 0);
  const unsigned most = said && *said >= 0 && *said <= most_links ? static_cast<unsigned>(*said) : most_links;
  bool told = said.has_value() && *said == 0;
  for (unsigned link = 0; link < most; ++link) {
    int active = -1;
    if (!ask(link_state, static_cast<int>(link), whole_, link, &active)) continue;
    told = true;
    ++links.present;
    if (active != 1) continue;
    ++links.active;
    std::uint32_t version = 0;
    if (!links.version && ask(link_version, static_cast<int>(link), whole_, link, &version) && version > 0 &&
        version < 100)
      links.version = static_cast<int>(version);
    const auto speed = field(field_link_speed, link);
    if (speed && *speed > 0)
      links.bytes_per_second = std::min(links.bytes_per_second.value_or(*speed * 1e6), *speed * 1e6);
  }
  if (!links.bytes_per_second && links.active > 0)
    if (const auto speed = field(field_link_speed_common, 0); speed && *speed > 0)
      links.bytes_per_second = *speed * 1e6;
  if (!told) return std::nullopt;
  return links;
}

std::optional<std::int64_t> Device::field_sum(const std::vector<std::uint32_t>& fields, unsigned scopes) {
  std::optional<std::int64_t> sum;
  for (const std::uint32_t which : fields)
    for (unsigned scope = 0; scope < scopes; ++scope)
      if (const auto count = field(which, scope); count && *count >= 0)
        sum = sum.value_or(0) + static_cast<std::int64_t>(*count);
  return sum;
}

// Up to the Ampere generation the counters of all links together are told; later ones by link.
std::optional<std::int64_t> Device::link_errors() {
  const auto together = field_sum(
      {field_crc_flit_errors, field_crc_data_errors, field_replay_errors, field_recovery_errors, field_ecc_data_errors},
      1);
  if (together) return together;
  const auto present = field(field_link_count, 0);
  const unsigned links =
      present && *present >= 0 && *present <= most_links ? static_cast<unsigned>(*present) : most_links;
  return field_sum({field_link_replays, field_link_recoveries, field_link_crc_errors, field_link_receive_errors,
                    field_link_integrity_errors, field_link_recovery_failed},
                   links);
}

Switch Device::mig() {
  std::uint32_t current = not_available, pending = not_available;
  if (!ask(mig_mode, 0, whole_, &current, &pending)) return {};
  return {truth(current), truth(pending)};
}

int Device::mig_instances() {
  std::uint32_t most = 0;
  if (!ask(mig_most, 0, whole_, &most) || most > 64) return 0;
  int count = 0;
  for (std::uint32_t index = 0; index < most; ++index) {
    Handle found = nullptr;
    // A place without an instance answers "not found", which may change: not remembered.
    if (!lost_ && library_->call(mig_by_index, whole_, index, &found) == Status::success && found != nullptr) ++count;
  }
  return count;
}

std::optional<Attributes> Device::attributes() {
  Attributes found{};
  if (!partition() || !ask(nvml::attributes, 0, own_, &found) || found.multiprocessors == 0 ||
      found.multiprocessors == not_available)
    return std::nullopt;
  return found;
}

}  // namespace vendor::nvml
