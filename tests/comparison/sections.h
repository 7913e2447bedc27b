// The parts of the comparison, each printing one table. They return the number of bars that were missed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/backend.h"

namespace assay::comparison {

struct Setup {
  Backend& backend;
  int threads = 1;
  int pairs = 11;
};

int compare_gemm(const Setup& setup);
int compare_streams(const Setup& setup);
int compare_kernels(const Setup& setup);
int compare_block(const Setup& setup);

// The op alone, filled with typical data. The program keeps its memory.
std::shared_ptr<Program> prepare_op(const Setup& setup, const std::string& op);

}  // namespace assay::comparison
