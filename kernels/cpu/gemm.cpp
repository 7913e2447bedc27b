// Choosing among the libraries for a matrix product.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/gemm.h"

#include <limits>
#include <utility>

#include "core/error.h"
#include "kernels/cpu/clock.h"
#include "kernels/cpu/fill.h"
#include "kernels/cpu/widened_gemm.h"

namespace assay::cpu {
namespace {

// What products of a format are added up in; the vector units here know nothing else.
std::optional<Element> accumulator(Element element) {
  switch (element) {
    case Element::fp64:
      return Element::fp64;
    case Element::fp32:
    case Element::bf16:
    case Element::fp16:
      return Element::fp32;
    case Element::int8:
      return Element::int32;
    case Element::tf32:
    case Element::fp8_e4m3:
    case Element::fp8_e5m2:
    case Element::fp8_e4m3_fnuz:
    case Element::fp8_e5m2_fnuz:
    case Element::int32:
    case Element::int64:
    case Element::fp4_e2m1:
    case Element::ue8m0:
      break;
  }
  return std::nullopt;
}

Support refuse(const Gemm& gemm) {
  if (gemm.scales) {
    return {false, "products of scaled matrices (" + text(gemm.a) + " by " + text(gemm.b) +
                       ") are in no library here; only FP8 and FP16 ones are widened"};
  }
  if (gemm.a.element == Element::tf32 || gemm.b.element == Element::tf32) {
    return {false, "the processor has no TF32; FP32 products are exact FP32 here"};
  }
  if (gemm.a != gemm.b) {
    return {false, "matrices of two formats (" + text(gemm.a) + " by " + text(gemm.b) +
                       ") are not multiplied by any library here"};
  }
  if (gemm.a.scaling != Scaling::none || gemm.d.scaling != Scaling::none) {
    return {false, "products of scaled formats (" + text(gemm.a) + ") are not in any library here"};
  }
  const auto sum = accumulator(gemm.a.element);
  if (!sum) {
    return {false, "the processor multiplies no " + text(gemm.a) + " matrices: neither oneDNN nor OpenBLAS has it"};
  }
  if (gemm.accumulate != *sum) {
    return {false, text(gemm.a) + " products are added up in " + text(*sum) + " here, not in " + text(gemm.accumulate)};
  }
  const bool plain = gemm.beta == 0 && !gemm.bias && gemm.activation == Activation::none && gemm.alpha == 1;
  if (gemm.d.element == Element::int32 && !plain) {
    return {false,
            "oneDNN takes 32-bit integers through FP32 to scale them, to add to them or to activate them, and so loses "
            "their low bits; only a plain product has an int32 result here"};
  }
  return {true, ""};
}

bool prefers_openblas(const Gemm& gemm, Libraries& libraries) {
  return gemm.a.element == Element::fp64 ||
         (gemm.a.element == Element::fp32 && !libraries.onednn().usable() && libraries.openblas().usable());
}

using Candidates = std::vector<std::unique_ptr<Kernel>>;

Candidates candidates(const Gemm& gemm, const Pointers& operands, const KernelSetup& setup) {
  Candidates list;
  Libraries& libraries = setup.libraries;
  if (libraries.onednn().supports(gemm).yes) {
    list.push_back(libraries.onednn().gemm(gemm, operands, setup.threads, Packing::plain, setup.scratch));
    if (setup.constant.size() > 1 && setup.constant[1]) {
      list.push_back(libraries.onednn().gemm(gemm, operands, setup.threads, Packing::packed, setup.scratch));
    }
  }
  if (libraries.openblas().supports(gemm).yes) {
    list.push_back(libraries.openblas().gemm(gemm, operands, setup.threads));
  }
  return list;
}

bool allowed(const Kernel& kernel, const KernelSetup& setup) {
  return !setup.workspace_limit || kernel.choice().workspace <= *setup.workspace_limit;
}

// The shorter of two runs after a warm one; the operands get data that takes full time, since zeros multiply faster.
double seconds_of(Kernel& kernel) {
  kernel.refresh();
  kernel.run();
  double best = std::numeric_limits<double>::infinity();
  for (int attempt = 0; attempt < 2; ++attempt) {
    const double start = monotonic_seconds();
    kernel.run();
    best = std::min(best, monotonic_seconds() - start);
  }
  return best;
}

void put_typical_data(const Gemm& gemm, const Pointers& operands, int threads) {
  fill_elements(gemm.a.element, operands.at(0), gemm.batch * gemm.m * gemm.k, Pattern::typical, 1, 1, threads);
  fill_elements(gemm.b.element, operands.at(1), gemm.batch * gemm.k * gemm.n, Pattern::typical, 2, 1, threads);
}

std::unique_ptr<Kernel> fastest(const Gemm& gemm, const Pointers& operands, const KernelSetup& setup) {
  Candidates list = candidates(gemm, operands, setup);
  setup.scratch->allocate(setup.threads);
  put_typical_data(gemm, operands, setup.threads);
  std::unique_ptr<Kernel> best;
  double least = std::numeric_limits<double>::infinity();
  for (auto& kernel : list) {
    if (!allowed(*kernel, setup)) {
      continue;
    }
    const double seconds = seconds_of(*kernel);
    if (seconds < least) {
      least = seconds;
      best = std::move(kernel);
    }
  }
  if (!best) {
    throw Unsupported("no way to do \"" + text(Op(gemm)) + "\" keeps to the workspace limit of " +
                      std::to_string(*setup.workspace_limit) + " bytes");
  }
  return best;
}

}  // namespace

Support gemm_support(const Gemm& gemm, Libraries& libraries) {
  if (widens(gemm)) {
    const Support inner = gemm_support(widened(gemm), libraries);
    if (!inner.yes) return {false, "widening " + text(gemm.a) + " first does not help: " + inner.reason};
    return inner;
  }
  Support answer = refuse(gemm);
  if (!answer.yes) {
    return answer;
  }
  return prefers_openblas(gemm, libraries) ? libraries.openblas().supports(gemm) : libraries.onednn().supports(gemm);
}

std::unique_ptr<Kernel> make_gemm_kernel(const Gemm& gemm, const Pointers& operands, const KernelSetup& setup) {
  if (widens(gemm)) return make_widened_gemm(gemm, operands, setup);
  if (setup.algorithm == Algorithm::best) {
    return fastest(gemm, operands, setup);
  }
  auto kernel = prefers_openblas(gemm, setup.libraries)
                    ? setup.libraries.openblas().gemm(gemm, operands, setup.threads)
                    : setup.libraries.onednn().gemm(gemm, operands, setup.threads, Packing::plain, setup.scratch);
  if (!allowed(*kernel, setup)) {
    throw Unsupported("\"" + text(Op(gemm)) + "\" needs a workspace of " + std::to_string(kernel->choice().workspace) +
                      " bytes here, more than the limit of " + std::to_string(*setup.workspace_limit));
  }
  return kernel;
}

}  // namespace assay::cpu
