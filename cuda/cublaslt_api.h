// NVIDIA's matrix library, opened at run time: the functions that are called, and whether a library found is fit.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cublasLt.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace vendor {

// The library's functions, by its own header's types.
struct CublasLtApi {
  decltype(&cublasLtGetVersion) get_version = nullptr;
  decltype(&cublasLtGetStatusString) status_string = nullptr;
  decltype(&cublasLtCreate) create = nullptr;
  decltype(&cublasLtDestroy) destroy = nullptr;
  decltype(&cublasLtMatmulDescCreate) description_create = nullptr;
  decltype(&cublasLtMatmulDescDestroy) description_destroy = nullptr;
  decltype(&cublasLtMatmulDescSetAttribute) description_set = nullptr;
  decltype(&cublasLtMatmulDescGetAttribute) description_get = nullptr;
  decltype(&cublasLtMatrixLayoutCreate) layout_create = nullptr;
  decltype(&cublasLtMatrixLayoutDestroy) layout_destroy = nullptr;
  decltype(&cublasLtMatrixLayoutSetAttribute) layout_set = nullptr;
  decltype(&cublasLtMatrixLayoutGetAttribute) layout_get = nullptr;
  decltype(&cublasLtMatmulPreferenceCreate) preference_create = nullptr;
  decltype(&cublasLtMatmulPreferenceDestroy) preference_destroy = nullptr;
  decltype(&cublasLtMatmulPreferenceSetAttribute) preference_set = nullptr;
  decltype(&cublasLtMatmulPreferenceGetAttribute) preference_get = nullptr;
  decltype(&cublasLtMatmulAlgoGetHeuristic) heuristic = nullptr;
  decltype(&cublasLtMatmulAlgoConfigGetAttribute) algorithm_get = nullptr;
  decltype(&cublasLtMatmulAlgoCapGetAttribute) capability_get = nullptr;
  decltype(&cublasLtMatmul) multiply = nullptr;

  std::size_t version = 0;  // 130100 is 13.1.0
  std::string path;         // where it lies, as the loader says
};

// What cublasLtGetVersion() says, in words: 130100 is "13.1.0".
std::string cublaslt_version_text(std::size_t version);

// Why a library of this version cannot be used, or "". What is called here is alike from cuBLAS 11.11 (CUDA 11.8, the
// first with FP8) to 13: the same parameters, enumerators that kept their values, an opaque algorithm of 64 bytes.
std::string cublaslt_refusal(std::size_t version);

struct CublasLtOpened {
  std::shared_ptr<const CublasLtApi> api;  // null: none was fit
  std::vector<std::string> refused;        // "PATH: why", of those that were there and not fit
};

// The first of `candidates` (paths, or names for the loader) that is there and fit. The library stays loaded until the
// process ends, since it keeps hold of the driver. Never throws but for broken memory.
CublasLtOpened open_cublaslt(const std::vector<std::string>& candidates);

}  // namespace vendor
