// One op made ready by the vendor's own means: its matrix library, or its matrix instructions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/backend.h"
#include "runtime.h"

namespace vendor {

class Launchable {
 public:
  virtual ~Launchable() = default;
  virtual void enqueue(Stream stream) = 0;   // does the op once, in the stream's order
  virtual assay::Choice choice() const = 0;  // Choice::flops where the op is an Issue; workspace in bytes
};

}  // namespace vendor
