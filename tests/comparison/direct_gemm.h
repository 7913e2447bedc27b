// The libraries called as anyone would call them, without anything of ours in between.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/format.h"

namespace assay::comparison {

class DirectGemm {
 public:
  virtual ~DirectGemm() = default;
  virtual void run() = 0;
};

// Row-major square product on own memory with typical data. Throws Unsupported where the library cannot.
std::unique_ptr<DirectGemm> onednn_gemm(Element input, Element output, std::int64_t size, int threads);
std::unique_ptr<DirectGemm> openblas_gemm(Element element, std::int64_t size, int threads);

}  // namespace assay::comparison
