// Matrix products by AMD's library: algorithms asked for, tried and timed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "gpu/matrix.h"

namespace vendor {

// Whether the library can do it on this architecture, as far as can be said without asking it.
assay::Support hipblaslt_possible(const assay::Gemm& gemm, int architecture);

class HipblasLt;

struct HipblasLtFound {
  std::shared_ptr<HipblasLt> library;  // null: none was fit, or this program was built without its header
  std::string path;
  std::vector<std::string> refused;
};
HipblasLtFound find_hipblaslt(const std::filesystem::path& root);

// For the device in use. Throws Unsupported, OutOfMemory, Error.
std::unique_ptr<MatrixProduct> describe_to_hipblaslt(const std::shared_ptr<HipblasLt>& library, const assay::Gemm& gemm,
                                                     const MatrixOperands& operands,
                                                     std::optional<std::int64_t> workspace_limit, int device);

}  // namespace vendor
