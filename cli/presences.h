// The GPUs that can be seen from here without any driver, of every vendor this program knows.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/device.h"

namespace assay {

// One entry a vendor, cards or not.
std::vector<Presence> presences();

}  // namespace assay
