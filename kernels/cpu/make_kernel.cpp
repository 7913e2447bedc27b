// The table of ops.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/make_kernel.h"

#include <variant>

#include "core/error.h"
#include "kernels/cpu/chase.h"
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/issue.h"
#include "kernels/cpu/launch.h"
#include "kernels/cpu/transfer.h"

namespace assay::cpu {
namespace {

Support bodies(const Op& op) {
  if (bodies_support(op)) {
    return {true, ""};
  }
  return {false, "the own kernels for the processor do not cover the formats of \"" + text(op) + "\""};
}

struct Supporter {
  Libraries& libraries;
  const Op& op;
  Support operator()(const Gemm& gemm) const { return gemm_support(gemm, libraries); }
  Support operator()(const Issue& issue) const { return issue_support(issue); }
  Support operator()(const Chase& chase) const { return chase_support(chase); }
  Support operator()(const Launch& launch) const { return launch_support(launch); }
  Support operator()(const Transfer& transfer) const { return transfer_support(transfer); }
  template <class Body>
  Support operator()(const Body&) const {
    return bodies(op);
  }
};

struct Maker {
  const Op& op;
  const Pointers& operands;
  const KernelSetup& setup;
  std::unique_ptr<Kernel> operator()(const Gemm& gemm) const { return make_gemm_kernel(gemm, operands, setup); }
  std::unique_ptr<Kernel> operator()(const Issue& issue) const { return make_issue_kernel(issue, setup.threads); }
  std::unique_ptr<Kernel> operator()(const Chase& chase) const {
    return make_chase_kernel(chase, operands, setup.threads);
  }
  std::unique_ptr<Kernel> operator()(const Launch& launch) const { return make_launch_kernel(launch, setup.threads); }
  std::unique_ptr<Kernel> operator()(const Transfer& transfer) const {
    return make_transfer_kernel(transfer, operands, setup.threads);
  }
  template <class Body>
  std::unique_ptr<Kernel> operator()(const Body&) const {
    return make_body_kernel(op, operands, setup.threads);
  }
};

}  // namespace

Support support(const Op& op, Libraries& libraries) {
  try {
    return std::visit(Supporter{libraries, op}, op);
  } catch (const std::exception& error) {
    return {false, error.what()};
  }
}

std::unique_ptr<Kernel> make_kernel(const Op& op, const Pointers& operands, const KernelSetup& setup) {
  const Support answer = support(op, setup.libraries);
  if (!answer.yes) {
    throw Unsupported(answer.reason);
  }
  return std::visit(Maker{op, operands, setup}, op);
}

}  // namespace assay::cpu
