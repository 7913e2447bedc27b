// Which program this is, for the record.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace assay::version {

extern const std::string program;  // "0.1.0"
extern const std::string commit;   // as `git describe --always --dirty` says; empty where it was not built in a clone
extern const std::string build_type;  // "Release"
extern const std::string compiler;    // "GNU 12.2.0"

}  // namespace assay::version
