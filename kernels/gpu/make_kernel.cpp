// Products go to the vendor's library, matrix instructions to the vendor's kernels, the rest to our own.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/make_kernel.h"

#include <utility>
#include <variant>

#include "core/error.h"
#include "kernels/gpu/launch.h"
#include "kernels/gpu/matrix_rate.h"
#include "kernels/gpu/product.h"
#include "kernels/gpu/transfer.h"

namespace assay::gpu {
namespace {

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
    return issue.unit == Unit::matrix ? matrix_rate_support(issue, device) : body_support(op, device);
  }
  Support operator()(const Transfer& transfer) const { return transfer_support(transfer, device, devices); }
  Support operator()(const Launch& launch) const { return launch_support(launch); }
  template <class Body>
  Support operator()(const Body&) const {
    return body_support(op, device);
  }
};

struct Maker {
  const Op& op;
  const Pointers& operands;
  const KernelSetup& setup;
  vendor::MatrixLibrary& library;
  using Made = std::unique_ptr<Kernel>;
  Made operator()(const Gemm& gemm) const { return make_product_kernel(gemm, operands, setup, library); }
  Made operator()(const Issue& issue) const {
    return issue.unit == Unit::vector ? make_body_kernel(op, operands, setup) : make_matrix_rate_kernel(issue, setup);
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
