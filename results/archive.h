// The texts of a run, from a folder or from a packed .tgz of one; nothing is ever unpacked to the disk.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace assay {

// One folder of a run: absent files are absent.
struct RunTexts {
  std::string name;                    // for messages: the folder, or "<archive>: <folder in it>"
  std::optional<std::string> info;     // run.json
  std::optional<std::string> results;  // results.csv
  bool being_written = false;          // a live writer holds it
};

struct RunTree {
  RunTexts top;
  std::map<int, RunTexts> ranks;  // of an MPI run, by rank
};

// Both throw BadInput where it cannot be read, is too large, or holds no run.
RunTree read_folder(const std::filesystem::path& folder);
RunTree read_archive(const std::filesystem::path& archive);

}  // namespace assay
