// One algorithm is chosen and one workspace held for a product, however many copies of its operands there are.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/product.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "kernels/gpu/compare.h"
#include "kernels/gpu/memory.h"

namespace assay::gpu {
namespace {

using Product = std::unique_ptr<vendor::MatrixProduct>;

// Copies of one step run one after the other on its lane, so they can share it.
struct Chosen {
  int way = 0;
  std::string note;  // what the others did
  Block workspace;
};

Block workspace_of(std::int64_t bytes, int device) {
  return bytes > 0 ? Block(Home{PlaceKind::device, device}, bytes, device) : Block();
}

vendor::MatrixOperands matrix_operands(const Gemm& gemm, const Pointers& operands) {
  vendor::MatrixOperands matrices;
  matrices.a = operands.at(0);
  matrices.b = operands.at(1);
  if (gemm.bias) matrices.bias = operands.at(2);
  matrices.d = operands.at(gemm.bias ? 3 : 2);
  return matrices;
}

// Runs each way once, drops those that fail, and compares the others.
Chosen fastest(vendor::MatrixProduct& product, const KernelSetup& setup) {
  std::int64_t most = 0;
  for (int way = 0; way < product.ways(); ++way) most = std::max(most, product.workspace(way));
  const Block workspace = workspace_of(most, setup.device);
  std::vector<int> running;
  for (int way = 0; way < product.ways(); ++way) {
    try {
      product.enqueue(way, workspace.data(), setup.stream);
      running.push_back(way);
    } catch (const DeviceLost&) {
      throw;
    } catch (const Error&) {  // the library offers what it then refuses; another way may do
    }
  }
  vendor::synchronise(setup.stream);
  Chosen chosen;
  if (running.empty()) return chosen;  // its failure is told by whoever runs it
  std::vector<std::function<void()>> ways;
  for (const int way : running) {
    ways.emplace_back([&product, &workspace, &setup, way] { product.enqueue(way, workspace.data(), setup.stream); });
  }
  const std::vector<double> seconds = compare(ways, setup.stream);
  const auto best = std::min_element(seconds.begin(), seconds.end()) - seconds.begin();
  chosen.way = running[static_cast<std::size_t>(best)];
  chosen.note = "the fastest of " + std::to_string(running.size()) + " algorithms, number " +
                std::to_string(chosen.way + 1) + " by the library's own estimate";
  return chosen;
}

class ProductKernel : public Kernel {
 public:
  ProductKernel(const Gemm& gemm, Product product, std::shared_ptr<const Chosen> chosen, bool owner)
      : gemm_(gemm), product_(std::move(product)), chosen_(std::move(chosen)), owner_(owner) {}

  void enqueue(vendor::Stream stream) override { product_->enqueue(chosen_->way, chosen_->workspace.data(), stream); }

  Choice choice() const override {
    Choice choice = product_->choice(chosen_->way);
    if (!chosen_->note.empty()) choice.note += (choice.note.empty() ? "" : "; ") + chosen_->note;
    return choice;
  }

  std::int64_t workspace_bytes() const override {
    return owner_ ? chosen_->workspace.bytes() + product_->choice(chosen_->way).workspace : 0;
  }

  int launches() const override { return 4; }  // a split product adds a reduction, and may clear its workspace

  std::unique_ptr<Kernel> again(const Pointers& operands) const override {
    return std::make_unique<ProductKernel>(gemm_, product_->elsewhere(matrix_operands(gemm_, operands)), chosen_,
                                           false);
  }

 private:
  Gemm gemm_;
  Product product_;
  std::shared_ptr<const Chosen> chosen_;
  bool owner_;
};

}  // namespace

std::unique_ptr<Kernel> make_product_kernel(const Gemm& gemm, const Pointers& operands, const KernelSetup& setup,
                                            vendor::MatrixLibrary& library) {
  Product product =
      library.describe(gemm, matrix_operands(gemm, operands), setup.workspace_limit, setup.device, setup.stream);
  const bool choose = setup.algorithm == Algorithm::best && product->ways() > 1;
  auto chosen = std::make_shared<Chosen>(choose ? fastest(*product, setup) : Chosen());
  chosen->workspace = workspace_of(product->workspace(chosen->way), setup.device);
  return std::make_unique<ProductKernel>(gemm, std::move(product), std::move(chosen), true);
}

}  // namespace assay::gpu
