// Clocks, power, temperatures, memory and modes of one device.
// SPDX-License-Identifier: Apache-2.0
#include "cuda/nvml_device.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace vendor::nvml {
namespace {

// Nothing that is sold comes near these.
constexpr std::int64_t most_megahertz = 50'000;
constexpr std::int64_t most_milliwatts = 20'000'000;
constexpr std::int64_t most_celsius = 150;

constexpr std::uint32_t whole_device = 0;

std::optional<bool> truth(int value) {
  if (value == 0) return false;
  if (value == 1) return true;
  return std::nullopt;
}

bool counted(std::uint64_t value) {
  return value != not_available && value != not_available_long && value < not_available_long / 2;
}

// The kinds are in the order of nvmlValueType_t: double, unsigned int, unsigned long, unsigned long long, long long,
// int, unsigned short.
template <class Value>
double taken(const FieldValue& from) {
  Value value;
  static_assert(sizeof(Value) <= sizeof from.value);
  std::memcpy(&value, from.value, sizeof value);
  if (value == static_cast<Value>(not_available) || value == static_cast<Value>(not_available_long))
    return std::nan("");
  return static_cast<double>(value);
}

double number_in(const FieldValue& value) {
  switch (value.kind) {
    case 0: {
      double exact = 0;
      std::memcpy(&exact, value.value, sizeof exact);
      return exact;
    }
    case 1:
      return taken<std::uint32_t>(value);
    case 2:
    case 3:
      return taken<std::uint64_t>(value);
    case 4:
      return taken<std::int64_t>(value);
    case 5:
      return taken<std::int32_t>(value);
    case 6:
      return taken<std::uint16_t>(value);
    default:
      return std::nan("");
  }
}

}  // namespace

std::string real_text(const std::string& said) {
  std::string clean;
  for (const char c : said)
    if (std::isprint(static_cast<unsigned char>(c)) != 0) clean += c;
  while (!clean.empty() && clean.back() == ' ') clean.pop_back();
  std::string key;
  for (const char c : clean)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      key += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const char* empty : {"", "na", "notavailable", "notsupported", "unknown", "unknownerror", "err", "none"})
    if (key == empty) return "";
  if (key.find_first_not_of('0') == std::string::npos) return "";
  return clean;
}

std::string plain_pci(const std::string& written) {
  unsigned domain = 0, bus = 0, device = 0, function = 0;
  const bool with_domain = std::count(written.begin(), written.end(), ':') == 2;
  if (with_domain ? std::sscanf(written.c_str(), "%x:%x:%x.%x", &domain, &bus, &device, &function) < 3
                  : std::sscanf(written.c_str(), "%x:%x.%x", &bus, &device, &function) < 2)
    return "";
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%04x:%02x:%02x.%x", domain, bus, device, function);
  return text.data();
}

std::string throttle_words(std::uint64_t reasons) {
  struct Word {
    std::uint64_t bit;
    const char* text;
  };
  constexpr Word known[] = {{reason_power_cap, "power cap"},
                            {reason_power_brake, "power brake"},
                            {reason_thermal_by_software, "thermal (software)"},
                            {reason_thermal_by_hardware, "thermal (hardware)"},
                            {reason_sync_boost, "sync boost"},
                            {reason_display_clocks, "display clocks"}};
  std::string words;
  const auto add = [&](const std::string& word) { words += (words.empty() ? "" : ",") + word; };
  std::uint64_t left = reasons & ~(reason_idle | reason_applications_clocks);
  for (const Word& word : known) {
    if ((left & word.bit) == 0) continue;
    add(word.text);
    left &= ~word.bit;
  }
  // The general bit comes along with the two that say why.
  if ((reasons & (reason_thermal_by_hardware | reason_power_brake)) != 0) left &= ~reason_hardware_slowdown;
  if ((left & reason_hardware_slowdown) != 0) {
    add("hardware slowdown");
    left &= ~reason_hardware_slowdown;
  }
  if (left != 0) {
    std::array<char, 40> text{};
    std::snprintf(text.data(), text.size(), "reason 0x%llx", static_cast<unsigned long long>(left));
    add(text.data());
  }
  return words.empty() ? "none" : words;
}

Device::Device(std::shared_ptr<const Library> library, Handle whole, Handle own)
    : library_(std::move(library)), whole_(whole), own_(own) {}

// A refusal that will not change is remembered; a passing failure is not.
bool Device::note(Status status, const char* question, int variant) {
  switch (status) {
    case Status::success:
      return true;
    case Status::gpu_is_lost:
    case Status::reset_required:
      lost_ = status;
      return false;
    case Status::not_supported:
    case Status::function_not_found:
    case Status::no_permission:
    case Status::invalid_argument:
    case Status::argument_version_mismatch:
    case Status::deprecated:
    case Status::not_found:
      refused_.insert({question, variant});
      return false;
    case Status::uninitialised:
    case Status::insufficient_size:
    case Status::insufficient_power:
    case Status::driver_not_loaded:
    case Status::timeout:
    case Status::interrupt_trouble:
    case Status::library_not_found:
    case Status::corrupted_inforom:
    case Status::operating_system:
    case Status::version_mismatch:
    case Status::in_use:
    case Status::out_of_memory:
    case Status::no_data:
    case Status::not_ready:
    case Status::gpu_not_found:
    case Status::unknown:
      return false;
  }
  return false;  // a status of a newer library
}

std::optional<std::int64_t> Device::number(const Number& question, std::int64_t least, std::int64_t most) {
  std::uint32_t value = not_available;
  if (!ask(question, 0, whole_, &value) || value == not_available) return std::nullopt;
  const auto wide = static_cast<std::int64_t>(value);
  if (wide < least || wide > most) return std::nullopt;
  return wide;
}

std::string Device::text(const Text& question) {
  std::array<char, 128> buffer{};
  if (!ask(question, 0, whole_, buffer.data(), static_cast<std::uint32_t>(buffer.size() - 1))) return "";
  return real_text(buffer.data());
}

std::string Device::pci() {
  PciInfo info{};
  if (!ask(pci_info, 0, whole_, &info)) return "";
  info.id[sizeof info.id - 1] = '\0';
  return plain_pci(info.id);
}

std::string Device::uuid() {
  std::array<char, 128> buffer{};
  if (!ask(nvml::uuid, 0, own_, buffer.data(), static_cast<std::uint32_t>(buffer.size() - 1))) return "";
  return real_text(buffer.data());
}

std::optional<double> Device::clock(const Call<Handle, ClockKind, std::uint32_t*>& question, ClockKind kind) {
  std::uint32_t megahertz = not_available;
  if (!ask(question, static_cast<int>(kind), whole_, kind, &megahertz)) return std::nullopt;
  if (megahertz == 0 || megahertz > most_megahertz) return std::nullopt;
  return megahertz * 1e6;
}

std::optional<double> Device::clock_hertz(ClockKind kind) { return clock(clock_now, kind); }
std::optional<double> Device::clock_most_hertz(ClockKind kind) { return clock(clock_most, kind); }
std::optional<double> Device::clock_set_hertz(ClockKind kind) { return clock(clock_set, kind); }

std::optional<std::uint64_t> Device::clock_reasons() {
  std::uint64_t reasons = not_available_long;
  if (!ask(nvml::clock_reasons, 0, whole_, &reasons) && !ask(clock_reasons_before, 0, whole_, &reasons))
    return std::nullopt;
  if (!counted(reasons)) return std::nullopt;
  return reasons;
}

std::optional<double> Device::watts(const Number& question) {
  const auto milliwatts = number(question, 1, most_milliwatts);
  if (!milliwatts) return std::nullopt;
  return static_cast<double>(*milliwatts) * 1e-3;
}

// From the Ampere generation on (GA100 apart), the plain question answers with the mean of a second, which smears short
// cases over each other.
std::optional<double> Device::power_watts() {
  const auto milliwatts = field(field_power_instant, whole_device);
  if (milliwatts && *milliwatts >= 1 && *milliwatts <= most_milliwatts) return *milliwatts * 1e-3;
  return watts(power_usage);
}

PowerLimits Device::power_limits() {
  PowerLimits limits;
  limits.enforced = watts(power_limit);
  limits.by_default = watts(power_limit_default);
  std::uint32_t least = not_available, most = not_available;
  if (ask(power_limit_range, 0, whole_, &least, &most)) {
    if (least > 0 && least <= most_milliwatts) limits.least = least * 1e-3;
    if (most > 0 && most <= most_milliwatts) limits.most = most * 1e-3;
  }
  return limits;
}

std::optional<double> Device::energy_joules() {
  std::uint64_t millijoules = not_available_long;
  if (!ask(energy, 0, whole_, &millijoules) || !counted(millijoules) || millijoules == 0) return std::nullopt;
  return static_cast<double>(millijoules) * 1e-3;
}

std::optional<double> Device::temperature_celsius() {
  std::uint32_t celsius = not_available;
  if (!ask(temperature, 0, whole_, Sensor::gpu, &celsius)) return std::nullopt;
  if (celsius == 0 || celsius > most_celsius) return std::nullopt;
  return celsius;
}

std::optional<double> Device::memory_temperature_celsius() {
  const auto celsius = field(field_memory_temperature, whole_device);
  if (!celsius || *celsius <= 0 || *celsius > most_celsius) return std::nullopt;  // boards without a sensor say 0
  return celsius;
}

std::optional<double> Device::busy() {
  Utilisation now{not_available, not_available};
  if (!ask(utilisation, 0, whole_, &now) || now.compute > 100) return std::nullopt;
  return now.compute * 0.01;
}

std::optional<std::int64_t> Device::memory_used() {
  MemoryApart apart{};
  apart.version = version_of<MemoryApart>(2);
  if (ask(memory_apart, 0, own_, &apart) && counted(apart.used) && apart.used <= apart.total)
    return static_cast<std::int64_t>(apart.used);
  Memory together{};
  if (ask(memory, 0, own_, &together) && counted(together.used) && together.used <= together.total)
    return static_cast<std::int64_t>(together.used);
  return std::nullopt;
}

std::optional<std::int64_t> Device::memory_total() {
  Memory together{};
  if (!ask(memory, 0, own_, &together) || !counted(together.total) || together.total == 0) return std::nullopt;
  return static_cast<std::int64_t>(together.total);
}

std::optional<std::int64_t> Device::memory_reserved() {
  MemoryApart apart{};
  apart.version = version_of<MemoryApart>(2);
  if (!ask(memory_apart, 0, own_, &apart) || !counted(apart.reserved) || apart.reserved > apart.total)
    return std::nullopt;
  return static_cast<std::int64_t>(apart.reserved);
}

std::optional<double> Device::field(std::uint32_t field, std::uint32_t scope) {
  const auto variant = static_cast<int>(field * 64 + scope);  // at most 36 links
  FieldValue value{};
  value.field = field;
  value.scope = scope;
  value.status = Status::not_supported;
  if (!ask(field_values, variant, whole_, 1, &value)) return std::nullopt;
  if (!note(value.status, field_values.name, variant)) return std::nullopt;
  const double number = number_in(value);
  if (!std::isfinite(number)) return std::nullopt;
  return number;
}

std::optional<ComputeMode> Device::compute_mode() {
  ComputeMode mode{};
  if (!ask(nvml::compute_mode, 0, whole_, &mode)) return std::nullopt;
  if (mode < ComputeMode::shared || mode > ComputeMode::exclusive_process) return std::nullopt;
  return mode;
}

std::optional<bool> Device::persistence() {
  int mode = -1;
  if (!ask(nvml::persistence, 0, whole_, &mode)) return std::nullopt;
  return truth(mode);
}

std::optional<Virtualisation> Device::virtualisation() {
  Virtualisation mode{};
  if (!ask(nvml::virtualisation, 0, whole_, &mode)) return std::nullopt;
  if (mode < Virtualisation::none || mode > Virtualisation::host_of_shared) return std::nullopt;
  return mode;
}

std::optional<bool> Device::licensed() {
  Licences found{};
  if (!ask(licences, 0, whole_, &found) || found.supported != 1 || found.count == 0) return std::nullopt;
  const auto count = std::min<std::size_t>(found.count, std::size(found.licence));
  return std::any_of(found.licence, found.licence + count, [](const Licence& licence) { return licence.state == 1; });
}

std::optional<Device::Fabric> Device::fabric() {
  FabricInfoApart apart{};
  apart.version = version_of<FabricInfoApart>(2);
  FabricInfo together{};
  unsigned state = 0;
  Status status{};
  if (ask(fabric_apart, 0, whole_, &apart)) {
    state = apart.state;
    status = apart.status;
  } else if (ask(nvml::fabric, 0, whole_, &together)) {
    state = together.state;
    status = together.status;
  } else {
    return std::nullopt;
  }
  if (state > static_cast<unsigned>(FabricState::completed)) return std::nullopt;
  return Fabric{static_cast<FabricState>(state), status};
}

}  // namespace vendor::nvml
