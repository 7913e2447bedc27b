// Where NVIDIA's matrix library may lie. Looks at folders alone; opens nothing.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace vendor {

// The value of an environment variable, where it is set.
using Environment = std::function<std::optional<std::string>(const char* name)>;
Environment process_environment();

// Paths that exist and names for the loader, the most wanted first, none twice: what $ASSAY_CUBLASLT says and, where it
// is set, nothing else; the loader's own path; the toolkit's folders; /opt; Python environments. Fixed places lie below
// `root`, which is "/" but for tests; what variables say is taken as it is.
std::vector<std::string> cublaslt_candidates(const std::filesystem::path& root, const Environment& environment);

}  // namespace vendor
