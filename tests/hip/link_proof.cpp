// Refers to every function that is looked up at run time, so that linking proves their names, and compiling their
// types. Built where the libraries are; never loaded. SPDX-License-Identifier: Apache-2.0
#include <hipblas/hipblas.h>
#include <rocm_smi/rocm_smi.h>

#include <cstdint>
#include <type_traits>

#include "hipblas.h"
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

// hipblas.h has own prototypes and numbers, by both kinds of names.
static_assert(sizeof(hipblasStatus_t) == sizeof(int) && sizeof(hipblasOperation_t) == sizeof(int));
static_assert(sizeof(hipDataType) == sizeof(int) && sizeof(hipblasComputeType_t) == sizeof(int));
static_assert(std::is_same_v<hipblasStride, std::int64_t> && std::is_pointer_v<hipblasHandle_t>);
static_assert(std::is_same_v<decltype(&hipblasCreate), hipblasStatus_t (*)(hipblasHandle_t*)>);
static_assert(std::is_same_v<decltype(&hipblasDestroy), hipblasStatus_t (*)(hipblasHandle_t)>);
static_assert(std::is_same_v<decltype(&hipblasSetStream), hipblasStatus_t (*)(hipblasHandle_t, Stream)>);
using Old = hipblasStatus_t (*)(hipblasHandle_t, hipblasOperation_t, hipblasOperation_t, int, int, int, const void*,
                                const void*, hipblasDatatype_t, int, std::int64_t, const void*, hipblasDatatype_t, int,
                                std::int64_t, const void*, void*, hipblasDatatype_t, int, std::int64_t, int,
                                hipblasDatatype_t, hipblasGemmAlgo_t);
static_assert(std::is_same_v<decltype(&hipblasGemmStridedBatchedEx), Old>);
using New = hipblasStatus_t (*)(hipblasHandle_t, hipblasOperation_t, hipblasOperation_t, int, int, int, const void*,
                                const void*, hipDataType, int, std::int64_t, const void*, hipDataType, int,
                                std::int64_t, const void*, void*, hipDataType, int, std::int64_t, int,
                                hipblasComputeType_t, hipblasGemmAlgo_t);
static_assert(std::is_same_v<decltype(&hipblasGemmStridedBatchedEx_v2), New>);
static_assert(HIPBLAS_OP_N == 111 && HIPBLAS_OP_T == 112 && HIPBLAS_GEMM_DEFAULT == 160);
static_assert(HIPBLAS_R_32F == 151 && HIPBLAS_R_64F == 152 && HIPBLAS_R_16F == 150 && HIPBLAS_R_16B == 168 &&
              HIPBLAS_R_8I == 160 && HIPBLAS_R_32I == 162);
static_assert(HIP_R_32F == 0 && HIP_R_64F == 1 && HIP_R_16F == 2 && HIP_R_16BF == 14 && HIP_R_8I == 3 &&
              HIP_R_32I == 10);
static_assert(HIPBLAS_COMPUTE_32F == 2 && HIPBLAS_COMPUTE_64F == 7 && HIPBLAS_COMPUTE_32I == 9);
static_assert(HIPBLAS_STATUS_ALLOC_FAILED == 2 && HIPBLAS_STATUS_NOT_SUPPORTED == 7 &&
              HIPBLAS_STATUS_ARCH_MISMATCH == 8);

const void* every_function_of_hipblas(int which);
const void* every_function_of_hipblas(int which) {
  const void* const all[] = {
      reinterpret_cast<const void*>(hipblasCreate), reinterpret_cast<const void*>(hipblasDestroy),
      reinterpret_cast<const void*>(hipblasSetStream), reinterpret_cast<const void*>(hipblasGemmStridedBatchedEx),
      reinterpret_cast<const void*>(hipblasGemmStridedBatchedEx_v2)};
  return all[which];
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
