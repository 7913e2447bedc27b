// Matrix products: by hipBLASLt, else by hipBLAS, else by own kernels; each row says by which.
// SPDX-License-Identifier: Apache-2.0
#include "matrix.h"

#include "core/error.h"
#include "hipblas.h"
#include "hipblaslt_gemm.h"
#include "own_gemm.h"

namespace vendor {
namespace {

using assay::Fact;
using assay::Gemm;
using assay::Support;

std::string joined(const std::vector<std::string>& sentences) {
  std::string all;
  for (const std::string& sentence : sentences) all += (all.empty() ? "" : "; ") + sentence;
  return all;
}

Fact fact_of(const std::string& name, const std::string& path, const std::vector<std::string>& refused,
             const std::string& without) {
  Fact fact;
  fact.name = name;
  if (path.empty()) {
    fact.reason = "lib" + name + ".so was not found" + (refused.empty() ? "" : " (" + joined(refused) + ")") + without;
    return fact;
  }
  fact.text = "found";
  fact.source = path;
  fact.reason = "matrix products" + (refused.empty() ? "" : "; passed over: " + joined(refused));
  return fact;
}

class Library : public MatrixLibrary {
 public:
  // With no device the libraries end the process when a handle is made; so none is even opened.
  explicit Library(const std::filesystem::path& root) {
    if (availability().devices == 0) return;
    newer_ = find_hipblaslt(root);
    older_ = find_hipblas(root);
  }

  std::vector<Fact> facts() const override {
    return {fact_of("hipblaslt", newer_.path, newer_.refused,
                    ": matrix products run on hipBLAS, which can be several times slower, or where that is not there "
                    "either on this program's own kernels; install ROCm's package hipblaslt, or set ASSAY_HIPBLASLT to "
                    "the library or its folder"),
            fact_of("hipblas", older_.path, older_.refused, "; it stands in where hipBLASLt does not serve a card")};
  }

  Support supports(const Gemm& gemm, int device) const override {
    try {
      const int number = architecture(device);
      const Support by_newer = newer_.library ? hipblaslt_possible(gemm, number) : Support{false, ""};
      if (by_newer.yes) return by_newer;
      const Support by_older = older_.library ? hipblas_possible(gemm, number) : Support{false, ""};
      if (by_older.yes) return by_older;
      const Support by_own = own_gemm_possible(gemm, number);
      return by_own.yes || by_newer.reason.empty() ? by_own : by_newer;
    } catch (const assay::Error& error) {
      return {false, error.what()};
    }
  }

  // hipBLASLt has kernels for some architectures alone and says so only when it is asked about a product; its refusal
  // names the library, and what stands in for it then does what it can.
  std::unique_ptr<MatrixProduct> describe(const Gemm& gemm, const MatrixOperands& operands,
                                          std::optional<std::int64_t> workspace_limit, int device, Stream) override {
    const int number = architecture(device);
    const bool by_older = older_.library && hipblas_possible(gemm, number).yes;
    if (newer_.library) {
      try {
        return describe_to_hipblaslt(newer_.library, gemm, operands, workspace_limit, device);
      } catch (const assay::Unsupported&) {
        if (!by_older && !own_gemm_possible(gemm, number).yes) throw;
      }
    }
    if (by_older) return describe_to_hipblas(older_.library, gemm, operands, device);
    return make_own_product(gemm, operands, number);
  }

 private:
  HipblasLtFound newer_;
  HipblasFound older_;
};

}  // namespace

std::unique_ptr<MatrixLibrary> open_matrix_library(const std::filesystem::path& root) {
  return std::make_unique<Library>(root);
}

}  // namespace vendor
