// NVIDIA's matrix library, opened at run time.
// SPDX-License-Identifier: Apache-2.0
#include "cublaslt_api.h"

#include <dlfcn.h>

namespace vendor {
namespace {

constexpr std::size_t first_with_fp8 = 111103;         // cuBLAS 11.11.3 came with CUDA 11.8
constexpr std::size_t first_of_unknown_kind = 140000;  // a major version may change what is called

// Fills `function` from the library; says whether it was there.
template <class Function>
bool look_up(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

// The name of the first function that is missing, or "".
std::string missing_function(void* library, CublasLtApi& api) {
  std::string missing;
  const auto take = [&](const char* name, auto& function) {
    if (!look_up(library, name, function) && missing.empty()) missing = name;
  };
  take("cublasLtGetVersion", api.get_version);
  take("cublasLtGetStatusString", api.status_string);
  take("cublasLtCreate", api.create);
  take("cublasLtDestroy", api.destroy);
  take("cublasLtMatmulDescCreate", api.description_create);
  take("cublasLtMatmulDescDestroy", api.description_destroy);
  take("cublasLtMatmulDescSetAttribute", api.description_set);
  take("cublasLtMatmulDescGetAttribute", api.description_get);
  take("cublasLtMatrixLayoutCreate", api.layout_create);
  take("cublasLtMatrixLayoutDestroy", api.layout_destroy);
  take("cublasLtMatrixLayoutSetAttribute", api.layout_set);
  take("cublasLtMatrixLayoutGetAttribute", api.layout_get);
  take("cublasLtMatmulPreferenceCreate", api.preference_create);
  take("cublasLtMatmulPreferenceDestroy", api.preference_destroy);
  take("cublasLtMatmulPreferenceSetAttribute", api.preference_set);
  take("cublasLtMatmulPreferenceGetAttribute", api.preference_get);
  take("cublasLtMatmulAlgoGetHeuristic", api.heuristic);
  take("cublasLtMatmulAlgoConfigGetAttribute", api.algorithm_get);
  take("cublasLtMatmulAlgoCapGetAttribute", api.capability_get);
  take("cublasLtMatmul", api.multiply);
  return missing;
}

std::string place_of(void* function, const std::string& asked) {
  Dl_info info{};
  return dladdr(function, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : asked;
}

// A name for the loader that is not there is no refusal; a file that is there and cannot be loaded is.
bool worth_telling(const std::string& candidate, const std::string& why) {
  return candidate.find('/') != std::string::npos && why.find("No such file") == std::string::npos;
}

}  // namespace

std::string cublaslt_version_text(std::size_t version) {
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

std::string cublaslt_refusal(std::size_t version) {
  if (version < first_with_fp8) {
    return "it is version " + cublaslt_version_text(version) +
           ", and 11.11.3 (CUDA 11.8) is the oldest that can be used";
  }
  if (version >= first_of_unknown_kind) {
    return "it is version " + cublaslt_version_text(version) + ", newer than this program knows how to call (13)";
  }
  return "";
}

CublasLtOpened open_cublaslt(const std::vector<std::string>& candidates) {
  CublasLtOpened opened;
  for (const std::string& candidate : candidates) {
    void* library = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      const char* told = dlerror();
      const std::string why = told == nullptr ? "it cannot be loaded" : told;
      if (worth_telling(candidate, why)) opened.refused.push_back(candidate + ": " + why);
      continue;
    }
    auto api = std::make_shared<CublasLtApi>();
    std::string refusal = missing_function(library, *api);
    if (!refusal.empty()) {
      refusal = "it has no function " + refusal;
    } else {
      api->version = api->get_version();
      api->path = place_of(reinterpret_cast<void*>(api->get_version), candidate);
      refusal = cublaslt_refusal(api->version);
    }
    if (refusal.empty()) {
      opened.api = std::move(api);
      return opened;
    }
    opened.refused.push_back(candidate + ": " + refusal);
    dlclose(library);
  }
  return opened;
}

}  // namespace vendor
