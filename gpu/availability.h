// Whether devices can be used, in words that a renter understands.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace vendor {

// How many devices can be used; where none, why and what to do about it: sentences without a full stop.
struct Availability {
  int devices = 0;
  std::string reason;
  std::string cure;
};

}  // namespace vendor
