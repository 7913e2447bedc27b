// Shared libraries by dlopen.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/library.h"

#include <dlfcn.h>
#include <link.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "core/error.h"

namespace assay::cpu {
namespace {

std::string real_path(const std::string& path) {
  std::error_code failed;
  const auto real = std::filesystem::canonical(path, failed);
  return failed ? path : real.string();
}

std::string path_of(void* handle, const std::string& asked) {
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr || map->l_name == nullptr || *map->l_name == '\0') {
    return asked;
  }
  return real_path(map->l_name);
}

std::vector<std::string> library_folders() {
  std::vector<std::string> folders;
  if (const char* extra = std::getenv("LD_LIBRARY_PATH")) {
    std::istringstream list(extra);
    for (std::string folder; std::getline(list, folder, ':');) {
      if (!folder.empty()) {
        folders.push_back(folder);
      }
    }
  }
  for (const char* folder :
       {"/usr/local/lib", "/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib"}) {
    folders.emplace_back(folder);
  }
  return folders;
}

}  // namespace

Library::Library(const std::vector<std::string>& candidates) {
  for (const std::string& name : candidates) {
    handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) {
      path_ = path_of(handle_, name);
      return;
    }
    const char* said = dlerror();
    tried_.push_back(said != nullptr ? said : name + ": the dynamic loader gave no reason");
  }
}

bool Library::has(const char* name) const { return handle_ != nullptr && dlsym(handle_, name) != nullptr; }

void* Library::symbol(const char* name) const {
  void* address = handle_ != nullptr ? dlsym(handle_, name) : nullptr;
  if (address == nullptr) {
    throw Unsupported("the library " + path_ + " has no function " + name);
  }
  return address;
}

std::string locate_library(const std::vector<std::string>& candidates) {
  std::error_code failed;
  const auto folders = library_folders();
  for (const std::string& name : candidates) {
    if (name.find('/') != std::string::npos) {
      if (std::filesystem::exists(name, failed)) {
        return real_path(name);
      }
      continue;
    }
    for (const std::string& folder : folders) {
      const std::string path = folder + "/" + name;
      if (std::filesystem::exists(path, failed)) {
        return real_path(path);
      }
    }
  }
  return "";
}

}  // namespace assay::cpu
