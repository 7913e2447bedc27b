// Nothing is multiplied; only the time and the sums are pretended.
// SPDX-License-Identifier: Apache-2.0
#include "matrix_issue.h"

#include <algorithm>

#include "tests/host_vendor/machine.h"

namespace vendor {
namespace {

constexpr std::size_t words = 256;

std::uint32_t sum_at(std::uint32_t seed, std::size_t index) { return seed + static_cast<std::uint32_t>(index); }

}  // namespace

namespace host {

std::vector<IssueEntry>& issue_entries() {
  static std::vector<IssueEntry> entries = {{1e-7, true, true, 1024}};
  return entries;
}

}  // namespace host

std::vector<IssueKernel> matrix_issue_kernels(const assay::Issue& issue, int) {
  std::vector<IssueKernel> kernels;
  const auto& elements = host::machine().settings().die.matrix_elements;
  if (std::find(elements.begin(), elements.end(), issue.operands.element) == elements.end()) return kernels;
  for (const host::IssueEntry& entry : host::issue_entries()) {
    IssueKernel kernel;
    kernel.entry = &entry;
    kernel.instruction = "pretended instruction " + std::to_string(kernels.size());
    kernel.threads = 64;
    kernel.blocks_a_multiprocessor = 0;
    kernel.multiply_adds_a_turn = entry.multiply_adds_a_turn;
    kernel.words_out = words;
    kernels.push_back(kernel);
  }
  return kernels;
}

assay::Support matrix_issue_possible(const assay::Issue& issue, int architecture) {
  if (!matrix_issue_kernels(issue, architecture).empty()) return {true, ""};
  return {false, "the pretended matrix unit does not take " + assay::text(issue.operands)};
}

std::optional<std::string> wrong_sum(const IssueKernel& kernel, std::uint32_t seed, int,
                                     const std::vector<std::uint32_t>& out, std::size_t stride) {
  for (std::size_t index = 0; index < kernel.words_out; index += stride) {
    if (out.at(index) != sum_at(seed, index)) return "word " + std::to_string(index) + " is wrong";
  }
  return std::nullopt;
}

void launch_by_address(const void* entry, unsigned, unsigned, std::size_t, Stream stream, void** parameters) {
  const host::IssueEntry kernel = *static_cast<const host::IssueEntry*>(entry);
  const int turns = *static_cast<const int*>(parameters[0]);
  const std::uint32_t seed = *static_cast<const std::uint32_t*>(parameters[1]);
  auto* const out = static_cast<std::uint32_t*>(*static_cast<void**>(parameters[2]));
  host::queue_work("matrix instructions", kernel.seconds_a_turn * turns, stream, [=] {
    if (!kernel.built || out == nullptr) return;
    for (std::size_t i = 0; i < words; ++i) out[i] = sum_at(seed, i) + (kernel.right ? 0 : 1);
  });
}

int resident_by_address(const void*, unsigned, std::size_t) { return 2; }
void allow_shared_by_address(const void*, std::size_t) {}

}  // namespace vendor
