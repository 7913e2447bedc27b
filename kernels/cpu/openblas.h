// OpenBLAS, opened at run time with own prototypes, and the choice of its kernel set.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/op.h"
#include "kernels/cpu/features.h"
#include "kernels/cpu/kernel.h"
#include "kernels/cpu/library.h"

namespace assay::cpu {

// What OPENBLAS_CORETYPE must say for this processor, empty where OpenBLAS finds it out well enough. Version 0.3.21
// does not know newer Xeons and then takes SSE3 kernels, five times slower than those for SkylakeX.
std::string openblas_core_type(const Features& features);

class OpenBlas {
 public:
  static std::vector<std::string> default_candidates();
  static std::string package();

  // Sets OPENBLAS_CORETYPE while the library loads, unless the environment already has it, empty or not.
  explicit OpenBlas(const std::vector<std::string>& candidates = default_candidates(),
                    const Features& features = detect_features());

  bool usable() const { return gemm_double_ != nullptr; }
  const std::string& reason() const { return reason_; }  // a sentence, where it is not
  const std::string& path() const { return path_; }
  const std::string& version() const { return version_; }  // "0.3.21"
  const std::string& kernels() const { return kernels_; }  // the kernel set in use: "SkylakeX"
  const std::string& note() const { return note_; }        // what a reader must know: a user's core type, no OpenMP

  Support supports(const Gemm& gemm) const;
  std::unique_ptr<Kernel> gemm(const Gemm& gemm, const Pointers& operands, int threads) const;

  // cblas_dgemm and cblas_sgemm with the 32-bit integers of the usual build; order 101 is row-major, 111 is as it is,
  // 112 is transposed (netlib's cblas.h).
  template <class Number>
  using GemmFunction = void(int order, int transpose_a, int transpose_b, int m, int n, int k, Number alpha,
                            const Number* a, int lda, const Number* b, int ldb, Number beta, Number* d, int ldd);

 private:
  void load(const std::vector<std::string>& candidates);

  std::shared_ptr<Library> library_;
  GemmFunction<double>* gemm_double_ = nullptr;
  GemmFunction<float>* gemm_float_ = nullptr;
  void (*set_threads_)(int) = nullptr;
  std::string reason_, path_, version_, kernels_, note_;
};

}  // namespace assay::cpu
