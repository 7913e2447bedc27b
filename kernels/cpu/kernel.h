// One step of a work, made ready for this machine: operands fixed, threads chosen, code path picked.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/backend.h"
#include "core/op.h"

namespace assay::cpu {

class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual void run() = 0;                  // does the op once, on all its threads
  virtual std::string method() const = 0;  // "own x86-64-v4", "onednn 2.6.3 brg:avx512_core_bf16"

  // Called outside of the clock after operands were filled or written from outside: packs weights, builds a ring.
  virtual void refresh() {}

  // Memory the kernel holds for itself beside the operands and the scratch memory that all share.
  virtual std::int64_t packed_bytes() const { return 0; }

  // What goes into the row beside the method.
  virtual Choice choice() const {
    Choice choice;
    choice.method = method();
    return choice;
  }
};

// Memory of an op's operands, in the order of operands(op), 64-byte aligned. They outlive the kernel.
using Pointers = std::vector<std::byte*>;

// The ops of core/ops/pointwise.h, rows.h and tokens.h, and Stream: own bodies, compiled for x86-64-v2, v3 and v4, the
// best one picked at run time. Throws Unsupported, with a sentence, for formats the bodies do not cover.
std::unique_ptr<Kernel> make_body_kernel(const Op& op, const Pointers& operands, int threads);
bool bodies_support(const Op& op);

// "x86-64-v4" and so on: what make_body_kernel picks here.
std::string body_level();

}  // namespace assay::cpu
