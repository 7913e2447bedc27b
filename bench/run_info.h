// What run.json says about the machine, the program and the circumstances of a run.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "bench/run.h"
#include "results/run.h"

namespace assay {

std::string utc_now();  // 2026-11-30T12:00:00Z

// The variables that change how fast a machine computes, out of an environment ("NAME=value" each, ending in null). By
// allow-list, and nothing that looks like a secret even then.
std::map<std::string, std::string> recorded_environment(const char* const* environment);

// Everything but devices, planned cases and the end.
RunInfo describe_run(const RunOptions& options, const char* const* environment);

// runs/20261130T120000Z-hostname, or with -2 and so on where that exists.
std::filesystem::path new_run_folder(const std::filesystem::path& parent);

}  // namespace assay
