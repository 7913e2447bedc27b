// Writing a file whole or not at all.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace assay {

// Throws BadInput where `file` is there and `force` is not set, or its folder is not there.
void refuse_existing(const std::filesystem::path& file, bool force);

// Writes beside the file first and renames. Throws Error with the path and what the system said.
void write_file(const std::filesystem::path& file, const std::string& content);

}  // namespace assay
