// Opening a vendor's library at run time.
// SPDX-License-Identifier: Apache-2.0
#include "gpu/shared_libraries.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <system_error>

namespace vendor {
namespace {

namespace fs = std::filesystem;

void add_folder(std::vector<std::string>& found, const SharedLibrary& library, const fs::path& folder) {
  for (const std::string& name : library.names) {
    std::error_code error;
    if (fs::exists(folder / name, error)) found.push_back((folder / name).string());
  }
}

// A name for the loader that is not there is no refusal; a file that is there and cannot be loaded is.
bool worth_telling(const std::string& candidate, const std::string& why) {
  return candidate.find('/') != std::string::npos || why.find("No such file") == std::string::npos;
}

}  // namespace

std::vector<std::string> candidates(const SharedLibrary& library, const Folders& folders) {
  std::vector<std::string> found;
  std::error_code error;
  if (const char* given = std::getenv(library.variable); given != nullptr && *given != '\0') {
    if (fs::is_directory(given, error)) {
      add_folder(found, library, given);
    } else {
      found.emplace_back(given);
    }
    return found;
  }
  found = library.names;
  for (const fs::path& folder : folders) add_folder(found, library, folder);
  return found;
}

OpenedLibrary open_library(const SharedLibrary& library, const Folders& folders) {
  OpenedLibrary opened;
  for (const std::string& candidate : candidates(library, folders)) {
    void* handle = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      const char* told = dlerror();
      const std::string why = told == nullptr ? "it cannot be loaded" : told;
      if (worth_telling(candidate, why)) opened.refused.push_back(candidate + ": " + why);
      continue;
    }
    const auto missing = std::find_if(library.functions.begin(), library.functions.end(),
                                      [&](const std::string& name) { return dlsym(handle, name.c_str()) == nullptr; });
    if (missing != library.functions.end()) {
      opened.refused.push_back(candidate + ": it has no function " + *missing);
      dlclose(handle);
      continue;
    }
    Dl_info info{};
    const bool told = dladdr(dlsym(handle, library.functions.front().c_str()), &info) != 0 && info.dli_fname != nullptr;
    opened.path = told ? info.dli_fname : candidate;
    opened.handle = handle;
    return opened;
  }
  return opened;
}

std::string version_by_name(const std::string& path) {
  std::error_code error;
  const std::string real = fs::weakly_canonical(path, error).filename().string();
  const auto at = real.find(".so.");
  return at == std::string::npos ? "" : real.substr(at + 4);
}

}  // namespace vendor
