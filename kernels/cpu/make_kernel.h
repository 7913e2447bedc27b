// From an op to the kernel that does it on this machine.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "core/backend.h"
#include "kernels/cpu/kernel.h"
#include "kernels/cpu/libraries.h"
#include "kernels/cpu/scratch.h"

namespace assay::cpu {

struct KernelSetup {
  Libraries& libraries;
  int threads = 1;
  Algorithm algorithm = Algorithm::by_default;
  std::optional<std::int64_t> workspace_limit;
  std::shared_ptr<Scratch> scratch;
  std::vector<bool> constant;  // by operand: persistent, and written by no step
};

// Never throws.
Support support(const Op& op, Libraries& libraries);

// Throws Unsupported with the reason that support() gives.
std::unique_ptr<Kernel> make_kernel(const Op& op, const Pointers& operands, const KernelSetup& setup);

}  // namespace assay::cpu
