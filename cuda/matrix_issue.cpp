// The rate at which the matrix units take instructions: which kernels, how often, and which is fastest.
// SPDX-License-Identifier: Apache-2.0
#include "matrix_issue.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/error.h"
#include "matrix_issue_proof.h"
#include "matrix_memory.h"
#include "matrix_timing.h"

namespace vendor {
namespace {

using assay::Choice;
using assay::Issue;
using assay::Support;
using assay::text;

constexpr std::uint32_t data_seed = 20250101;

class IssueLaunch : public Launchable {
 public:
  IssueLaunch(const Issue& issue, IssueKernel kernel, int device)
      : issue_(issue),
        kernel_(std::move(kernel)),
        turns_(turns_for(issue, kernel_)),
        blocks_(static_cast<unsigned>(multiprocessors(device)) * kernel_.blocks_a_multiprocessor) {
    allow_shared_by_address(kernel_.entry, kernel_.shared_bytes);
  }

  void enqueue(Stream stream) override { start(turns_, blocks_, nullptr, stream); }

  // Runs one block and compares what it summed. Throws Unsupported where the kernel did nothing, because it was not
  // built for this architecture, and Error where a sum is wrong.
  void prove(Stream stream) const {
    constexpr int turns = 1;
    constexpr std::size_t stride = 61;  // prime: words of all threads and registers are met
    constexpr int unwritten = 0xFF;     // a NaN everywhere
    const auto bytes = static_cast<std::int64_t>(kernel_.words_out * sizeof(std::uint32_t));
    const MatrixMemory memory(bytes);
    set_bytes(memory.get(), unwritten, bytes, stream);
    start(turns, 1, static_cast<std::uint32_t*>(memory.get()), stream);
    std::vector<std::uint32_t> out(kernel_.words_out);
    copy(out.data(), memory.get(), bytes, stream);
    synchronise(stream);
    const auto untouched = [](std::uint32_t word) { return word == 0xFFFFFFFFU; };
    if (std::all_of(out.begin(), out.end(), untouched)) {
      throw assay::Unsupported(kernel_.instruction + " was not built for this architecture");
    }
    const auto wrong = wrong_sum(kernel_, data_seed, turns, out, stride);
    if (wrong) throw assay::Error("proving " + kernel_.instruction + ": " + *wrong);
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

  // Lets one enqueue() last long enough that starting it and filling operands hardly count; `seconds` is what it takes
  // now.
  void last_long(double seconds) { turns_ *= lengthening(seconds, turns_); }

  double flops() const { return 2 * kernel_.multiply_adds_a_turn * turns_ * blocks_; }
  const std::string& instruction() const { return kernel_.instruction; }
  void remark(std::string note) { note_ = std::move(note); }

 private:
  void start(int turns, unsigned blocks, std::uint32_t* out, Stream stream) const {
    std::uint32_t seed = data_seed;
    void* parameters[] = {&turns, &seed, &out};
    launch_by_address(kernel_.entry, blocks, kernel_.threads, kernel_.shared_bytes, stream, parameters);
  }

  Issue issue_;
  IssueKernel kernel_;
  int turns_;
  unsigned blocks_;
  std::string note_;
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

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.0f %%", 100 * share);
  return text;
}

// The one with the highest rate, with a note about the others. All have run once.
std::unique_ptr<IssueLaunch> fastest(std::vector<std::unique_ptr<IssueLaunch>> launches, const OwnStream& stream) {
  std::vector<std::function<void()>> ways;
  for (const auto& launch : launches) ways.emplace_back([&launch, &stream] { launch->enqueue(stream.get()); });
  for (std::size_t i = 0; i < launches.size(); ++i) launches[i]->last_long(compare({ways[i]}, stream.get()).front());
  const std::vector<double> seconds = compare(ways, stream.get());
  const auto rate = [&](std::size_t i) { return launches[i]->flops() / seconds[i]; };
  std::size_t best = 0;
  for (std::size_t i = 1; i < launches.size(); ++i) {
    if (rate(i) > rate(best)) best = i;
  }
  std::string note;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    if (i == best) continue;
    note += (note.empty() ? "" : "; ") + launches[i]->instruction() + " reached " + percent(rate(i) / rate(best)) +
            " of this";
  }
  launches[best]->remark(note);
  return std::move(launches[best]);
}

}  // namespace

std::vector<IssueKernel> matrix_issue_kernels(const Issue& issue, int architecture) {
  std::vector<IssueKernel> kernels;
  for (const auto family : {tcgen05_issue_kernels, wgmma_issue_kernels, block_mma_issue_kernels, mma_issue_kernels}) {
    const std::vector<IssueKernel> more = family(issue, architecture);
    kernels.insert(kernels.end(), more.begin(), more.end());
  }
  return kernels;
}

Support matrix_issue_possible(const Issue& issue, int architecture) {
  if (issue.unit != assay::Unit::matrix) return {false, "this is about the matrix units, and the issue is not"};
  if (!matrix_issue_kernels(issue, architecture).empty()) return {true, ""};
  return {false, "the matrix units of sm_" + std::to_string(architecture) + " do not multiply " + text(issue.operands) +
                     " into " + text(issue.accumulate) + ", or this program has no kernel for that"};
}

int turns_for(const Issue& issue, const IssueKernel& kernel) {
  const double turns = std::ceil(static_cast<double>(issue.count) * kernel.threads / kernel.multiply_adds_a_turn);
  if (turns > 1e9) throw assay::Unsupported("an issue of so many multiply-adds would run for minutes");
  return turns < 1 ? 1 : static_cast<int>(turns);
}

int lengthening(double seconds, int turns) {
  constexpr double enough = 5e-3;
  int factor = 1;
  while (seconds * factor < enough && factor < 4096 && turns <= 1'000'000'000 / (2 * factor)) factor *= 2;
  return factor;
}

Support supports_matrix_issue(const Issue& issue, int device) {
  try {
    return matrix_issue_possible(issue, architecture(device));
  } catch (const assay::Error& error) {
    return {false, error.what()};
  }
}

std::unique_ptr<Launchable> make_matrix_issue(const Issue& issue, int device) {
  const Support support = supports_matrix_issue(issue, device);
  if (!support.yes) throw assay::Unsupported(support.reason);
  const OwnStream stream;
  std::vector<std::unique_ptr<IssueLaunch>> launches;
  std::string refusal;
  for (IssueKernel& kernel : matrix_issue_kernels(issue, architecture(device))) {
    try {
      auto launch = std::make_unique<IssueLaunch>(issue, std::move(kernel), device);
      launch->prove(stream.get());
      launch->enqueue(stream.get());  // so that all have run once
      launches.push_back(std::move(launch));
    } catch (const assay::Unsupported& error) {  // not among the architectures this was built for
      refusal = error.what();
    }
  }
  synchronise(stream.get());
  if (launches.empty()) throw assay::Unsupported(refusal);
  return fastest(std::move(launches), stream);
}

}  // namespace vendor
