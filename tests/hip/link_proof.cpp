// Refers to every function that is looked up at run time, so that linking proves their names, and compiling their
// types. Built where the libraries are; never loaded. SPDX-License-Identifier: Apache-2.0
#include <rocm_smi/rocm_smi.h>

#include <cstdint>
#include <type_traits>

#include "hipblaslt_api.h"

namespace vendor {

HipblasLtApi every_function_of_hipblaslt();
HipblasLtApi every_function_of_hipblaslt() {
  HipblasLtApi api;
  api.get_version = hipblasLtGetVersion;
  api.create = hipblasLtCreate;
  api.destroy = hipblasLtDestroy;
  api.description_create = hipblasLtMatmulDescCreate;
  api.description_destroy = hipblasLtMatmulDescDestroy;
  api.description_set = hipblasLtMatmulDescSetAttribute;
  api.layout_create = hipblasLtMatrixLayoutCreate;
  api.layout_destroy = hipblasLtMatrixLayoutDestroy;
  api.layout_set = hipblasLtMatrixLayoutSetAttribute;
  api.preference_create = hipblasLtMatmulPreferenceCreate;
  api.preference_destroy = hipblasLtMatmulPreferenceDestroy;
  api.preference_set = hipblasLtMatmulPreferenceSetAttribute;
  api.heuristic = hipblasLtMatmulAlgoGetHeuristic;
  api.multiply = hipblasLtMatmul;
  return api;
}

// rocm_smi.h has own prototypes, in which the status is an int.
static_assert(sizeof(rsmi_status_t) == sizeof(int));
static_assert(std::is_same_v<decltype(&rsmi_init), rsmi_status_t (*)(std::uint64_t)>);
static_assert(std::is_same_v<decltype(&rsmi_shut_down), rsmi_status_t (*)()>);
static_assert(std::is_same_v<decltype(&rsmi_num_monitor_devices), rsmi_status_t (*)(std::uint32_t*)>);
static_assert(std::is_same_v<decltype(&rsmi_dev_pci_id_get), rsmi_status_t (*)(std::uint32_t, std::uint64_t*)>);
static_assert(std::is_same_v<decltype(&rsmi_dev_energy_count_get),
                             rsmi_status_t (*)(std::uint32_t, std::uint64_t*, float*, std::uint64_t*)>);

const void* every_function_of_rocm_smi(int which);
const void* every_function_of_rocm_smi(int which) {
  const void* const all[] = {reinterpret_cast<const void*>(rsmi_init), reinterpret_cast<const void*>(rsmi_shut_down),
                             reinterpret_cast<const void*>(rsmi_num_monitor_devices),
                             reinterpret_cast<const void*>(rsmi_dev_pci_id_get),
                             reinterpret_cast<const void*>(rsmi_dev_energy_count_get)};
  return all[which];
}

}  // namespace vendor
