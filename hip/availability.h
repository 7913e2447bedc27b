// Why no AMD device can be used, in words that a renter understands. Needs no toolkit.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "gpu/availability.h"

namespace vendor {

// What the runtime said when it was asked for its devices, and what the file system shows.
struct RuntimeAnswer {
  int status = 0;  // HIP's error number; 0: all is well
  int devices = 0;
  std::string text;     // "no ROCm-capable device is detected (hipErrorNoDevice)"
  std::string hiding;   // the variable that chooses among devices, where one is set ...
  std::string visible;  // ... to this
  std::string problem;  // what stands between the cards and this process (hip/presence.h); empty: nothing seen
  std::string cure;
  bool cards_known = false;  // the PCI bus shows a card of AMD's
};
Availability explain(const RuntimeAnswer& answer);

}  // namespace vendor
