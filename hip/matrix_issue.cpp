// The rate at which the matrix units take instructions: which kernel, and how often.
// SPDX-License-Identifier: Apache-2.0
#include "matrix_issue.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "matrix_issue_kernels.h"
#include "matrix_memory.h"
#include "matrix_timing.h"

namespace vendor {
namespace {

using assay::Issue;
using assay::Support;
using assay::text;

constexpr std::uint32_t data_seed = 20250101;

int turns_for(const Issue& issue, const IssueKernel& kernel) {
  const double turns = std::ceil(static_cast<double>(issue.count) * issue_threads / kernel.multiply_adds_a_turn);
  if (turns > 1e9) throw assay::Unsupported("an issue of so many multiply-adds would run for minutes");
  return turns < 1 ? 1 : static_cast<int>(turns);
}

class IssueLaunch : public Launchable {
 public:
  IssueLaunch(const Issue& issue, IssueKernel kernel, int device)
      : issue_(issue),
        kernel_(std::move(kernel)),
        turns_(turns_for(issue, kernel_)),
        blocks_(static_cast<unsigned>(multiprocessors(device) * resident_by_address(kernel_.entry, issue_threads, 0))) {
  }

  void enqueue(Stream stream) override { start(turns_, blocks_, nullptr, stream); }

  // Runs one block and compares what it summed. Throws Unsupported where the kernel did nothing, because it was not
  // built for this architecture, and Error where a sum is wrong.
  void prove(Stream stream) const {
    const auto bytes = static_cast<std::int64_t>(kernel_.bytes_out);
    const MatrixMemory memory(bytes);
    set_bytes(memory.get(), 0xFF, bytes, stream);  // a NaN everywhere
    start(1, 1, memory.get(), stream);
    std::vector<std::byte> out(kernel_.bytes_out);
    copy(out.data(), memory.get(), bytes, stream);
    synchronise(stream);
    if (std::all_of(out.begin(), out.end(), [](std::byte byte) { return byte == std::byte{0xFF}; })) {
      throw assay::Unsupported(kernel_.instruction + " was not built for this architecture");
    }
    const std::string wrong = wrong_sum(kernel_, data_seed, out);
    if (!wrong.empty()) throw assay::Error("proving " + kernel_.instruction + ": " + wrong);
  }

  // Lets one enqueue() last 5 ms, so that starting it and making operands, about 10 us, is 0.2 %.
  void last_long(Stream stream) {
    constexpr double enough = 5e-3;
    enqueue(stream);
    const double seconds = compare({[&] { enqueue(stream); }}, stream).front();
    int factor = 1;
    while (seconds * factor < enough && factor < 4096 && turns_ <= 1'000'000'000 / (2 * factor)) factor *= 2;
    turns_ *= factor;
  }

  assay::Choice choice() const override {
    assay::Choice choice;
    choice.method = kernel_.instruction;
    choice.executed = text(issue_.operands.element);
    choice.accumulated = text(issue_.accumulate);
    choice.flops = 2 * kernel_.multiply_adds_a_turn * turns_ * blocks_;
    return choice;
  }

 private:
  void start(int turns, unsigned blocks, void* out, Stream stream) const {
    std::uint32_t seed = data_seed;
    void* parameters[] = {&turns, &seed, &out};
    launch_by_address(kernel_.entry, blocks, issue_threads, 0, stream, parameters);
  }

  Issue issue_;
  IssueKernel kernel_;
  int turns_;
  unsigned blocks_;
};

class OwnStream {
 public:
  OwnStream() : stream_(make_stream()) {}
  ~OwnStream() { destroy(stream_); }
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;
  Stream get() const { return stream_; }

 private:
  Stream stream_;
};

}  // namespace

Support supports_matrix_issue(const Issue& issue, int device) {
  try {
    if (issue.unit != assay::Unit::matrix) return {false, "this is about the matrix units, and the issue is not"};
    const int number = architecture(device);
    if (!matrix_issue_kernels(issue, number).empty()) return {true, ""};
    return {false, "the matrix units of " + architecture_text(number) + " do not multiply " + text(issue.operands) +
                       " into " + text(issue.accumulate) + ", or this program has no kernel for that"};
  } catch (const assay::Error& error) {
    return {false, error.what()};
  }
}

std::unique_ptr<Launchable> make_matrix_issue(const Issue& issue, int device) {
  const Support support = supports_matrix_issue(issue, device);
  if (!support.yes) throw assay::Unsupported(support.reason);
  const OwnStream stream;
  std::string refusal;
  for (IssueKernel& kernel : matrix_issue_kernels(issue, architecture(device))) {
    try {
      auto launch = std::make_unique<IssueLaunch>(issue, std::move(kernel), device);
      launch->prove(stream.get());
      launch->last_long(stream.get());
      synchronise(stream.get());
      return launch;
    } catch (const assay::Unsupported& error) {  // not among the architectures this was built for
      refusal = error.what();
    }
  }
  throw assay::Unsupported(refusal);
}

}  // namespace vendor
