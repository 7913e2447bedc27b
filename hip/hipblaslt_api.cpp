// AMD's matrix library, opened at run time.
// SPDX-License-Identifier: Apache-2.0
#include "hipblaslt_api.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <system_error>

#include "core/error.h"

namespace vendor {
namespace {

namespace fs = std::filesystem;

// Version 1 came with ROCm 7, 0 with ROCm 6. The unversioned name is a link that toolkits for building have.
constexpr std::array<const char*, 3> library_names = {"libhipblaslt.so.1", "libhipblaslt.so.0", "libhipblaslt.so"};

void add_folder(std::vector<std::string>& found, const fs::path& folder) {
  for (const char* name : library_names) {
    std::error_code error;
    if (fs::exists(folder / name, error)) found.push_back((folder / name).string());
  }
}

// The name of the first function that is missing, or "".
std::string missing_function(void* library, HipblasLtApi& api) {
  std::string missing;
  const auto take = [&](const char* name, auto& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    if (function == nullptr && missing.empty()) missing = name;
  };
  take("hipblasLtGetVersion", api.get_version);
  take("hipblasLtCreate", api.create);
  take("hipblasLtDestroy", api.destroy);
  take("hipblasLtMatmulDescCreate", api.description_create);
  take("hipblasLtMatmulDescDestroy", api.description_destroy);
  take("hipblasLtMatmulDescSetAttribute", api.description_set);
  take("hipblasLtMatrixLayoutCreate", api.layout_create);
  take("hipblasLtMatrixLayoutDestroy", api.layout_destroy);
  take("hipblasLtMatrixLayoutSetAttribute", api.layout_set);
  take("hipblasLtMatmulPreferenceCreate", api.preference_create);
  take("hipblasLtMatmulPreferenceDestroy", api.preference_destroy);
  take("hipblasLtMatmulPreferenceSetAttribute", api.preference_set);
  take("hipblasLtMatmulAlgoGetHeuristic", api.heuristic);
  take("hipblasLtMatmul", api.multiply);
  return missing;
}

// A name for the loader that is not there is no refusal; a file that is there and cannot be loaded is.
bool worth_telling(const std::string& candidate, const std::string& why) {
  return candidate.find('/') != std::string::npos || why.find("No such file") == std::string::npos;
}

}  // namespace

std::vector<std::string> hipblaslt_candidates(const fs::path& root) {
  std::vector<std::string> found;
  if (const char* given = std::getenv("ASSAY_HIPBLASLT"); given != nullptr && *given != '\0') {
    std::error_code error;
    if (fs::is_directory(given, error)) {
      add_folder(found, given);
    } else {
      found.emplace_back(given);
    }
    return found;
  }
  for (const char* name : library_names) found.emplace_back(name);
  if (const char* rocm = std::getenv("ROCM_PATH")) add_folder(found, fs::path(rocm) / "lib");
  add_folder(found, root / "opt/rocm/lib");
  std::vector<fs::path> others;
  std::error_code error;
  for (fs::directory_iterator at(root / "opt", error), end; !error && at != end; at.increment(error)) {
    if (at->path().filename().string().rfind("rocm-", 0) == 0) others.push_back(at->path() / "lib");
  }
  std::sort(others.rbegin(), others.rend());
  for (const fs::path& other : others) add_folder(found, other);
  return found;
}

HipblasLtOpened open_hipblaslt(const std::vector<std::string>& candidates) {
  HipblasLtOpened opened;
  for (const std::string& candidate : candidates) {
    void* library = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      const char* told = dlerror();
      const std::string why = told == nullptr ? "it cannot be loaded" : told;
      if (worth_telling(candidate, why)) opened.refused.push_back(candidate + ": " + why);
      continue;
    }
    auto api = std::make_shared<HipblasLtApi>();
    const std::string missing = missing_function(library, *api);
    if (!missing.empty()) {
      opened.refused.push_back(candidate + ": it has no function " + missing);
      dlclose(library);
      continue;
    }
    Dl_info info{};
    const bool told = dladdr(reinterpret_cast<void*>(api->create), &info) != 0 && info.dli_fname != nullptr;
    api->path = told ? info.dli_fname : candidate;
    opened.api = std::move(api);
    return opened;
  }
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
