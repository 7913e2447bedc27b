// A shared library opened at run time: what was tried, what was found, and its functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace assay::cpu {

class Library {
 public:
  // Tries the names in order: paths, or names that the dynamic loader looks up. Nothing found is not an error.
  explicit Library(const std::vector<std::string>& candidates);

  bool found() const { return handle_ != nullptr; }
  const std::string& path() const { return path_; }                    // the real file, links followed
  const std::vector<std::string>& attempts() const { return tried_; }  // what the loader said to each failure

  // Throws Unsupported naming the library and the function where it is not there.
  template <class Function>
  Function* function(const char* name) const {
    return reinterpret_cast<Function*>(symbol(name));
  }
  bool has(const char* name) const;

 private:
  void* symbol(const char* name) const;

  void* handle_ = nullptr;  // never closed: a library with its own threads cannot be unloaded safely
  std::string path_;
  std::vector<std::string> tried_;
};

// The file that the dynamic loader would open for the first of the candidates, found without opening it, because that
// takes tens of milliseconds. Empty where none is in the usual folders.
std::string locate_library(const std::vector<std::string>& candidates);

}  // namespace assay::cpu
