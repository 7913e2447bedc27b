// Our triad against a plain OpenMP one, and everything else in memory against our triad.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstring>

#include "core/op.h"
#include "kernels/cpu/fill.h"
#include "kernels/cpu/memory.h"
#include "tests/comparison/direct_stream.h"
#include "tests/comparison/pairs.h"
#include "tests/comparison/sections.h"

namespace assay::comparison {
namespace {

constexpr double triad_bar = 0.97;
constexpr std::int64_t large = std::int64_t{1} << 27;  // fp32 elements: half a GiB a tensor, beyond any cache

double gigabytes(const std::string& op) {
  const Cost cost = assay::cost(parse_op(op));
  return (cost.bytes_read + cost.bytes_written) * 1e-9;
}

std::string triad(std::int64_t count, const char* store) {
  return "stream kind=triad count=" + std::to_string(count) + " format=fp32 store=" + store;
}

void compare_triad(const Setup& setup, Table& table, std::int64_t count, bool nontemporal) {
  const std::string op = triad(count, nontemporal ? "nontemporal" : "plain");
  const auto ours = prepare_op(setup, op);
  // One block with the arrays in a row, as a program has them, so that both meet the same conflicts of addresses.
  cpu::Block block(3 * count * 4);
  auto* x = reinterpret_cast<float*>(block.data());
  for (int array = 0; array < 3; ++array) {
    cpu::touch(block.data() + array * count * 4, count * 4, setup.threads);
    cpu::fill_elements(Element::fp32, block.data() + array * count * 4, count, Pattern::typical, 1, 1, setup.threads);
  }
  const auto theirs = [&] {
    (nontemporal ? nontemporal_triad : plain_triad)(x, x + count, x + 2 * count, count, setup.threads);
  };
  const Pair pair = in_turns([&](int executions) { return ours->run(executions).front(); }, timed(theirs), setup.pairs);
  table.line(op, gigabytes(op) / pair.ours, gigabytes(op) / pair.theirs, pair.ratio, triad_bar);
}

struct Kernel {
  std::string op;
  double bar;
};

}  // namespace

int compare_streams(const Setup& setup) {
  Table table("GB/s");
  table.title("triad against a plain OpenMP triad", "ours", "plain");
  for (const bool nontemporal : {false, true}) {
    compare_triad(setup, table, large, nontemporal);
  }
  compare_triad(setup, table, std::int64_t{1} << 17, false);  // 1.5 MiB: the second cache
  return table.below();
}

int compare_kernels(const Setup& setup) {
  Table table("GB/s");
  table.title("kernels on large tensors as a share of the plain triad", "kernel", "triad");
  const std::vector<Kernel> kernels = {
      {"adamw count=67108864 weight=fp32 gradient=fp32", 0.8},
      {"adamw count=67108864 weight=bf16 gradient=bf16", 0.8},
      {"norm kind=rms rows=32768 columns=4096 format=fp32", 0.8},
      {"norm kind=rms rows=65536 columns=4096 format=bf16", 0.8},
      {"cast count=134217728 from=fp32 to=bf16", 0.8},
      {"cast count=134217728 from=bf16 to=fp32", 0.8},
      {"cast count=268435456 from=bf16 to=fp8_e4m3", 0.8},
      {"pointwise kind=gelu columns=134217728 format=fp32", 0.5},
      {"pointwise kind=gelu columns=268435456 format=bf16", 0.5},
      {"softmax rows=65536 columns=2048 format=fp32", 0.5},
      {"softmax rows=65536 columns=2048 format=bf16", 0.5},
      {"cross_entropy rows=2048 columns=50257 format=fp32", 0.5},
      {"cross_entropy rows=4096 columns=50257 format=bf16", 0.5},
  };
  const std::string triad_op = triad(large, "plain");
  const auto base = prepare_op(setup, triad_op);
  for (const Kernel& kernel : kernels) {
    const auto ours = prepare_op(setup, kernel.op);
    const Pair pair = in_turns([&](int executions) { return ours->run(executions).front(); },
                               [&](int executions) { return base->run(executions).front(); }, setup.pairs);
    // Bytes a second of the kernel over those of the triad, pair by pair.
    const double share = pair.ratio * gigabytes(kernel.op) / gigabytes(triad_op);
    table.line(kernel.op, gigabytes(kernel.op) / pair.ours, gigabytes(triad_op) / pair.theirs, share, kernel.bar);
  }
  return table.below();
}

}  // namespace assay::comparison
