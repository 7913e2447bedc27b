// The stamp of this build.
// SPDX-License-Identifier: Apache-2.0
#include "core/stamp.h"
#include "core/loader.h"

namespace assay {

const char* contract_stamp() { return ASSAY_CONTRACT_STAMP; }

}  // namespace assay
