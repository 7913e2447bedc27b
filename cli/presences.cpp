// Asks the vendors' folders.
// SPDX-License-Identifier: Apache-2.0
#include "cli/presences.h"

#include "cuda/presence.h"
#include "hip/presence.h"

namespace assay {

std::vector<Presence> presences() { return {cuda::presence(), hip::presence()}; }

}  // namespace assay
