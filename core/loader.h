// Opens the plug-ins of this installation, and says in words why one is absent.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/backend.h"

namespace assay {

// The stamp of this build: a hash of the contract's headers and the flags that change its layout.
const char* contract_stamp();

// Where plug-ins live: `<folder of the program>/../lib/assay`, or, in the build tree, `<folder of the
// program>/../plugins`.
std::filesystem::path plugin_folder();

struct LoadedPlugin {
  std::string name;  // "cpu"
  std::filesystem::path path;
  const Plugin* plugin = nullptr;  // null where it could not be used
  std::string reason;              // then a sentence: not there, wrong stamp, what the dynamic loader said
};

// Opens `assay_<name>.so` in `folder`; never throws. Plug-ins stay open until the process ends.
LoadedPlugin load_plugin(const std::filesystem::path& folder, const std::string& name);

// All files of that form in the folder, by name, without opening them.
std::vector<std::string> plugin_names(const std::filesystem::path& folder);

}  // namespace assay
