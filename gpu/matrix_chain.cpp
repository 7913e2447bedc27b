// Asking one library after the other.
// SPDX-License-Identifier: Apache-2.0
#include "gpu/matrix_chain.h"

#include <algorithm>
#include <utility>

#include "core/error.h"

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

Fact fact_of(const MatrixSource& source) {
  Fact fact;
  fact.name = source.name;
  if (!source.there) {
    const std::string passed_over = source.refused.empty() ? "" : " (" + joined(source.refused) + ")";
    fact.reason = "lib" + source.name + ".so was not found" + passed_over + source.without;
    return fact;
  }
  fact.text = "found";
  fact.source = source.path;
  fact.reason = "matrix products" + (source.refused.empty() ? "" : "; passed over: " + joined(source.refused));
  return fact;
}

class Chain : public MatrixLibrary {
 public:
  explicit Chain(std::vector<MatrixSource> sources) : sources_(std::move(sources)) {}

  std::vector<Fact> facts() const override {
    std::vector<Fact> facts;
    for (const MatrixSource& source : sources_) {
      if (!source.name.empty()) facts.push_back(fact_of(source));
    }
    return facts;
  }

  // Where none can, the reason is that of the one that is asked first.
  Support supports(const Gemm& gemm, int device) const override {
    try {
      const int number = architecture(device);
      Support first{false, "there is no matrix library"};
      bool asked = false;
      for (const MatrixSource& source : sources_) {
        if (!source.there) continue;
        const Support answer = source.possible(gemm, number);
        if (answer.yes) return answer;
        if (!asked) first = answer;
        asked = true;
      }
      return first;
    } catch (const assay::Error& error) {
      return {false, error.what()};
    }
  }

  // A library may have kernels for some architectures alone and say so only when it is asked about a product. Its
  // refusal is passed on where nothing stands in for it.
  std::unique_ptr<MatrixProduct> describe(const Gemm& gemm, const MatrixOperands& operands,
                                          std::optional<std::int64_t> workspace_limit, int device, Stream) override {
    const int number = architecture(device);
    std::string refusal;
    for (const MatrixSource& source : sources_) {
      if (!source.there) continue;
      const Support answer = source.possible(gemm, number);
      if (answer.yes) {
        try {
          return source.describe(gemm, operands, workspace_limit, device);
        } catch (const assay::Unsupported& error) {
          if (refusal.empty()) refusal = error.what();
        }
      } else if (refusal.empty()) {
        refusal = answer.reason;
      }
    }
    throw assay::Unsupported(refusal.empty() ? "there is no matrix library" : refusal);
  }

 private:
  std::vector<MatrixSource> sources_;
};

}  // namespace

std::unique_ptr<MatrixLibrary> make_matrix_chain(const std::function<std::vector<MatrixSource>()>& find) {
  return std::make_unique<Chain>(availability().devices == 0 ? std::vector<MatrixSource>() : find());
}

}  // namespace vendor
