// AMD's matrix library, opened at run time: the functions that are called, and whether a library found is fit.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hipblaslt/hipblaslt.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace vendor {

// The library's functions, by its own header's types.
struct HipblasLtApi {
  decltype(&hipblasLtGetVersion) get_version = nullptr;
  decltype(&hipblasLtCreate) create = nullptr;
  decltype(&hipblasLtDestroy) destroy = nullptr;
  decltype(&hipblasLtMatmulDescCreate) description_create = nullptr;
  decltype(&hipblasLtMatmulDescDestroy) description_destroy = nullptr;
  decltype(&hipblasLtMatmulDescSetAttribute) description_set = nullptr;
  decltype(&hipblasLtMatrixLayoutCreate) layout_create = nullptr;
  decltype(&hipblasLtMatrixLayoutDestroy) layout_destroy = nullptr;
  decltype(&hipblasLtMatrixLayoutSetAttribute) layout_set = nullptr;
  decltype(&hipblasLtMatmulPreferenceCreate) preference_create = nullptr;
  decltype(&hipblasLtMatmulPreferenceDestroy) preference_destroy = nullptr;
  decltype(&hipblasLtMatmulPreferenceSetAttribute) preference_set = nullptr;
  decltype(&hipblasLtMatmulAlgoGetHeuristic) heuristic = nullptr;
  decltype(&hipblasLtMatmul) multiply = nullptr;

  std::string path;  // where it lies, as the loader says
};

struct HipblasLtOpened {
  std::shared_ptr<const HipblasLtApi> api;  // null: none was fit
  std::vector<std::string> refused;         // "PATH: why", of those that were there and not fit
};

// The first that is there and has every function. No handle is made: with no device that would end the process.
HipblasLtOpened open_hipblaslt(const std::filesystem::path& root);

// 100100 is "1.1.0".
std::string hipblaslt_version_text(int version);

// Throws Unsupported, OutOfMemory, Error.
void check(hipblasStatus_t status, const std::string& doing);

}  // namespace vendor
