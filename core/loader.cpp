// Opens the plug-ins of this installation, and says in words why one is absent.
// SPDX-License-Identifier: Apache-2.0
#include "core/loader.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <system_error>

namespace assay {
namespace {

constexpr const char* file_prefix = "assay_";
constexpr const char* file_suffix = ".so";

// A name becomes part of a path, and plug-ins come only from the installation: nothing that could leave its folder.
bool is_plain_name(const std::string& name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') || letter == '_';
  });
}

// What the dynamic loader said, as a sentence. A missing library reads "libx.so.1: cannot open shared object file: No
// such file or directory", without a word on who needs it.
std::string why_not_opened(const std::filesystem::path& path) {
  const char* said = dlerror();
  const std::string message = said ? said : "the dynamic loader gave no reason";
  const auto missing = message.find(": cannot open shared object file");
  if (missing != std::string::npos && message.compare(0, missing, path.string()) != 0) {
    return "The plug-in " + path.string() + " needs the library " + message.substr(0, missing) +
           ", which this machine does not have or the loader does not find (" + message + ").";
  }
  return "The plug-in " + path.string() + " cannot be loaded: " + message + ".";
}

using Entry = const Plugin* (*)();

struct Entered {
  const Plugin* plugin = nullptr;
  std::string reason;
};

// Calls the entry; what it throws must not end the program.
Entered enter(Entry entry, const std::filesystem::path& path) {
  const std::string what = "The plug-in " + path.string();
  try {
    const Plugin* plugin = entry();
    return {plugin, plugin ? "" : what + " offers nothing: its entry returned null."};
  } catch (const std::exception& error) {
    return {nullptr, what + " failed while it was being opened: " + error.what() + "."};
  } catch (...) {
    return {nullptr, what + " failed while it was being opened, without saying why."};
  }
}

// Empty where the plug-in can be used. The stamp comes first: only equal stamps make the other fields believable.
std::string why_not_usable(const Plugin& plugin, const std::string& name, const std::filesystem::path& path) {
  if (plugin.stamp == nullptr || std::strcmp(plugin.stamp, contract_stamp()) != 0) {
    return "The plug-in " + path.string() + " was built with another version of Assay; rebuild or reinstall it.";
  }
  if (plugin.name == nullptr || name != plugin.name) {
    return "The plug-in " + path.string() + " calls itself \"" + (plugin.name ? plugin.name : "") +
           "\", which is not the name of its file; reinstall it.";
  }
  if (plugin.create_backend == nullptr) {
    return "The plug-in " + path.string() + " has no back end; reinstall it.";
  }
  return "";
}

}  // namespace

std::filesystem::path plugin_folder() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto base = error ? std::filesystem::path() : program.parent_path().parent_path();
  const auto installed = base / "lib" / "assay";
  const auto built = base / "plugins";
  if (!std::filesystem::is_directory(installed, error) && std::filesystem::is_directory(built, error)) return built;
  return installed;
}

LoadedPlugin load_plugin(const std::filesystem::path& folder, const std::string& name) {
  LoadedPlugin loaded;
  loaded.name = name;
  if (!is_plain_name(name)) {
    loaded.reason = "\"" + name + "\" cannot name a plug-in: only a-z, 0-9 and _ can.";
    return loaded;
  }
  // An absolute path: a bare file name would make the loader search LD_LIBRARY_PATH.
  std::error_code error;
  loaded.path = std::filesystem::absolute(folder / (file_prefix + name + file_suffix), error);
  if (error || !std::filesystem::exists(loaded.path, error)) {
    loaded.reason = "There is no plug-in \"" + name + "\" in this installation: " + loaded.path.string() +
                    " does not exist; it was not built or not installed.";
    return loaded;
  }
  // Now rather than lazily, so that a missing function is found here and not in the middle of a measurement.
  void* handle = dlopen(loaded.path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    loaded.reason = why_not_opened(loaded.path);
    return loaded;
  }
  const auto entry = reinterpret_cast<Entry>(dlsym(handle, "assay_plugin"));
  if (entry == nullptr) {
    loaded.reason = "The file " + loaded.path.string() + " is no plug-in of Assay: it has no entry \"assay_plugin\".";
    return loaded;
  }
  const Entered entered = enter(entry, loaded.path);
  loaded.reason = entered.plugin ? why_not_usable(*entered.plugin, name, loaded.path) : entered.reason;
  if (loaded.reason.empty()) loaded.plugin = entered.plugin;
  return loaded;
}

std::vector<std::string> plugin_names(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator file(folder, error), end; !error && file != end; file.increment(error)) {
    const std::string full = file->path().filename().string();
    const std::string prefix = file_prefix, suffix = file_suffix;
    if (full.size() <= prefix.size() + suffix.size() || full.compare(0, prefix.size(), prefix) != 0 ||
        full.compare(full.size() - suffix.size(), suffix.size(), suffix) != 0) {
      continue;
    }
    std::string name = full.substr(prefix.size(), full.size() - prefix.size() - suffix.size());
    if (is_plain_name(name)) names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace assay
