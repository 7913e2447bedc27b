// The math libraries of a back end, each opened when it is first needed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/cpu/onednn.h"
#include "kernels/cpu/openblas.h"

namespace assay::cpu {

// Where to look; tests name libraries that are not there.
struct LibraryNames {
  std::vector<std::string> onednn = OneDnn::default_candidates();
  std::vector<std::string> openblas = OpenBlas::default_candidates();
};

class Libraries {
 public:
  explicit Libraries(LibraryNames names = {}) : names_(std::move(names)) {}

  const LibraryNames& names() const { return names_; }
  bool opened() const { return onednn_.has_value() || openblas_.has_value(); }
  OneDnn& onednn() {
    if (!onednn_) {
      onednn_.emplace(names_.onednn);
    }
    return *onednn_;
  }
  OpenBlas& openblas() {
    if (!openblas_) {
      openblas_.emplace(names_.openblas);
    }
    return *openblas_;
  }

 private:
  LibraryNames names_;
  std::optional<OneDnn> onednn_;
  std::optional<OpenBlas> openblas_;
};

}  // namespace assay::cpu
