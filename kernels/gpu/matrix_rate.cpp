// The rate at which the matrix units take instructions: which kernels, how often, and which is fastest.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/matrix_rate.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "kernels/gpu/compare.h"
#include "kernels/gpu/memory.h"

namespace assay::gpu {
namespace {

constexpr std::uint32_t data_seed = 20250101;

class RateKernel : public Kernel {
 public:
  RateKernel(const Issue& issue, vendor::IssueKernel kernel, int device)
      : issue_(issue), kernel_(std::move(kernel)), device_(device), turns_(turns_for(issue, kernel_)) {
    if (kernel_.shared_bytes > 0) vendor::allow_shared_by_address(kernel_.entry, kernel_.shared_bytes);
    unsigned blocks = kernel_.blocks_a_multiprocessor;
    if (blocks == 0) {
      blocks = static_cast<unsigned>(vendor::resident_by_address(kernel_.entry, kernel_.threads, kernel_.shared_bytes));
    }
    blocks_ = static_cast<unsigned>(vendor::multiprocessors(device)) * blocks;
  }

  void enqueue(vendor::Stream stream) override { start(turns_, blocks_, nullptr, stream); }

  // Runs one block and compares what it summed. Throws Unsupported where the kernel did nothing, because it was not
  // built for this architecture, and Error where a sum is wrong.
  void prove(vendor::Stream stream) const {
    constexpr int turns = 1;
    constexpr std::size_t stride = 61;  // prime: words of all threads and registers are met
    constexpr int unwritten = 0xFF;     // a NaN everywhere
    const auto bytes = static_cast<std::int64_t>(kernel_.words_out * sizeof(std::uint32_t));
    const Block memory(Home{PlaceKind::device, device_}, bytes, device_);
    vendor::set_bytes(memory.data(), unwritten, bytes, stream);
    start(turns, 1, memory.data(), stream);
    std::vector<std::uint32_t> out(kernel_.words_out);
    vendor::copy(out.data(), memory.data(), bytes, stream);
    vendor::synchronise(stream);
    const auto untouched = [](std::uint32_t word) { return word == 0xFFFFFFFFU; };
    if (std::all_of(out.begin(), out.end(), untouched)) {
      throw Unsupported(kernel_.instruction + " was not built for this architecture");
    }
    const auto wrong = vendor::wrong_sum(kernel_, data_seed, turns, out, stride);
    if (wrong) throw Error("proving " + kernel_.instruction + ": " + *wrong);
  }

  Choice choice() const override {
    Choice choice;
    choice.method = kernel_.instruction;
    choice.executed = text(issue_.operands.element);
    choice.accumulated = text(issue_.accumulate);
    choice.flops = flops();
    choice.note = note_;
    return choice;
  }

  // There are no operands to have copies of.
  std::unique_ptr<Kernel> again(const Pointers&) const override { return std::make_unique<RateKernel>(*this); }

  void last_long(double seconds) { turns_ *= lengthening(seconds, turns_); }
  double flops() const { return 2 * kernel_.multiply_adds_a_turn * turns_ * blocks_; }
  const std::string& instruction() const { return kernel_.instruction; }
  void remark(std::string note) { note_ = std::move(note); }

 private:
  void start(int turns, unsigned blocks, void* out, vendor::Stream stream) const {
    std::uint32_t seed = data_seed;
    void* parameters[] = {&turns, &seed, &out};
    vendor::launch_by_address(kernel_.entry, blocks, kernel_.threads, kernel_.shared_bytes, stream, parameters);
  }

  Issue issue_;
  vendor::IssueKernel kernel_;
  int device_;
  int turns_;
  unsigned blocks_ = 0;
  std::string note_;
};

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.0f %%", 100 * share);
  return text;
}

// The one with the highest rate, with a note about the others. All have run once.
std::unique_ptr<RateKernel> fastest(std::vector<std::unique_ptr<RateKernel>> kernels, vendor::Stream stream) {
  std::vector<std::function<void()>> ways;
  for (const auto& kernel : kernels) ways.emplace_back([&kernel, stream] { kernel->enqueue(stream); });
  for (std::size_t i = 0; i < kernels.size(); ++i) kernels[i]->last_long(compare({ways[i]}, stream).front());
  const std::vector<double> seconds = compare(ways, stream);
  const auto rate = [&](std::size_t i) { return kernels[i]->flops() / seconds[i]; };
  std::size_t best = 0;
  for (std::size_t i = 1; i < kernels.size(); ++i) {
    if (rate(i) > rate(best)) best = i;
  }
  std::string note;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (i == best) continue;
    note += (note.empty() ? "" : "; ") + kernels[i]->instruction() + " reached " + percent(rate(i) / rate(best)) +
            " of this";
  }
  kernels[best]->remark(note);
  return std::move(kernels[best]);
}

}  // namespace

Support matrix_rate_support(const Issue& issue, int device) {
  try {
    if (issue.unit != Unit::matrix) return {false, "this is about the matrix units, and the issue is not"};
    return vendor::matrix_issue_possible(issue, vendor::architecture(device));
  } catch (const Error& error) {
    return {false, error.what()};
  }
}

int turns_for(const Issue& issue, const vendor::IssueKernel& kernel) {
  const double turns = std::ceil(static_cast<double>(issue.count) * kernel.threads / kernel.multiply_adds_a_turn);
  if (turns > 1e9) throw Unsupported("an issue of so many multiply-adds would run for minutes");
  return turns < 1 ? 1 : static_cast<int>(turns);
}

int lengthening(double seconds, int turns) {
  constexpr double enough = 5e-3;
  int factor = 1;
  while (seconds * factor < enough && factor < 4096 && turns <= 1'000'000'000 / (2 * factor)) factor *= 2;
  return factor;
}

std::unique_ptr<Kernel> make_matrix_rate_kernel(const Issue& issue, const KernelSetup& setup) {
  const Support support = matrix_rate_support(issue, setup.device);
  if (!support.yes) throw Unsupported(support.reason);
  std::vector<std::unique_ptr<RateKernel>> kernels;
  std::string refusal;
  for (vendor::IssueKernel& described : vendor::matrix_issue_kernels(issue, vendor::architecture(setup.device))) {
    try {
      auto kernel = std::make_unique<RateKernel>(issue, std::move(described), setup.device);
      kernel->prove(setup.stream);
      kernel->enqueue(setup.stream);  // so that all have run once
      kernels.push_back(std::move(kernel));
    } catch (const Unsupported& error) {  // not among the architectures this was built for
      refusal = error.what();
    }
  }
  vendor::synchronise(setup.stream);
  if (kernels.empty()) throw Unsupported(refusal);
  return fastest(std::move(kernels), setup.stream);
}

}  // namespace assay::gpu
