// Reads whole text files that come from outside, up to a limit.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace assay {

// Far more than Assay writes; beyond it a file is refused in a sentence instead of filling memory.
inline constexpr std::size_t most_json_bytes = std::size_t{16} << 20;
inline constexpr std::size_t most_csv_bytes = std::size_t{1} << 30;

// Throws BadInput where it is missing, unreadable, not a plain file, or longer than `most` bytes.
std::string read_text_file(const std::filesystem::path& path, std::size_t most);

}  // namespace assay
