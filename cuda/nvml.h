// The management library, opened at run time: found or missed, and every function of it optional.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <vector>

#include "cuda/nvml_types.h"

namespace vendor::nvml {

// What a status means, as the end of a sentence: "the driver has lost the GPU (it has fallen off the bus)".
std::string words(Status status);

// What to do about it; empty where nothing is known to help.
std::string cure(Status status);

// Where it is looked for, in this order. A path in $ASSAY_NVML is the only one then.
std::vector<std::string> places();

// An initialised library. Calls are safe from any thread, as the library's own are.
class Library {
 public:
  struct Opened {
    std::shared_ptr<const Library> library;  // null where it cannot be used
    Status status = Status::success;         // what initialising said; library_not_found where there is none
    std::string reason;                      // a sentence, where null
  };
  // Never throws.
  static Opened open(const std::vector<std::string>& paths = places());

  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  // function_not_found where this version of the library lacks it.
  template <class... Arguments>
  Status call(const Call<Arguments...>& symbol, std::common_type_t<Arguments>... arguments) const {
    const auto function = reinterpret_cast<Status (*)(Arguments...)>(find(symbol.name));
    return function == nullptr ? Status::function_not_found : function(arguments...);
  }

  const std::string& path() const { return path_; }

 private:
  Library(void* opened, std::string path) : opened_(opened), path_(std::move(path)) {}
  void* find(const char* name) const;

  void* opened_;
  std::string path_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, void*> found_;
};

}  // namespace vendor::nvml
