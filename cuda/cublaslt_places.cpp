// Where NVIDIA's matrix library may lie.
// SPDX-License-Identifier: Apache-2.0
#include "cublaslt_places.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <system_error>

namespace vendor {
namespace {

namespace fs = std::filesystem;

// Newest first. The unversioned name is a link that toolkits for building have.
constexpr std::array<const char*, 3> library_names = {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"};

// "python3.11" after "python3.9": runs of digits compare as numbers.
bool natural_less(const std::string& a, const std::string& b) {
  std::size_t i = 0;
  std::size_t j = 0;
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  while (i < a.size() && j < b.size()) {
    if (digit(a[i]) && digit(b[j])) {
      const std::size_t from_a = i;
      const std::size_t from_b = j;
      while (i < a.size() && digit(a[i])) ++i;
      while (j < b.size() && digit(b[j])) ++j;
      if (i - from_a != j - from_b) return i - from_a < j - from_b;
      const int order = a.compare(from_a, i - from_a, b, from_b, j - from_b);
      if (order != 0) return order < 0;
    } else {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i;
      ++j;
    }
  }
  return i == a.size() && j != b.size();
}

bool is_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

// Folders in `parent` whose name starts with `prefix`, newest name first.
std::vector<fs::path> folders_like(const fs::path& parent, const std::string& prefix) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry(parent, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    if (entry->path().filename().string().rfind(prefix, 0) == 0 && is_folder(entry->path())) {
      found.push_back(entry->path());
    }
  }
  std::sort(found.begin(), found.end(),
            [](const fs::path& a, const fs::path& b) { return natural_less(b.filename(), a.filename()); });
  return found;
}

// Folders that match a path whose parts may end in `*`: "opt/*/lib64", "usr/lib/python3*/dist-packages".
std::vector<fs::path> expand(const fs::path& base, const fs::path& pattern) {
  std::vector<fs::path> found = {base};
  for (const fs::path& part : pattern) {
    std::vector<fs::path> next;
    const std::string name = part.string();
    for (const fs::path& folder : found) {
      if (!name.empty() && name.back() == '*') {
        const auto more = folders_like(folder, name.substr(0, name.size() - 1));
        next.insert(next.end(), more.begin(), more.end());
      } else if (is_folder(folder / part)) {
        next.push_back(folder / part);
      }
    }
    found = std::move(next);
  }
  return found;
}

class Candidates {
 public:
  void name_for_loader(const std::string& name) { add(name); }

  // The libraries that lie in this folder.
  void folder(const fs::path& folder) {
    for (const char* name : library_names) {
      std::error_code error;
      if (fs::exists(folder / name, error)) add((folder / name).string());
    }
  }

  void folders(const fs::path& base, std::initializer_list<const char*> patterns) {
    for (const char* pattern : patterns) {
      for (const fs::path& found : expand(base, pattern)) folder(found);
    }
  }

  // Wheels: nvidia-cublas-cu12 unpacks into nvidia/cublas/lib, those of CUDA 13 into nvidia/cu13/lib.
  void packages_of(const fs::path& base, const char* pattern) {
    for (const fs::path& packages : expand(base, pattern)) {
      folders(packages, {"nvidia/cu13/lib", "nvidia/cublas/lib", "nvidia/*/lib"});
    }
  }

  void add(const std::string& candidate) {
    if (std::find(list_.begin(), list_.end(), candidate) == list_.end()) list_.push_back(candidate);
  }

  std::vector<std::string> take() { return std::move(list_); }

 private:
  std::vector<std::string> list_;
};

void add_toolkits(Candidates& candidates, const fs::path& root, const Environment& environment) {
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const auto home = environment(variable)) candidates.folders(*home, {"lib64", "lib"});
  }
  candidates.folders(root, {"usr/local/cuda/lib64", "usr/local/cuda/lib", "usr/local/cuda/targets/*/lib",
                            "usr/local/cuda-*/lib64", "usr/local/cuda-*/lib", "usr/local/cuda-*/targets/*/lib"});
}

void add_opt(Candidates& candidates, const fs::path& root) {
  candidates.folders(root, {"opt/cuda/lib64", "opt/cuda*/lib64", "opt/*/lib64", "opt/*/lib", "opt/*/*/lib64",
                            "opt/nvidia/hpc_sdk/*/*/math_libs/lib64", "opt/nvidia/hpc_sdk/*/*/math_libs/*/lib64"});
}

void add_python(Candidates& candidates, const fs::path& root, const Environment& environment) {
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    if (const auto prefix = environment(variable)) {
      candidates.packages_of(*prefix, "lib/python3*/site-packages");
      candidates.folders(*prefix, {"lib"});
    }
  }
  if (const auto home = environment("HOME")) candidates.packages_of(*home, ".local/lib/python3*/site-packages");
  for (const char* packages :
       {"usr/local/lib/python3*/dist-packages", "usr/local/lib/python3*/site-packages",
        "usr/lib/python3*/dist-packages", "usr/lib/python3*/site-packages", "usr/lib64/python3*/site-packages",
        "opt/*/lib/python3*/site-packages", "opt/*/*/lib/python3*/site-packages", "venv/*/lib/python3*/site-packages",
        "workspace/*/lib/python3*/site-packages", "root/*/lib/python3*/site-packages"}) {
    candidates.packages_of(root, packages);
  }
}

}  // namespace

Environment process_environment() {
  return [](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') return std::nullopt;
    return std::string(value);
  };
}

std::vector<std::string> cublaslt_candidates(const fs::path& root, const Environment& environment) {
  Candidates candidates;
  if (const auto given = environment("ASSAY_CUBLASLT")) {
    if (is_folder(*given)) {
      candidates.folder(*given);
    } else {
      candidates.add(*given);
    }
    return candidates.take();
  }
  for (const char* name : library_names) candidates.name_for_loader(name);
  add_toolkits(candidates, root, environment);
  add_opt(candidates, root);
  add_python(candidates, root, environment);
  return candidates.take();
}

}  // namespace vendor
