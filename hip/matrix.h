// Matrix products by the vendor's library, looked up at run time, and by own kernels where there is none.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/backend.h"
#include "core/ops/gemm.h"
#include "launchable.h"

namespace vendor {

// Device memory of a Gemm's operands, in the order of assay::operands(): bias is null where there is none. Each
// tensor's scales lie behind its elements as core/work.h lays them out.
struct MatrixOperands {
  const void* a = nullptr;
  const void* b = nullptr;
  const void* bias = nullptr;
  void* d = nullptr;
};

struct MatrixPreparation {
  assay::Algorithm algorithm = assay::Algorithm::by_default;
  std::optional<std::int64_t> workspace_limit;  // bytes; absent: what the library recommends for the device
};

// Opened once per back end. Nothing here throws before plan() but for broken memory.
class MatrixLibrary {
 public:
  virtual ~MatrixLibrary() = default;
  virtual std::vector<assay::Fact> facts() const = 0;  // path and version, or what was looked for and what to install
  virtual assay::Support supports(const assay::Gemm& gemm, int device) const = 0;
  // For the device in use; the stream is for trying algorithms, which Algorithm::best does on the operands as they are,
  // overwriting D: their order is that of real work only where something like it lies there. Throws Unsupported,
  // OutOfMemory, Error.
  virtual std::unique_ptr<Launchable> plan(const assay::Gemm& gemm, const MatrixOperands& operands,
                                           const MatrixPreparation& preparation, int device, Stream stream) = 0;
};

// hipBLASLt: what $ASSAY_HIPBLASLT says or, where it is not set, the loader's own path, $ROCM_PATH and ROCm's folders
// in /opt. Python's wheels are not looked at, since theirs bring a HIP runtime of their own, which knows nothing of our
// streams. Nothing is opened where there is no device: the library would end the process.
std::unique_ptr<MatrixLibrary> open_matrix_library(const std::filesystem::path& root);

}  // namespace vendor
