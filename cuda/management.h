// Why NVIDIA devices that are there cannot be used, asked of the management library. Builds without the toolkit.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace vendor {

struct Obstacle {
  std::string problem;  // no full stop; empty: the management library sees none, or cannot be asked
  std::string cure;     // what to do about it, in the imperative; may be empty
};

// For a runtime that sees no device it can use: what its error number does not tell. Lost cards, versions that do not
// match, compute modes, MIG without an instance, an NVSwitch fabric that is not set up. Opens the management library,
// so it belongs into a process that may hang. Never throws.
Obstacle management_obstacle();

}  // namespace vendor
