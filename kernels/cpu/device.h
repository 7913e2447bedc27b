// What the processor is, as the system shows it. The root folder is a parameter, so that tests bring their own.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/device.h"
#include "core/host.h"
#include "kernels/cpu/features.h"
#include "kernels/cpu/libraries.h"

namespace assay::cpu {

// Opens no library: finds their files only.
DeviceInfo describe_processor(const std::filesystem::path& root, const HostLimits& limits, const Features& features,
                              const LibraryNames& libraries);

// Of the allowed processors; instances are counted by the processors that share them.
std::vector<CacheLevel> find_caches(const std::filesystem::path& root, const std::vector<int>& allowed);

// The first value of a key in /proc/cpuinfo, empty where there is none.
std::string cpuinfo_value(const std::filesystem::path& root, const std::string& key);

// True where /proc/cpuinfo says that this is a virtual machine.
bool is_virtual(const std::filesystem::path& root);

}  // namespace assay::cpu
