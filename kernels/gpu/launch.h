// What it costs to do nothing, by the host's clock.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "core/backend.h"
#include "kernels/gpu/handles.h"

namespace assay::gpu {

Support launch_support(const Launch& launch);

// A chore of the host, ready to be done again and again.
class Chore {
 public:
  virtual ~Chore() = default;
  virtual void run() = 0;  // all `count` of them, and waits for the end
  virtual Choice choice() const = 0;
};
std::unique_ptr<Chore> make_chore(const Launch& launch, vendor::Stream stream);

}  // namespace assay::gpu
