// Where a vendor's library lies, by several names and places, and the first of them that is fit.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace vendor {

// A library as its releases call it, the newest first, the variable that says where one is, and what it must have.
struct SharedLibrary {
  const char* variable;  // "ASSAY_HIPBLASLT"
  std::vector<std::string> names;
  std::vector<std::string> functions;
};

// Paths, or names for the loader, the most wanted first: what the variable says (a file or a folder) and nothing else;
// else the loader's own path, then `folders`.
using Folders = std::vector<std::filesystem::path>;
std::vector<std::string> candidates(const SharedLibrary& library, const Folders& folders);

struct OpenedLibrary {
  void* handle = nullptr;            // null: none was fit. It stays loaded until the process ends.
  std::string path;                  // where it lies, as the loader says
  std::vector<std::string> refused;  // "PATH: why", of those that were there and not fit
};
OpenedLibrary open_library(const SharedLibrary& library, const Folders& folders);

// "2.4" of .../libhipblas.so.2.4, or "".
std::string version_by_name(const std::string& path);

}  // namespace vendor
