// What NVIDIA's runtime says of its devices, as facts.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "core/error.h"
#include "cuda/availability.h"
#include "cuda/management.h"
#include "cuda/presence.h"
#include "gpu/runtime.h"

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#endif

namespace vendor {
namespace {

using assay::Fact;

int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, device),
        "asking for attribute " + std::to_string(which) + " of device " + std::to_string(device));
  return value;
}

// Absent where the driver does not know the attribute.
std::optional<int> maybe(cudaDeviceAttr which, int device) {
  int value = 0;
  if (cudaDeviceGetAttribute(&value, which, device) == cudaSuccess) return value;
  cudaGetLastError();
  return std::nullopt;
}

Fact words(const std::string& name, const std::string& text, const std::string& reason = "") {
  Fact fact;
  fact.name = name;
  fact.text = text;
  fact.reason = reason;
  fact.source = "CUDA runtime";
  return fact;
}

Fact number(const std::string& name, double value, const std::string& unit, const std::string& reason = "") {
  Fact fact = words(name, "", reason);
  fact.value = value;
  fact.unit = unit;
  return fact;
}

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string uuid_text(const cudaUUID_t& uuid, bool slice) {
  std::string text = slice ? "MIG-" : "GPU-";
  for (std::size_t i = 0; i < 16; ++i) {
    std::array<char, 3> two{};
    std::snprintf(two.data(), two.size(), "%02x", static_cast<unsigned>(static_cast<unsigned char>(uuid.bytes[i])));
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += two.data();
  }
  return text;
}

// "00000000:3B:00.0" as the kernel writes it: "0000:3b:00.0".
std::string pci_address(int device) {
  std::array<char, 32> text{};
  if (cudaDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), device) != cudaSuccess) {
    cudaGetLastError();
    return "";
  }
  std::string address = text.data();
  for (char& c : address) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const auto colon = address.find(':');
  if (colon != std::string::npos && colon > 4) address.erase(0, colon - 4);
  return address;
}

std::optional<int> numa_node(const std::string& address) {
  std::FILE* file = std::fopen(("/sys/bus/pci/devices/" + address + "/numa_node").c_str(), "r");
  if (file == nullptr) return std::nullopt;
  int node = -1;
  const bool read = std::fscanf(file, "%d", &node) == 1;
  std::fclose(file);
  return read && node >= 0 ? std::optional<int>(node) : std::nullopt;  // -1: the firmware does not say
}

// First-level cache and shared memory of one multiprocessor together: the CUDA programming guide's table of technical
// specifications by compute capability. No attribute says it.
std::int64_t first_cache_bytes(int architecture) {
  constexpr std::int64_t kibibyte = 1024;
  switch (architecture) {
    case 75:
      return 96 * kibibyte;
    case 80:
    case 87:
      return 192 * kibibyte;
    case 86:
    case 89:
    case 120:
    case 121:
      return 128 * kibibyte;
    case 90:
    case 100:
    case 103:
    case 110:
      return 256 * kibibyte;
    default:
      return 0;
  }
}

std::vector<assay::CacheLevel> caches(int device) {
  std::vector<assay::CacheLevel> levels;
  std::int64_t first = first_cache_bytes(architecture(device));
  if (first == 0) first = attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor, device);
  if (first > 0) levels.push_back({1, first, multiprocessors(device)});
  if (const std::int64_t last = last_cache_bytes(device); last > 0) levels.push_back({2, last, 1});
  return levels;
}

std::string compute_mode(int mode) {
  switch (mode) {
    case cudaComputeModeDefault:
      return "default";
    case cudaComputeModeProhibited:
      return "prohibited";
    case cudaComputeModeExclusive:
    case cudaComputeModeExclusiveProcess:
      return "exclusive";
    default:
      return "mode " + std::to_string(mode);
  }
}

void add_place(std::vector<Fact>& facts, int device) {
  const std::string address = pci_address(device);
  if (address.empty()) return;
  facts.push_back(words("pci_address", address));
  if (const auto node = numa_node(address)) {
    facts.push_back(number("numa_node", *node, "", "the host memory nearest to the card"));
    facts.back().source = "/sys/bus/pci/devices/" + address + "/numa_node";
  }
}

void add_flags(std::vector<Fact>& facts, int device) {
  const auto flag = [&](const std::string& name, cudaDeviceAttr which, const std::string& reason) {
    if (const auto value = maybe(which, device)) facts.push_back(words(name, *value != 0 ? "yes" : "no", reason));
  };
  flag("ecc", cudaDevAttrEccEnabled, "error correction of the device's memory");
  flag("integrated", cudaDevAttrIntegrated, "");
  flag("cooperative_launch", cudaDevAttrCooperativeLaunch, "");
  flag("concurrent_managed_access", cudaDevAttrConcurrentManagedAccess, "");
  flag("memory_pools", cudaDevAttrMemoryPoolsSupported, "");
  flag("run_time_limit", cudaDevAttrKernelExecTimeout, "a watchdog ends kernels that run for seconds");
  if (const auto mode = maybe(cudaDevAttrComputeMode, device)) {
    facts.push_back(
        words("compute_mode", compute_mode(*mode),
              *mode == cudaComputeModeProhibited ? "no program may use the device: nvidia-smi -c DEFAULT" : ""));
  }
  const auto bits = maybe(cudaDevAttrGlobalMemoryBusWidth, device);
  const auto kilohertz = maybe(cudaDevAttrMemoryClockRate, device);
  if (bits && *bits > 0) facts.push_back(number("memory_bus_bits", *bits, "bits"));
  if (kilohertz && *kilohertz > 0) facts.push_back(number("memory_clock_hertz", *kilohertz * 1e3, "hertz"));
  if (bits && *bits > 0 && kilohertz && *kilohertz > 0) {
    // As NVIDIA's own samples work it out: 2 x 2619 MHz x 5120 bits / 8 are 3.35 TB/s, as an H100 SXM is sold.
    facts.push_back(number("memory_peak_bytes_per_second", 2.0 * *kilohertz * 1e3 * *bits / 8, "bytes_per_second",
                           "two transfers in each cycle of the memory clock, over the whole bus"));
  }
  if (const auto engines = maybe(cudaDevAttrAsyncEngineCount, device)) {
    facts.push_back(number("copy_engines", *engines, ""));
  }
#ifdef _WIN32
  flag("tcc_driver", cudaDevAttrTccDriver, "");
#endif
}

// Makes a context, so that a device that cannot be used says so now.
void add_memory(assay::DeviceInfo& info, int device) {
  try {
    use(device);
    const MemoryState state = memory_state();
    info.memory_total = state.total;
    info.memory_available = state.free;
  } catch (const assay::Error& error) {
    Fact fact = words("usable", "no", error.what());
    info.facts.push_back(fact);
  }
}

}  // namespace

Availability availability() {
  DriverAnswer answer;
  cudaDriverGetVersion(&answer.driver_version);
  cudaRuntimeGetVersion(&answer.runtime_version);
  const cudaError_t status = cudaGetDeviceCount(&answer.devices);
  if (status != cudaSuccess) {
    answer.devices = 0;
    cudaGetLastError();
  }
  answer.status = static_cast<int>(status);
  answer.text = std::string(cudaGetErrorString(status)) + " (" + cudaGetErrorName(status) + ")";
  if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES")) {
    answer.hidden = true;
    answer.visible_devices = visible;
  }
  std::error_code failed;
  answer.cards_known = !std::filesystem::is_empty("/proc/driver/nvidia/gpus", failed) && !failed;
  answer.partitioned = std::filesystem::exists("/proc/driver/nvidia/capabilities/gpu0/mig", failed);
  answer.all_prohibited = answer.devices > 0;
  for (int device = 0; device < answer.devices; ++device) {
    if (maybe(cudaDevAttrComputeMode, device) != cudaComputeModeProhibited) answer.all_prohibited = false;
  }
  Availability found = explain(answer);
  if (found.devices > 0) return found;
  // The management library may know what an error number does not tell: which card, and why.
  const Obstacle seen = management_obstacle();
  if (seen.problem.empty()) return found;
  return {0, seen.problem, seen.cure.empty() ? found.cure : seen.cure};
}

int architecture(int device) {
  return 10 * attribute(cudaDevAttrComputeCapabilityMajor, device) +
         attribute(cudaDevAttrComputeCapabilityMinor, device);
}

int multiprocessors(int device) { return attribute(cudaDevAttrMultiProcessorCount, device); }

std::int64_t last_cache_bytes(int device) { return attribute(cudaDevAttrL2CacheSize, device); }

assay::DeviceInfo describe(int device) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, device), "describing device " + std::to_string(device));
  assay::DeviceInfo info;
  info.id = std::string(backend_name) + ":" + std::to_string(device);
  info.backend = backend_name;
  info.vendor = vendor_name;
  info.name = properties.name;
  info.architecture = "sm_" + std::to_string(architecture(device));
  info.memory_total = static_cast<std::int64_t>(properties.totalGlobalMem);
  info.compute_units = multiprocessors(device);
  if (const auto kilohertz = maybe(cudaDevAttrClockRate, device); kilohertz && *kilohertz > 0) {
    info.clock_hertz = *kilohertz * 1e3;
  }
  info.caches = caches(device);
  int version = 0;
  if (cudaDriverGetVersion(&version) == cudaSuccess) info.driver = "CUDA " + version_text(version);
  if (const std::string module = assay::cuda::presence().driver; !module.empty()) {
    info.driver = module + (info.driver.empty() ? "" : " (" + info.driver + ")");
  }
  if (cudaRuntimeGetVersion(&version) == cudaSuccess) info.runtime = "CUDA runtime " + version_text(version);
  // A slice carries its profile in its name: "NVIDIA H100 80GB HBM3 MIG 1g.10gb".
  const bool slice = info.name.find(" MIG ") != std::string::npos;
  info.unique_id = uuid_text(properties.uuid, slice);
  if (slice) info.facts.push_back(words("partition", "MIG slice", "this is a part of a card, and is judged as one"));
  add_place(info.facts, device);
  add_flags(info.facts, device);
  add_memory(info, device);
  return info;
}

#if __has_include(<nvtx3/nvToolsExt.h>)
Range::Range(const std::string& name) { nvtxRangePushA(name.c_str()); }
Range::~Range() { nvtxRangePop(); }
#else
Range::Range(const std::string&) {}
Range::~Range() = default;
#endif

}  // namespace vendor
