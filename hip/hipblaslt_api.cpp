// AMD's matrix library, opened at run time.
// SPDX-License-Identifier: Apache-2.0
#include "hipblaslt_api.h"

#include <dlfcn.h>

#include <type_traits>

#include "core/error.h"
#include "gpu/shared_libraries.h"
#include "hip/rocm.h"

namespace vendor {
namespace {

// Version 1 came with ROCm 7, 0 with ROCm 6. The unversioned name is a link that toolkits for building have.
const SharedLibrary hipblaslt = {
    "ASSAY_HIPBLASLT",
    {"libhipblaslt.so.1", "libhipblaslt.so.0", "libhipblaslt.so"},
    {"hipblasLtGetVersion", "hipblasLtCreate", "hipblasLtDestroy", "hipblasLtMatmulDescCreate",
     "hipblasLtMatmulDescDestroy", "hipblasLtMatmulDescSetAttribute", "hipblasLtMatrixLayoutCreate",
     "hipblasLtMatrixLayoutDestroy", "hipblasLtMatrixLayoutSetAttribute", "hipblasLtMatmulPreferenceCreate",
     "hipblasLtMatmulPreferenceDestroy", "hipblasLtMatmulPreferenceSetAttribute", "hipblasLtMatmulAlgoGetHeuristic",
     "hipblasLtMatmul"}};

}  // namespace

HipblasLtOpened open_hipblaslt(const std::filesystem::path& root) {
  const OpenedLibrary found = open_library(hipblaslt, rocm_folders(root));
  HipblasLtOpened opened;
  opened.refused = found.refused;
  if (found.handle == nullptr) return opened;
  auto api = std::make_shared<HipblasLtApi>();
  std::size_t next = 0;
  const auto take = [&](auto& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
        dlsym(found.handle, hipblaslt.functions.at(next++).c_str()));
  };
  take(api->get_version);
  take(api->create);
  take(api->destroy);
  take(api->description_create);
  take(api->description_destroy);
  take(api->description_set);
  take(api->layout_create);
  take(api->layout_destroy);
  take(api->layout_set);
  take(api->preference_create);
  take(api->preference_destroy);
  take(api->preference_set);
  take(api->heuristic);
  take(api->multiply);
  api->path = found.path;
  opened.api = std::move(api);
  return opened;
}

std::string hipblaslt_version_text(int version) {
  return std::to_string(version / 100000) + "." + std::to_string(version / 100 % 1000) + "." +
         std::to_string(version % 100);
}

void check(hipblasStatus_t status, const std::string& doing) {
  if (status == HIPBLAS_STATUS_SUCCESS) return;
  const std::string message = doing + ": hipBLAS status " + std::to_string(static_cast<int>(status));
  if (status == HIPBLAS_STATUS_NOT_SUPPORTED || status == HIPBLAS_STATUS_ARCH_MISMATCH) {
    throw assay::Unsupported(message + " (not supported)");
  }
  if (status == HIPBLAS_STATUS_ALLOC_FAILED) throw assay::OutOfMemory(message + " (allocation failed)");
  throw assay::Error(message);
}

}  // namespace vendor
