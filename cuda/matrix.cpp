// Matrix products by the library where there is one, by own kernels where there is none.
// SPDX-License-Identifier: Apache-2.0
#include "gpu/matrix.h"

#include "core/error.h"
#include "cublaslt_gemm.h"
#include "cublaslt_problem.h"
#include "own_gemm.h"

namespace vendor {
namespace {

using assay::Fact;
using assay::Gemm;
using assay::Support;

constexpr const char* cure =
    "install it with the CUDA toolkit (package libcublas-13-0 or cuda-libraries-13-0), or by `pip install "
    "nvidia-cublas` (nvidia-cublas-cu12 for CUDA 12), or set ASSAY_CUBLASLT to the file or its folder";

std::string joined(const std::vector<std::string>& sentences) {
  std::string all;
  for (const std::string& sentence : sentences) all += (all.empty() ? "" : "; ") + sentence;
  return all;
}

class Library : public MatrixLibrary {
 public:
  explicit Library(const std::filesystem::path& root) {
    const Environment environment = process_environment();
    CublasLtOpened opened = open_cublaslt(cublaslt_candidates(root, environment));
    if (opened.api) library_ = std::make_shared<CublasLt>(opened.api);
    refused_ = std::move(opened.refused);
    given_ = environment("ASSAY_CUBLASLT");
  }

  std::vector<Fact> facts() const override {
    Fact fact;
    fact.name = "cublaslt";
    if (library_) {
      fact.text = cublaslt_version_text(library_->api().version);
      fact.source = library_->api().path;
      fact.reason = "matrix products" + (refused_.empty() ? "" : "; passed over: " + joined(refused_));
      return {fact};
    }
    const std::string where =
        given_ ? "ASSAY_CUBLASLT says " + *given_ + ", and no usable library is there" : "libcublasLt.so was not found";
    fact.reason = where + (refused_.empty() ? "" : " (" + joined(refused_) + ")") +
                  ": matrix products run on this program's own kernels, slower than the card; " + cure;
    return {fact};
  }

  Support supports(const Gemm& gemm, int device) const override {
    try {
      const int sm = architecture(device);
      return library_ ? cublaslt_possible(gemm, sm, library_->api().version) : own_gemm_possible(gemm, sm);
    } catch (const assay::Error& error) {
      return {false, error.what()};
    }
  }

  std::unique_ptr<MatrixProduct> describe(const Gemm& gemm, const MatrixOperands& operands,
                                          std::optional<std::int64_t> workspace_limit, int device,
                                          Stream stream) override {
    if (library_) return describe_to_cublaslt(library_, gemm, operands, workspace_limit, device, stream);
    return make_own_product(gemm, operands, architecture(device));
  }

 private:
  std::shared_ptr<CublasLt> library_;  // null: none was found
  std::vector<std::string> refused_;
  std::optional<std::string> given_;
};

}  // namespace

std::unique_ptr<MatrixLibrary> open_matrix_library(const std::filesystem::path& root) {
  return std::make_unique<Library>(root);
}

}  // namespace vendor
