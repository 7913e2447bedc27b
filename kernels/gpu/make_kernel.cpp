// Products go to the vendor's library, matrix instructions to the vendor's kernels, the rest to our own.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/make_kernel.h"

#include <utility>
#include <variant>

#include "core/error.h"
#include "kernels/gpu/launch.h"
#include "kernels/gpu/transfer.h"
#include "matrix_issue.h"

namespace assay::gpu {
namespace {

// What the vendor made ready, as a kernel.
class LaunchableKernel : public Kernel {
 public:
  explicit LaunchableKernel(std::unique_ptr<vendor::Launchable> launchable) : launchable_(std::move(launchable)) {}
  void enqueue(vendor::Stream stream) override { launchable_->enqueue(stream); }
  Choice choice() const override { return launchable_->choice(); }
  std::int64_t workspace_bytes() const override { return launchable_->choice().workspace; }
  int launches() const override { return 4; }  // a split product adds a reduction, and may clear its workspace

 private:
  std::unique_ptr<vendor::Launchable> launchable_;
};

struct Supporter {
  const Op& op;
  vendor::MatrixLibrary& library;
  int device;
  int devices;
  Support operator()(const Gemm& gemm) const {
    if (gemm.scales) return {false, "products that take their scales as operands are not built for GPUs yet"};
    return library.supports(gemm, device);
  }
  Support operator()(const Issue& issue) const {
    return issue.unit == Unit::matrix ? vendor::supports_matrix_issue(issue, device) : body_support(op, device);
  }
  Support operator()(const Transfer& transfer) const { return transfer_support(transfer, device, devices); }
  Support operator()(const Launch& launch) const { return launch_support(launch); }
  template <class Body>
  Support operator()(const Body&) const {
    return body_support(op, device);
  }
};

vendor::MatrixOperands matrix_operands(const Gemm& gemm, const Pointers& operands) {
  vendor::MatrixOperands matrices;
  matrices.a = operands.at(0);
  matrices.b = operands.at(1);
  if (gemm.bias) matrices.bias = operands.at(2);
  matrices.d = operands.at(gemm.bias ? 3 : 2);
  return matrices;
}

struct Maker {
  const Op& op;
  const Pointers& operands;
  const KernelSetup& setup;
  vendor::MatrixLibrary& library;
  using Made = std::unique_ptr<Kernel>;
  Made operator()(const Gemm& gemm) const {
    const vendor::MatrixPreparation preparation{setup.algorithm, setup.workspace_limit};
    return std::make_unique<LaunchableKernel>(
        library.plan(gemm, matrix_operands(gemm, operands), preparation, setup.device, setup.stream));
  }
  Made operator()(const Issue& issue) const {
    if (issue.unit == Unit::vector) return make_body_kernel(op, operands, setup);
    return std::make_unique<LaunchableKernel>(vendor::make_matrix_issue(issue, setup.device));
  }
  Made operator()(const Transfer& transfer) const { return make_transfer_kernel(transfer, operands, setup); }
  Made operator()(const Launch&) const {
    throw Unsupported("launches are timed by the host's clock and cannot be a step among others");
  }
  template <class Body>
  Made operator()(const Body&) const {
    return make_body_kernel(op, operands, setup);
  }
};

}  // namespace

Support step_support(const Op& op, vendor::MatrixLibrary& library, int device, int devices) {
  try {
    return std::visit(Supporter{op, library, device, devices}, op);
  } catch (const std::exception& error) {
    return {false, error.what()};
  }
}

std::unique_ptr<Kernel> make_kernel(const Op& op, const Pointers& operands, const KernelSetup& setup,
                                    vendor::MatrixLibrary& library) {
  return std::visit(Maker{op, operands, setup, library}, op);
}

}  // namespace assay::gpu
