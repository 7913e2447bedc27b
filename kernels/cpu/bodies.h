// The bodies on a CPU at a chosen level, for tests and comparisons; kernel.h has what everybody else needs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/cpu/bodies_table.h"
#include "kernels/cpu/kernel.h"

namespace assay::cpu {

// The levels that this processor and operating system can run, lowest first: "x86-64-v2", "x86-64-v3", "x86-64-v4", or
// "generic". Empty on an x86-64 processor older than v2.
std::vector<std::string> body_levels();

// As make_body_kernel(op, operands, threads), at that level. Throws Unsupported where this machine does not have it.
std::unique_ptr<Kernel> make_body_kernel(const Op& op, const Pointers& operands, int threads, const std::string& level);

// The same with a table of its own: tests bring teams that look for mistakes.
std::unique_ptr<Kernel> make_body_kernel(const Op& op, const Pointers& operands, int threads, const BodyTable& table);

}  // namespace assay::cpu
