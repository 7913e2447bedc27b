// oneDNN, opened at run time through its C interface. Nothing of its header is seen here, so that a build without the
// header needs no other code.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/op.h"
#include "kernels/cpu/kernel.h"
#include "kernels/cpu/scratch.h"

namespace assay::cpu {

struct OneDnnApi;  // the functions, by the header this was built with

// How the second operand is laid out while the clock runs.
enum class Packing : std::uint8_t {
  plain,   // as the work has it
  packed,  // in the order the library likes best, packed before the clock starts
};

class OneDnn {
 public:
  // Library names in order of preference: those whose interface the header of this build describes.
  static std::vector<std::string> default_candidates();
  static std::string package();  // "libdnnl2 (Debian, Ubuntu)": what brings it

  explicit OneDnn(const std::vector<std::string>& candidates = default_candidates());
  ~OneDnn();
  OneDnn(const OneDnn&) = delete;
  OneDnn& operator=(const OneDnn&) = delete;

  bool usable() const { return api_ != nullptr; }
  const std::string& reason() const { return reason_; }  // a sentence, where it is not
  const std::string& path() const { return path_; }
  const std::string& version() const { return version_; }  // "2.6.3"

  Support supports(const Gemm& gemm);
  std::unique_ptr<Kernel> gemm(const Gemm& gemm, const Pointers& operands, int threads, Packing packing,
                               const std::shared_ptr<Scratch>& scratch);

 private:
  std::unique_ptr<OneDnnApi> api_;
  std::string reason_;
  std::string path_;
  std::string version_;
};

}  // namespace assay::cpu
