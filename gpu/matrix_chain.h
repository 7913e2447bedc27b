// Several matrix libraries in the order in which they are asked, the program's own kernels last. Each row says by
// which. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gpu/matrix.h"

namespace vendor {

// One that was looked for.
struct MatrixSource {
  std::string name;                  // "hipblaslt"; empty for own kernels, which are no fact
  bool there = false;                // it was found and can be used
  std::string path;                  // where it lies
  std::vector<std::string> refused;  // "PATH: why", of those that were there and not fit
  std::string without;  // what follows where it is not there, and what to do; begins with a punctuation mark
  // Whether it can do that on this architecture, as far as can be said without asking it.
  std::function<assay::Support(const assay::Gemm& gemm, int architecture)> possible;
  // As MatrixLibrary::describe(). Unsupported passes the product on to the next.
  std::function<std::unique_ptr<MatrixProduct>(const assay::Gemm& gemm, const MatrixOperands& operands,
                                               std::optional<std::int64_t> workspace_limit, int device)>
      describe;
};

// `find` looks for them, and is only called where there is a device: with none some libraries end the process as soon
// as a handle is made.
std::unique_ptr<MatrixLibrary> make_matrix_chain(const std::function<std::vector<MatrixSource>()>& find);

}  // namespace vendor
