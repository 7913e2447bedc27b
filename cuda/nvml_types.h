// The management library's types and prototypes, as far as they are used here.
// SPDX-License-Identifier: Apache-2.0
//
// Written from public facts, without the vendor's header: names, argument orders, enumerator values and struct layouts
// as in NVIDIA's "NVML API Reference Guide" (https://docs.nvidia.com/deploy/nvml-api/) and in the generated Go binding
// https://github.com/NVIDIA/go-nvml (pkg/nvml/const.go, types_gen.go; Apache-2.0).
#pragma once

#include <cstddef>
#include <cstdint>

namespace vendor::nvml {

struct DeviceObject;
struct EventSetObject;
using Handle = DeviceObject*;
using EventSet = EventSetObject*;

enum class Status : int {
  success = 0,
  uninitialised = 1,
  invalid_argument = 2,
  not_supported = 3,
  no_permission = 4,
  not_found = 6,
  insufficient_size = 7,
  insufficient_power = 8,
  driver_not_loaded = 9,
  timeout = 10,
  interrupt_trouble = 11,
  library_not_found = 12,
  function_not_found = 13,
  corrupted_inforom = 14,
  gpu_is_lost = 15,
  reset_required = 16,
  operating_system = 17,
  version_mismatch = 18,
  in_use = 19,
  out_of_memory = 20,
  no_data = 21,
  argument_version_mismatch = 25,
  deprecated = 26,
  not_ready = 27,
  gpu_not_found = 28,
  unknown = 999,
};

// What the library writes where it has no number.
inline constexpr std::uint32_t not_available = 0xFFFFFFFF;
inline constexpr std::uint64_t not_available_long = 0xFFFFFFFFFFFFFFFF;

enum class ClockKind : int { graphics = 0, multiprocessor = 1, memory = 2 };
enum class Sensor : int { gpu = 0 };
enum class MemoryError : int { corrected = 0, uncorrected = 1 };
enum class CounterKind : int { since_boot = 0, lifetime = 1 };
enum class Retirement : int { many_single_bit = 0, double_bit = 1 };
enum class ComputeMode : int { shared = 0, exclusive_thread = 1, prohibited = 2, exclusive_process = 3 };
enum class Virtualisation : int { none = 0, passthrough = 1, virtual_gpu = 2, host_of_virtual = 3, host_of_shared = 4 };
enum class FabricState : int { not_supported = 0, not_started = 1, in_progress = 2, completed = 3 };

// Why the clock is not higher.
enum : std::uint64_t {
  reason_idle = 0x1,
  reason_applications_clocks = 0x2,
  reason_power_cap = 0x4,
  reason_hardware_slowdown = 0x8,
  reason_sync_boost = 0x10,
  reason_thermal_by_software = 0x20,
  reason_thermal_by_hardware = 0x40,
  reason_power_brake = 0x80,
  reason_display_clocks = 0x100,
};

inline constexpr std::uint64_t event_critical_xid = 0x8;

// Numbers of the fields that are asked by nvmlDeviceGetFieldValues; those with "link" take the link as their scope.
enum : std::uint32_t {
  field_crc_flit_errors = 38,  // all links together, as are the three below and field_ecc_data_errors
  field_crc_data_errors = 45,
  field_replay_errors = 52,
  field_recovery_errors = 59,
  field_memory_temperature = 82,
  field_link_speed_common = 90,  // MB/s
  field_link_count = 91,
  field_ecc_data_errors = 160,
  field_link_replays = 161,
  field_link_recoveries = 162,
  field_link_crc_errors = 163,
  field_link_speed = 164,  // MB/s
  field_power_instant = 186,
  field_link_receive_errors = 208,
  field_link_integrity_errors = 211,
  field_link_recovery_failed = 214,
};

inline constexpr unsigned most_links = 36;

struct PciInfo {
  char legacy_id[16];
  std::uint32_t domain;
  std::uint32_t bus;
  std::uint32_t device;
  std::uint32_t device_and_vendor;  // the vendor in the low half
  std::uint32_t subsystem;
  char id[32];
};

struct Memory {
  std::uint64_t total;
  std::uint64_t free;
  std::uint64_t used;  // what the driver keeps for itself is included
};

struct MemoryApart {  // the second version, which tells what the driver keeps for itself apart
  std::uint32_t version;
  std::uint64_t total;
  std::uint64_t reserved;
  std::uint64_t free;
  std::uint64_t used;
};

struct Utilisation {
  std::uint32_t compute;  // percent
  std::uint32_t memory;
};

struct FieldValue {
  std::uint32_t field;
  std::uint32_t scope;
  std::int64_t timestamp;
  std::int64_t latency;
  std::uint32_t kind;  // see number() in nvml_device.cpp
  Status status;
  unsigned char value[8];
};

struct Attributes {
  std::uint32_t multiprocessors;
  std::uint32_t copy_engines;
  std::uint32_t decoders;
  std::uint32_t encoders;
  std::uint32_t jpeg_engines;
  std::uint32_t flow_engines;
  std::uint32_t gpu_slices;
  std::uint32_t compute_slices;
  std::uint64_t memory_mebibytes;
};

struct EventData {
  Handle device;
  std::uint64_t kind;
  std::uint64_t data;  // the Xid
  std::uint32_t gpu_instance;
  std::uint32_t compute_instance;
};

struct FabricInfo {
  unsigned char cluster[16];
  Status status;
  std::uint32_t clique;
  unsigned char state;
};

struct FabricInfoApart {  // the second version
  std::uint32_t version;
  unsigned char cluster[16];
  Status status;
  std::uint32_t clique;
  unsigned char state;
  std::uint32_t health;
};

struct ConfidentialState {
  std::uint32_t environment;  // 0 unavailable, 1 simulated, 2 production
  std::uint32_t feature;      // 1 where it is on
  std::uint32_t tools;
};

struct LicenceExpiry {
  std::uint32_t year;
  std::uint16_t month, day, hour, minute, second;
  std::uint8_t status;
};

struct Licence {
  std::int32_t feature;
  std::uint32_t state;  // 1 where it is licensed
  char info[128];
  char product[128];
  std::uint32_t enabled;
  LicenceExpiry expiry;
};

struct Licences {
  std::int32_t supported;
  std::uint32_t count;
  Licence licence[3];
};

// Sizes on a 64-bit machine; a struct of another size would be written past its end.
static_assert(sizeof(PciInfo) == 68 && offsetof(PciInfo, id) == 36);
static_assert(sizeof(Memory) == 24 && sizeof(MemoryApart) == 40 && sizeof(Utilisation) == 8);
static_assert(sizeof(FieldValue) == 40 && offsetof(FieldValue, value) == 32);
static_assert(sizeof(Attributes) == 40 && sizeof(EventData) == 32);
static_assert(sizeof(FabricInfo) == 28 && sizeof(FabricInfoApart) == 36);
static_assert(sizeof(ConfidentialState) == 12 && sizeof(LicenceExpiry) == 16);
static_assert(sizeof(Licence) == 284 && sizeof(Licences) == 860);

// A struct that says its version holds its size in the low bytes and the version in the highest.
template <class Struct>
constexpr std::uint32_t version_of(std::uint32_t version) {
  return static_cast<std::uint32_t>(sizeof(Struct)) | version << 24;
}

// A function of the library: its name, and how it is called.
template <class Function>
struct Symbol {
  const char* name;
};
template <class... Arguments>
using Call = Symbol<Status(Arguments...)>;
using Number = Call<Handle, std::uint32_t*>;
using Text = Call<Handle, char*, std::uint32_t>;

inline constexpr Call<> initialise{"nvmlInit_v2"};
inline constexpr Call<> shut_down{"nvmlShutdown"};
inline constexpr Call<char*, std::uint32_t> driver_version{"nvmlSystemGetDriverVersion"};
inline constexpr Call<char*, std::uint32_t> library_version{"nvmlSystemGetNVMLVersion"};
inline constexpr Call<int*> driver_cuda_version{"nvmlSystemGetCudaDriverVersion_v2"};
inline constexpr Call<ConfidentialState*> confidential_state{"nvmlSystemGetConfComputeState"};

inline constexpr Call<std::uint32_t*> device_count{"nvmlDeviceGetCount_v2"};
inline constexpr Call<std::uint32_t, Handle*> by_index{"nvmlDeviceGetHandleByIndex_v2"};
inline constexpr Call<const char*, Handle*> by_pci{"nvmlDeviceGetHandleByPciBusId_v2"};
inline constexpr Call<const char*, Handle*> by_uuid{"nvmlDeviceGetHandleByUUID"};
inline constexpr Call<Handle, PciInfo*> pci_info{"nvmlDeviceGetPciInfo_v3"};

inline constexpr Text name{"nvmlDeviceGetName"};
inline constexpr Text uuid{"nvmlDeviceGetUUID"};
inline constexpr Text serial{"nvmlDeviceGetSerial"};
inline constexpr Text part_number{"nvmlDeviceGetBoardPartNumber"};
inline constexpr Text vbios{"nvmlDeviceGetVbiosVersion"};

inline constexpr Call<Handle, ClockKind, std::uint32_t*> clock_now{"nvmlDeviceGetClockInfo"};
inline constexpr Call<Handle, ClockKind, std::uint32_t*> clock_most{"nvmlDeviceGetMaxClockInfo"};
inline constexpr Call<Handle, ClockKind, std::uint32_t*> clock_set{"nvmlDeviceGetApplicationsClock"};
inline constexpr Call<Handle, std::uint64_t*> clock_reasons{"nvmlDeviceGetCurrentClocksEventReasons"};
inline constexpr Call<Handle, std::uint64_t*> clock_reasons_before{"nvmlDeviceGetCurrentClocksThrottleReasons"};
inline constexpr Number power_usage{"nvmlDeviceGetPowerUsage"};  // milliwatts, as are the limits
inline constexpr Number power_limit{"nvmlDeviceGetEnforcedPowerLimit"};
inline constexpr Number power_limit_default{"nvmlDeviceGetPowerManagementDefaultLimit"};
inline constexpr Call<Handle, std::uint32_t*, std::uint32_t*> power_limit_range{
    "nvmlDeviceGetPowerManagementLimitConstraints"};
inline constexpr Call<Handle, std::uint64_t*> energy{"nvmlDeviceGetTotalEnergyConsumption"};  // millijoules
inline constexpr Call<Handle, Sensor, std::uint32_t*> temperature{"nvmlDeviceGetTemperature"};
inline constexpr Call<Handle, Utilisation*> utilisation{"nvmlDeviceGetUtilizationRates"};
inline constexpr Call<Handle, Memory*> memory{"nvmlDeviceGetMemoryInfo"};
inline constexpr Call<Handle, MemoryApart*> memory_apart{"nvmlDeviceGetMemoryInfo_v2"};
inline constexpr Call<Handle, int, FieldValue*> field_values{"nvmlDeviceGetFieldValues"};

// The entries' size depends on the driver, see processes() in nvml_processes.cpp.
using Processes = Call<Handle, std::uint32_t*, void*>;
inline constexpr Processes compute_processes[] = {{"nvmlDeviceGetComputeRunningProcesses_v3"},
                                                  {"nvmlDeviceGetComputeRunningProcesses_v2"},
                                                  {"nvmlDeviceGetComputeRunningProcesses"}};
inline constexpr Processes graphics_processes[] = {{"nvmlDeviceGetGraphicsRunningProcesses_v3"},
                                                   {"nvmlDeviceGetGraphicsRunningProcesses_v2"},
                                                   {"nvmlDeviceGetGraphicsRunningProcesses"}};

inline constexpr Call<Handle, int*, int*> ecc_mode{"nvmlDeviceGetEccMode"};
inline constexpr Call<Handle, MemoryError, CounterKind, std::uint64_t*> ecc_errors{"nvmlDeviceGetTotalEccErrors"};
inline constexpr Call<Handle, std::uint32_t*, std::uint32_t*, std::uint32_t*, std::uint32_t*> remapped_rows{
    "nvmlDeviceGetRemappedRows"};
inline constexpr Call<Handle, Retirement, std::uint32_t*, std::uint64_t*> retired_pages{"nvmlDeviceGetRetiredPages"};
inline constexpr Call<Handle, int*> retirement_pending{"nvmlDeviceGetRetiredPagesPendingStatus"};

inline constexpr Number pcie_generation{"nvmlDeviceGetCurrPcieLinkGeneration"};
inline constexpr Number pcie_width{"nvmlDeviceGetCurrPcieLinkWidth"};
inline constexpr Number pcie_generation_most{"nvmlDeviceGetMaxPcieLinkGeneration"};  // of the card in this slot
inline constexpr Number pcie_width_most{"nvmlDeviceGetMaxPcieLinkWidth"};
inline constexpr Number pcie_generation_of_card{"nvmlDeviceGetGpuMaxPcieLinkGeneration"};
inline constexpr Number pcie_replays{"nvmlDeviceGetPcieReplayCounter"};
inline constexpr Call<Handle, std::uint32_t, int*> link_state{"nvmlDeviceGetNvLinkState"};
inline constexpr Call<Handle, std::uint32_t, std::uint32_t*> link_version{"nvmlDeviceGetNvLinkVersion"};

inline constexpr Call<Handle, std::uint32_t*, std::uint32_t*> mig_mode{"nvmlDeviceGetMigMode"};
inline constexpr Number mig_most{"nvmlDeviceGetMaxMigDeviceCount"};
inline constexpr Call<Handle, std::uint32_t, Handle*> mig_by_index{"nvmlDeviceGetMigDeviceHandleByIndex"};
inline constexpr Number is_mig{"nvmlDeviceIsMigDeviceHandle"};
inline constexpr Call<Handle, Handle*> whole_of_mig{"nvmlDeviceGetDeviceHandleFromMigDeviceHandle"};
inline constexpr Call<Handle, Attributes*> attributes{"nvmlDeviceGetAttributes_v2"};

inline constexpr Call<Handle, ComputeMode*> compute_mode{"nvmlDeviceGetComputeMode"};
inline constexpr Call<Handle, int*> persistence{"nvmlDeviceGetPersistenceMode"};
inline constexpr Call<Handle, Virtualisation*> virtualisation{"nvmlDeviceGetVirtualizationMode"};
inline constexpr Call<Handle, Licences*> licences{"nvmlDeviceGetGridLicensableFeatures_v4"};
inline constexpr Call<Handle, FabricInfo*> fabric{"nvmlDeviceGetGpuFabricInfo"};
inline constexpr Call<Handle, FabricInfoApart*> fabric_apart{"nvmlDeviceGetGpuFabricInfoV"};

inline constexpr Call<EventSet*> event_set{"nvmlEventSetCreate"};
inline constexpr Call<EventSet> event_set_free{"nvmlEventSetFree"};
inline constexpr Call<EventSet, EventData*, std::uint32_t> event_wait{"nvmlEventSetWait_v2"};
inline constexpr Call<Handle, std::uint64_t, EventSet> event_register{"nvmlDeviceRegisterEvents"};

}  // namespace vendor::nvml
