// Matrix products by the library where there is one, by own kernels where there is none.
// SPDX-License-Identifier: Apache-2.0
#include "matrix.h"

#include "core/error.h"
#include "hipblaslt_gemm.h"
#include "own_gemm.h"

namespace vendor {
namespace {

using assay::Fact;
using assay::Gemm;
using assay::Support;

constexpr const char* cure = "install ROCm's package hipblaslt, or set ASSAY_HIPBLASLT to the library or its folder";

std::string joined(const std::vector<std::string>& sentences) {
  std::string all;
  for (const std::string& sentence : sentences) all += (all.empty() ? "" : "; ") + sentence;
  return all;
}

class Library : public MatrixLibrary {
 public:
  explicit Library(const std::filesystem::path& root) {
    if (availability().devices > 0) found_ = find_hipblaslt(root);
  }

  std::vector<Fact> facts() const override {
    Fact fact;
    fact.name = "hipblaslt";
    const std::string refused = joined(found_.refused);
    if (found_.library) {
      fact.text = "found";
      fact.source = found_.path;
      fact.reason = "matrix products" + (refused.empty() ? "" : "; passed over: " + refused);
      return {fact};
    }
    fact.reason = "libhipblaslt.so was not found" + (refused.empty() ? "" : " (" + refused + ")") +
                  ": matrix products run on this program's own kernels, far slower than the card; " + cure;
    return {fact};
  }

  Support supports(const Gemm& gemm, int device) const override {
    try {
      const int number = architecture(device);
      return found_.library ? hipblaslt_possible(gemm, number) : own_gemm_possible(gemm, number);
    } catch (const assay::Error& error) {
      return {false, error.what()};
    }
  }

  // hipBLASLt has kernels for some architectures alone and says so only when it is asked about a product; its refusal
  // names the library, and the own kernels then do what they can.
  std::unique_ptr<Launchable> plan(const Gemm& gemm, const MatrixOperands& operands,
                                   const MatrixPreparation& preparation, int device, Stream stream) override {
    if (found_.library) {
      try {
        return plan_hipblaslt(found_.library, gemm, operands, preparation, device, stream);
      } catch (const assay::Unsupported&) {
        if (!own_gemm_possible(gemm, architecture(device)).yes) throw;
      }
    }
    return plan_own_gemm(gemm, operands, architecture(device));
  }

 private:
  HipblasLtFound found_;
};

}  // namespace

std::unique_ptr<MatrixLibrary> open_matrix_library(const std::filesystem::path& root) {
  return std::make_unique<Library>(root);
}

}  // namespace vendor
