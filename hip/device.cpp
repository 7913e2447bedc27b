// What AMD's runtime says of its devices, as facts.
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <optional>

#include "core/error.h"
#include "gpu/runtime.h"
#include "gpu/shared_libraries.h"
#include "gpu/topology.h"
#include "hip/architectures.h"
#include "hip/availability.h"
#include "hip/presence.h"
#include "hip/rocm.h"

namespace vendor {
namespace {

using assay::Fact;

constexpr std::int64_t kibibyte = 1024;
constexpr std::int64_t mebibyte = 1024 * kibibyte;

int attribute(hipDeviceAttribute_t which, int device) {
  int value = 0;
  check(hipDeviceGetAttribute(&value, which, device),
        "asking for attribute " + std::to_string(which) + " of device " + std::to_string(device));
  return value;
}

// Absent where this release of ROCm does not know it.
std::optional<int> told(hipDeviceAttribute_t which, int device) {
  int value = 0;
  if (hipDeviceGetAttribute(&value, which, device) == hipSuccess) return value;
  static_cast<void>(hipGetLastError());
  return std::nullopt;
}

hipDeviceProp_t properties_of(int device) {
  hipDeviceProp_t properties{};
  check(hipGetDeviceProperties(&properties, device), "describing device " + std::to_string(device));
  return properties;
}

Fact words(const std::string& name, const std::string& text, const std::string& reason = "") {
  Fact fact;
  fact.name = name;
  fact.text = text;
  fact.reason = reason;
  fact.source = "HIP runtime";
  return fact;
}

Fact number(const std::string& name, double value, const std::string& unit, const std::string& reason = "") {
  Fact fact = words(name, "", reason);
  fact.value = value;
  fact.unit = unit;
  return fact;
}

// 60443484 is 6.4.43484: HIP counts its own builds in the last five digits.
std::string version_text(int version) {
  return std::to_string(version / 10'000'000) + "." + std::to_string(version / 100'000 % 100) + "." +
         std::to_string(version % 100'000);
}

// "GPU-" and sixteen characters, as ROCm's tools show it; sixteen zeros where the card has none.
std::string unique_id_of(int device) {
  hipUUID told_id{};
  if (hipDeviceGetUuid(&told_id, device) != hipSuccess) {
    static_cast<void>(hipGetLastError());
    return "";
  }
  const std::string id(told_id.bytes, sizeof told_id.bytes);
  const bool printable = std::all_of(id.begin(), id.end(), [](unsigned char c) { return std::isxdigit(c) != 0; });
  const bool is_set = std::any_of(id.begin(), id.end(), [](char c) { return c != '0'; });
  return printable && is_set ? "GPU-" + id : "";
}

std::string pci_address(int device) {
  std::array<char, 32> text{};
  if (hipDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), device) != hipSuccess) {
    static_cast<void>(hipGetLastError());
    return "";
  }
  std::string address = text.data();
  for (char& c : address) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return address;
}

// The vector cache of one compute unit, by AMD's CDNA white papers and RDNA instruction-set guides: no attribute says
// it, and where the kernel driver does, caches() takes that.
std::int64_t first_cache_bytes(int architecture) {
  return architecture >= 940 && architecture < 1000 ? 32 * kibibyte : 16 * kibibyte;
}

std::vector<assay::CacheLevel> caches(int device, const Topology& topology) {
  if (!topology.caches.empty()) return topology.caches;
  std::vector<assay::CacheLevel> levels{{1, first_cache_bytes(architecture(device)), multiprocessors(device)}};
  if (const std::int64_t second = attribute(hipDeviceAttributeL2CacheSize, device); second > 0) {
    levels.push_back({2, second, 1});
  }
  return levels;
}

const char* dialect_text(Fp8Dialect dialect) {
  switch (dialect) {
    case Fp8Dialect::none:
      return "none";
    case Fp8Dialect::fnuz:
      return "FNUZ";
    case Fp8Dialect::ocp:
      return "OCP";
  }
  return "none";
}

void add_memory_rate(std::vector<Fact>& facts, const hipDeviceProp_t& properties, int pools) {
  if (properties.memoryBusWidth <= 0 || properties.memoryClockRate <= 0) return;
  facts.push_back(number("memory_bus_bits", properties.memoryBusWidth, "bits"));
  facts.push_back(number("memory_clock_hertz", properties.memoryClockRate * 1e3, "hertz"));
  // HBM moves two bits a line in each cycle; GDDR's clock counts differently, so nothing is worked out for RDNA.
  if (architecture_number(properties.gcnArchName) >= 1000) return;
  facts.push_back(number("memory_peak_bytes_per_second",
                         2.0 * properties.memoryClockRate * 1e3 * properties.memoryBusWidth / 8 / pools,
                         "bytes_per_second",
                         pools == 1 ? "two transfers in each cycle of the memory clock, over the whole bus"
                                    : "two transfers in each cycle of the memory clock, over this device's 1/" +
                                          std::to_string(pools) + " of the bus"));
}

void add_facts(std::vector<Fact>& facts, const hipDeviceProp_t& properties, const Topology& topology, int device) {
  facts.push_back(words("architecture_features", properties.gcnArchName));
  facts.push_back(number("lanes_per_wavefront", properties.warpSize, ""));
  facts.push_back(words("fp8_dialect", dialect_text(fp8_dialect(architecture(device)))));
  facts.push_back(words("ecc", properties.ECCEnabled != 0 ? "yes" : "no", "error correction of the device's memory"));
  facts.push_back(words("integrated", properties.integrated != 0 ? "yes" : "no"));
  facts.push_back(words("cooperative_launch", properties.cooperativeLaunch != 0 ? "yes" : "no"));
  if (const auto pools = told(hipDeviceAttributeMemoryPoolsSupported, device)) {
    facts.push_back(words("memory_pools", *pools != 0 ? "yes" : "no"));
  }
  if (const auto engines = told(hipDeviceAttributeAsyncEngineCount, device)) {
    facts.push_back(number("copy_engines", *engines, ""));
  }
  add_memory_rate(facts, properties, topology.memory_pools);
  facts.insert(facts.end(), topology.facts.begin(), topology.facts.end());
  for (const char* variable :
       {"HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "HSA_OVERRIDE_GFX_VERSION",
        "HSA_ENABLE_SDMA", "HSA_ENABLE_PEER_SDMA", "HSA_XNACK", "HSA_NO_SCRATCH_RECLAIM", "GPU_MAX_HW_QUEUES"}) {
    const char* value = std::getenv(variable);
    if (value == nullptr) continue;
    facts.push_back(words(std::string("environment_") + variable, value, "changes what programs see of the device"));
    facts.back().source = "environment";
  }
}

// Makes a context, so that a device that cannot be used says so now.
void add_memory(assay::DeviceInfo& info, int device) {
  try {
    use(device);
    const MemoryState state = memory_state();
    info.memory_total = state.total;
    info.memory_available = state.free;
  } catch (const assay::Error& error) {
    info.facts.push_back(words("usable", "no", error.what()));
  }
}

}  // namespace

Availability availability() {
  RuntimeAnswer answer;
  const hipError_t status = hipGetDeviceCount(&answer.devices);
  if (status != hipSuccess) {
    answer.devices = 0;
    static_cast<void>(hipGetLastError());
  }
  answer.status = static_cast<int>(status);
  answer.text = std::string(hipGetErrorString(status)) + " (" + hipGetErrorName(status) + ")";
  for (const char* variable : {"ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"}) {
    if (const char* value = std::getenv(variable)) {
      answer.hiding = variable;
      answer.visible = value;
    }
  }
  const assay::Presence seen = assay::hip::presence();
  answer.cards_known = !seen.cards.empty();
  answer.problem = seen.problem;
  answer.cure = seen.cure;
  return explain(answer);
}

int architecture(int device) { return architecture_number(properties_of(device).gcnArchName); }

int multiprocessors(int device) { return attribute(hipDeviceAttributeMultiprocessorCount, device); }

// The cache before memory: Infinity Cache where there is one. The runtime knows the second level alone.
std::int64_t last_cache_bytes(int device) {
  const Topology topology = topology_of(pci_address(device));
  if (!topology.caches.empty()) return topology.caches.back().bytes * topology.caches.back().instances;
  const int number = architecture(device);
  if (number >= 940 && number < 1000) return 256 * mebibyte;  // MI300's and MI350's data sheets
  return attribute(hipDeviceAttributeL2CacheSize, device);
}

assay::DeviceInfo describe(int device) {
  const hipDeviceProp_t properties = properties_of(device);
  const std::string address = pci_address(device);
  const Topology topology = topology_of(address);
  assay::DeviceInfo info;
  info.id = std::string(backend_name) + ":" + std::to_string(device);
  info.backend = backend_name;
  info.vendor = vendor_name;
  info.name = properties.name;
  const std::string architecture_name = properties.gcnArchName;
  info.architecture = architecture_name.substr(0, architecture_name.find(':'));
  info.memory_total = static_cast<std::int64_t>(properties.totalGlobalMem);
  info.compute_units = properties.multiProcessorCount;
  if (properties.clockRate > 0) info.clock_hertz = properties.clockRate * 1e3;
  info.caches = caches(device, topology);
  const assay::Presence seen = assay::hip::presence();
  info.driver = seen.driver.empty() ? "amdgpu" : "amdgpu " + seen.driver;
  int version = 0;
  if (hipRuntimeGetVersion(&version) == hipSuccess) info.runtime = "HIP runtime " + version_text(version);
  info.unique_id = unique_id_of(device);
  if (!address.empty()) info.facts.push_back(words("pci_address", address));
  if (info.name.find("MI250") != std::string::npos) {
    info.facts.push_back(words("partition", "one of two dies", "this is half of a card, and is judged as one device"));
  }
  add_facts(info.facts, properties, topology, device);
  add_memory(info, device);
  return info;
}

namespace {

struct Roctx {
  int (*push)(const char* name) = nullptr;
  int (*pop)() = nullptr;
};

// The newer profiler's library first (rocprofv3), then the older's. Looked up once, when the first range is named.
const Roctx& roctx() {
  static const Roctx found = [] {
    Roctx result;
    const SharedLibrary library = {
        "ASSAY_ROCTX",
        {"librocprofiler-sdk-roctx.so.1", "librocprofiler-sdk-roctx.so.0", "libroctx64.so.4"},
        {"roctxRangePushA", "roctxRangePop"}};
    if (void* handle = open_library(library, rocm_folders()).handle) {
      result.push = reinterpret_cast<int (*)(const char*)>(dlsym(handle, "roctxRangePushA"));
      result.pop = reinterpret_cast<int (*)()>(dlsym(handle, "roctxRangePop"));
    }
    return result;
  }();
  return found;
}

}  // namespace

Range::Range(const std::string& name) {
  if (roctx().push != nullptr) roctx().push(name.c_str());
}
Range::~Range() {
  if (roctx().pop != nullptr) roctx().pop();
}

}  // namespace vendor
