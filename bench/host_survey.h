// Is this host fit for AI work, apart from its accelerators: what it grants, and how fast its storage is.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/device.h"

namespace assay {

struct HostSurveyPlace {
  std::filesystem::path root = "/";      // where /proc, /sys and /dev are looked for
  std::filesystem::path storage_folder;  // where the storage survey writes; empty: it is skipped
  std::int64_t storage_bytes = 0;        // at most
};

// The names that survey_host() knows: "cpu", "memory", "shared_memory", "processes", "storage".
const std::vector<std::string>& host_surveys();

// Facts with their source; what cannot be found out is a fact with a reason. Throws Error for an unknown name.
std::vector<Fact> survey_host(const std::string& name, const HostSurveyPlace& place);

}  // namespace assay
