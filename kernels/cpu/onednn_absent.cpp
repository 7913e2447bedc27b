// Stands in for oneDNN where its header was not there at build time.
// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "kernels/cpu/onednn.h"

namespace assay::cpu {

struct OneDnnApi {};

std::vector<std::string> OneDnn::default_candidates() { return {}; }

std::string OneDnn::package() { return "libdnnl-dev of Debian and Ubuntu"; }

OneDnn::OneDnn(const std::vector<std::string>&)
    : reason_("this program was built without the oneDNN header (" + package() + "), so it cannot use oneDNN") {}

OneDnn::~OneDnn() = default;

Support OneDnn::supports(const Gemm&) { return {false, reason_}; }

std::unique_ptr<Kernel> OneDnn::gemm(const Gemm&, const Pointers&, int, Packing, const std::shared_ptr<Scratch>&) {
  throw Unsupported(reason_);
}

}  // namespace assay::cpu
