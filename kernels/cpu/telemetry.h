// The state of the processor while it works, as far as the kernel shows it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>

#include "core/telemetry.h"

namespace assay::cpu {

std::unique_ptr<Telemetry> make_telemetry(const std::filesystem::path& root = "/");

}  // namespace assay::cpu
