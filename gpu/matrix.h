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
#include "gpu/runtime.h"

namespace vendor {

// Device memory of a Gemm's operands, in the order of assay::operands(): bias is null where there is none. Each
// tensor's scales lie behind its elements as core/work.h lays them out.
struct MatrixOperands {
  const void* a = nullptr;
  const void* b = nullptr;
  const void* bias = nullptr;
  void* d = nullptr;
};

// One product on fixed operands, and the ways in which the vendor can do it, first the one that it thinks fastest.
// Which is taken, and who holds the workspace, is decided by kernels/gpu.
class MatrixProduct {
 public:
  virtual ~MatrixProduct() = default;
  virtual int ways() const = 0;                       // at least 1
  virtual std::int64_t workspace(int way) const = 0;  // bytes that enqueue() must be given
  // Does it once, in the stream's order. Throws Unsupported, OutOfMemory, Error.
  virtual void enqueue(int way, void* workspace, Stream stream) = 0;
  virtual assay::Choice choice(int way) const = 0;  // Choice::workspace: memory that it holds for itself
  // The same product with the same ways, on operands elsewhere that are aligned alike.
  virtual std::unique_ptr<MatrixProduct> elsewhere(const MatrixOperands& operands) const = 0;
};

// Opened once per back end. Nothing here throws before describe() but for broken memory.
class MatrixLibrary {
 public:
  virtual ~MatrixLibrary() = default;
  virtual std::vector<assay::Fact> facts() const = 0;  // path and version, or what was looked for and what to install
  virtual assay::Support supports(const assay::Gemm& gemm, int device) const = 0;
  // For the device in use. No way wants more than `workspace_limit` bytes; absent: what the library recommends for the
  // device. What it queues on the stream is over when it returns. Throws Unsupported, OutOfMemory, Error.
  virtual std::unique_ptr<MatrixProduct> describe(const assay::Gemm& gemm, const MatrixOperands& operands,
                                                  std::optional<std::int64_t> workspace_limit, int device,
                                                  Stream stream) = 0;
};

// Each vendor says where it looks; `root` is "/" but for tests.
std::unique_ptr<MatrixLibrary> open_matrix_library(const std::filesystem::path& root);

}  // namespace vendor
