// The facts that only the management library knows, and what is remarkable about them.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdio>
#include <exception>
#include <string>

#include "cuda/nvml_device.h"
#include "cuda/nvml_events.h"
#include "cuda/nvml_order.h"
#include "cuda/nvml_processes.h"
#include "gpu/telemetry.h"

namespace vendor {
namespace {

using assay::Fact;
using nvml::Device;

// The lines of one device, in the order in which they are read.
class Sheet {
 public:
  explicit Sheet(std::string source) : source_(std::move(source)) {}

  void number(const std::string& name, std::optional<double> value, const std::string& unit,
              const std::string& reason = "") {
    if (value) facts_.push_back({name, value, unit, "", reason, source_});
  }
  void count(const std::string& name, std::optional<std::int64_t> value, const std::string& reason = "") {
    if (value) number(name, static_cast<double>(*value), "", reason);
  }
  void text(const std::string& name, const std::string& text, const std::string& reason = "") {
    if (!text.empty()) facts_.push_back({name, std::nullopt, "", text, reason, source_});
  }
  void on_off(const std::string& name, std::optional<bool> value, const std::string& reason = "") {
    if (value) text(name, *value ? "on" : "off", reason);
  }
  std::vector<Fact> take() { return std::move(facts_); }

 private:
  std::string source_;
  std::vector<Fact> facts_;
};

std::string whole_number(double value) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.0f", value);
  return text.data();
}

std::string system_text(const Device& device, const nvml::Call<char*, std::uint32_t>& question) {
  std::array<char, 128> buffer{};
  if (device.library().call(question, buffer.data(), static_cast<std::uint32_t>(buffer.size() - 1)) !=
      nvml::Status::success)
    return "";
  return nvml::real_text(buffer.data());
}

void add_identity(Device& device, Sheet& sheet) {
  sheet.text("driver_version", system_text(device, nvml::driver_version));
  int version = 0;
  if (device.library().call(nvml::driver_cuda_version, &version) == nvml::Status::success && version >= 1000)
    sheet.text("driver_cuda_version", std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10));
  sheet.text("vbios_version", device.text(nvml::vbios));
  sheet.text("board_part_number", device.text(nvml::part_number));
  sheet.text("board_serial", device.text(nvml::serial));
}

void add_partition(Device& device, Sheet& sheet) {
  const nvml::Switch mig = device.mig();
  if (device.partition()) {
    sheet.text("mig", "a slice of a partitioned card",
               "it is judged as what it is: the card's own figures do not apply");
    if (const auto slice = device.attributes()) {
      sheet.count("mig_multiprocessors", static_cast<std::int64_t>(slice->multiprocessors));
      sheet.count("mig_gpu_slices", static_cast<std::int64_t>(slice->gpu_slices));
      sheet.count("mig_compute_slices", static_cast<std::int64_t>(slice->compute_slices));
      sheet.count("mig_copy_engines", static_cast<std::int64_t>(slice->copy_engines));
      sheet.number("mig_memory_bytes", static_cast<double>(slice->memory_mebibytes) * 1024 * 1024, "bytes");
    }
  } else if (mig.current.value_or(false)) {
    const int instances = device.mig_instances();
    sheet.text("mig", "on", std::to_string(instances) + (instances == 1 ? " instance" : " instances"));
  } else {
    sheet.on_off("mig", mig.current);
  }
  if (mig.pending && mig.current && *mig.pending != *mig.current)
    sheet.on_off("mig_after_reset", mig.pending, "changes at the next reset");
}

void add_virtualisation(Device& device, Sheet& sheet) {
  const auto mode = device.virtualisation();
  if (!mode) return;
  switch (*mode) {
    case nvml::Virtualisation::none:
      sheet.text("virtualisation", "none");
      break;
    case nvml::Virtualisation::passthrough:
      sheet.text("virtualisation", "passthrough");
      break;
    case nvml::Virtualisation::virtual_gpu:
      sheet.text("virtualisation", "vGPU", "a share of a card, sold under the card's name");
      break;
    case nvml::Virtualisation::host_of_virtual:
    case nvml::Virtualisation::host_of_shared:
      sheet.text("virtualisation", "host", "this machine lends parts of the card to virtual machines");
      break;
  }
  if (*mode == nvml::Virtualisation::virtual_gpu)
    if (const auto licensed = device.licensed())
      sheet.text("vgpu_licence", *licensed ? "valid" : "none",
                 *licensed ? "" : "an unlicensed vGPU is slowed down after some minutes; tell the provider");
}

void add_modes(Device& device, Sheet& sheet) {
  if (const auto mode = device.compute_mode()) switch (*mode) {
      case nvml::ComputeMode::shared:
        sheet.text("compute_mode", "default");
        break;
      case nvml::ComputeMode::exclusive_thread:
      case nvml::ComputeMode::exclusive_process:
        sheet.text("compute_mode", "exclusive", "one process at a time may use it");
        break;
      case nvml::ComputeMode::prohibited:
        sheet.text("compute_mode", "prohibited", "no process may compute on it: nvidia-smi --compute-mode=0 as root");
        break;
    }
  const auto persistence = device.persistence();
  sheet.on_off("persistence_mode", persistence,
               persistence.value_or(true) ? "" : "the driver unloads between programs: each start takes seconds");
  if (const auto fabric = device.fabric()) {
    const std::string missing = "until the fabric manager has set up NVSwitch, CUDA fails with error 802";
    switch (fabric->state) {
      case nvml::FabricState::not_supported:
        break;  // a card without NVSwitch
      case nvml::FabricState::not_started:
        sheet.text("fabric", "not registered", missing);
        break;
      case nvml::FabricState::in_progress:
        sheet.text("fabric", "registering", missing);
        break;
      case nvml::FabricState::completed:
        sheet.text("fabric", fabric->status == nvml::Status::success ? "registered" : "registration failed",
                   fabric->status == nvml::Status::success ? "" : nvml::words(fabric->status));
        break;
    }
  }
  nvml::ConfidentialState state{};
  if (device.library().call(nvml::confidential_state, &state) == nvml::Status::success && state.feature <= 1)
    sheet.text("confidential_computing", state.feature == 1 ? "on" : "off",
               state.feature == 1 ? "copies between host and device are encrypted and much slower" : "");
}

void add_power(Device& device, Sheet& sheet) {
  const nvml::PowerLimits limits = device.power_limits();
  std::string reason;
  if (limits.enforced && limits.by_default && *limits.enforced < 0.95 * *limits.by_default)
    reason = "below the card's default of " + whole_number(*limits.by_default) + " W";
  sheet.number("power_limit_watts", limits.enforced, "watts", reason);
  sheet.number("power_limit_default_watts", limits.by_default, "watts");
  sheet.number("power_limit_least_watts", limits.least, "watts");
  sheet.number("power_limit_most_watts", limits.most, "watts");

  const auto most = device.clock_most_hertz(nvml::ClockKind::multiprocessor);
  sheet.number("clock_most_hertz", most, "hertz");
  sheet.number("memory_clock_most_hertz", device.clock_most_hertz(nvml::ClockKind::memory), "hertz");
  const auto reasons = device.clock_reasons();
  const auto set = device.clock_set_hertz(nvml::ClockKind::graphics);
  if (set && most && *set < 0.98 * *most && reasons && (*reasons & nvml::reason_applications_clocks) != 0)
    sheet.number("clock_set_hertz", set, "hertz", "somebody holds the clock below the card's highest");
}

void add_memory_health(Device& device, Sheet& sheet) {
  const nvml::Switch ecc = device.ecc();
  sheet.on_off("ecc", ecc.current);
  if (ecc.pending && ecc.current && *ecc.pending != *ecc.current)
    sheet.on_off("ecc_after_reset", ecc.pending, "changes at the next reset");
  const nvml::Counts now = device.ecc_errors(nvml::CounterKind::since_boot);
  const nvml::Counts ever = device.ecc_errors(nvml::CounterKind::lifetime);
  const auto alarming = [](std::optional<std::int64_t> count, const char* words) {
    return count.value_or(0) > 0 ? std::string(words) : std::string();
  };
  sheet.count("ecc_uncorrected_since_boot", now.uncorrected,
              alarming(now.uncorrected, "memory errors that could not be corrected: do not rent this card"));
  sheet.count("ecc_corrected_since_boot", now.corrected);
  sheet.count("ecc_uncorrected_ever", ever.uncorrected,
              alarming(ever.uncorrected, "memory errors that could not be corrected, in the card's life"));
  sheet.count("ecc_corrected_ever", ever.corrected);
  if (const auto rows = device.remapped_rows()) {
    sheet.count("rows_remapped_corrected", rows->corrected);
    sheet.count("rows_remapped_uncorrected", rows->uncorrected,
                alarming(rows->uncorrected, "rows of memory were replaced after uncorrectable errors"));
    sheet.text("row_remap_pending", rows->pending ? "yes" : "no",
               rows->pending ? "a bad row of memory waits for a reset of the GPU" : "");
    sheet.text("row_remap_failed", rows->failed ? "yes" : "no",
               rows->failed ? "the card has no spare rows left: it is to be replaced" : "");
  }
  if (const auto pages = device.retired_pages()) {
    sheet.count("pages_retired", pages);
    const bool pending = device.retirement_pending().value_or(false);
    if (pending) sheet.text("page_retirement_pending", "yes", "a bad page of memory waits for a reset of the GPU");
  }
}

void add_links(Device& device, Sheet& sheet) {
  const nvml::Pcie pcie = device.pcie();
  const auto wide = [](std::optional<int> value) { return value ? std::optional<std::int64_t>(*value) : std::nullopt; };
  sheet.count("pcie_generation_most", wide(pcie.generation_most),
              pcie.generation_most && pcie.generation_of_card && *pcie.generation_most < *pcie.generation_of_card
                  ? "the slot holds back a card of generation " + std::to_string(*pcie.generation_of_card)
                  : "");
  sheet.count("pcie_width", wide(pcie.width),
              pcie.width && pcie.width_most && *pcie.width < *pcie.width_most
                  ? "fewer lanes than the " + std::to_string(*pcie.width_most) + " of card and slot"
                  : "");
  sheet.count("pcie_width_most", wide(pcie.width_most));
  sheet.count("pcie_replays", device.pcie_replays());
  const auto links = device.links();
  if (!links || links->present == 0) return;
  sheet.count("nvlink_active", static_cast<std::int64_t>(links->active),
              links->active < links->present ? std::to_string(links->present - links->active) + " of " +
                                                   std::to_string(links->present) + " links are down or lead nowhere"
                                             : "");
  if (links->version) sheet.count("nvlink_version_code", static_cast<std::int64_t>(*links->version));
  sheet.number("nvlink_link_bytes_per_second", links->bytes_per_second, "bytes_per_second");
  const auto errors = device.link_errors();
  sheet.count("nvlink_errors", errors);
}

void add_others(Device& device, Sheet& sheet) {
  const auto used = device.memory_used();
  const auto listed = nvml::processes(device);
  // Contexts and the driver's own share stay well below it.
  constexpr std::int64_t remarkable = std::int64_t{1} << 30;
  sheet.number("memory_in_use_bytes", used ? std::optional<double>(static_cast<double>(*used)) : std::nullopt, "bytes",
               used.value_or(0) > remarkable && listed && listed->empty()
                   ? "no process is visible that holds it: another container or tenant may be at work"
                   : "");
  if (const auto reserved = device.memory_reserved())
    sheet.number("memory_reserved_bytes", static_cast<double>(*reserved), "bytes");
  if (!listed) return;
  const Family family;
  const auto strangers = family.strangers(*listed);
  sheet.count("other_processes", strangers ? std::optional<std::int64_t>(*strangers) : std::nullopt,
              strangers.value_or(0) > 0 ? "programs that are not part of this run use the GPU" : "");
}

std::string without_prefix(const std::string& uuid) {
  return uuid.rfind("GPU-", 0) == 0 || uuid.rfind("MIG-", 0) == 0 ? uuid.substr(4) : uuid;
}

std::vector<Fact> ask(const std::string& pci, const std::string& uuid) {
  const nvml::Library::Opened opened = nvml::Library::open();
  if (opened.library == nullptr) return {{"management_library", std::nullopt, "", "", opened.reason, ""}};
  const std::string source = "NVML " + opened.library->path();
  const auto device = nvml::find_device(opened.library, {pci, without_prefix(uuid)});
  if (device == nullptr)
    return {{"management_library", std::nullopt, "", "", "the management library does not know the device at " + pci,
             source}};
  Sheet sheet(source);
  sheet.text("management_library", opened.library->path() + " " + system_text(*device, nvml::library_version));
  add_identity(*device, sheet);
  add_partition(*device, sheet);
  add_virtualisation(*device, sheet);
  add_modes(*device, sheet);
  add_power(*device, sheet);
  add_memory_health(*device, sheet);
  add_links(*device, sheet);
  add_others(*device, sheet);
  if (device->lost()) sheet.text("device_state", "lost", nvml::words(*device->lost()));
  return sheet.take();
}

}  // namespace

std::vector<Fact> management_facts(const std::string& pci, const std::string& uuid) {
  try {
    return ask(pci, uuid);
  } catch (const std::exception& error) {
    return {{"management_library", std::nullopt, "", "", std::string("could not be asked: ") + error.what(), ""}};
  }
}

}  // namespace vendor
