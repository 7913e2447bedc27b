// What the build knows about itself.
// SPDX-License-Identifier: Apache-2.0
#include "bench/version.h"

#include "bench/commit.h"  // generated anew by each build

namespace assay::version {

const std::string program = ASSAY_VERSION;
const std::string commit = ASSAY_COMMIT;
const std::string build_type = ASSAY_BUILD_TYPE;
const std::string compiler = ASSAY_COMPILER;

}  // namespace assay::version
