// Why no NVIDIA device can be used, in words that a renter understands. Needs no toolkit.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "gpu/availability.h"

namespace vendor {

// What the driver said when it was asked for its devices.
struct DriverAnswer {
  int driver_version = 0;   // of the driver's API, 12040 for 12.4; 0: there is no driver library
  int runtime_version = 0;  // that this plug-in was built with
  int status = 0;           // the runtime's error number; 0: all is well
  int devices = 0;
  std::string text;             // "no CUDA-capable device is detected (cudaErrorNoDevice)"
  bool hidden = false;          // CUDA_VISIBLE_DEVICES is set ...
  std::string visible_devices;  // ... to this
  bool cards_known = false;     // the kernel driver lists cards
  bool partitioned = false;     // ... of which one can be cut into MIG instances
  bool all_prohibited = false;  // every device's compute mode forbids programs
};
Availability explain(const DriverAnswer& answer);

}  // namespace vendor
