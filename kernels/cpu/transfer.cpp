// Host copies by memcpy, and by all threads past the caches.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/transfer.h"

#include <cstring>
#include <string>

#include "kernels/cpu/memory.h"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace assay::cpu {
namespace {

// Whole cache lines; both addresses on a multiple of 64.
void copy_lines(std::byte* to, const std::byte* from, std::int64_t bytes) {
#if defined(__x86_64__)
  for (std::int64_t at = 0; at < bytes; at += 64) {
    const auto* source = reinterpret_cast<const __m128i*>(from + at);
    auto* target = reinterpret_cast<__m128i*>(to + at);
    const __m128i first = _mm_load_si128(source);
    const __m128i second = _mm_load_si128(source + 1);
    const __m128i third = _mm_load_si128(source + 2);
    const __m128i fourth = _mm_load_si128(source + 3);
    _mm_stream_si128(target, first);
    _mm_stream_si128(target + 1, second);
    _mm_stream_si128(target + 2, third);
    _mm_stream_si128(target + 3, fourth);
  }
  _mm_sfence();
#else
  std::memcpy(to, from, static_cast<std::size_t>(bytes));
#endif
}

class TransferKernel : public Kernel {
 public:
  TransferKernel(const Transfer& transfer, const Pointers& operands, int threads)
      : transfer_(transfer), from_(operands.at(0)), to_(operands.at(1)), threads_(threads) {}

  void run() override {
    if (transfer_.path == CopyPath::engine) {
      std::memcpy(to_, from_, static_cast<std::size_t>(transfer_.bytes));
      return;
    }
    const std::int64_t lines = transfer_.bytes / 64;
#pragma omp parallel for schedule(static) num_threads(threads_)
    for (int part = 0; part < threads_; ++part) {
      const Portion mine = portion(lines, part, threads_);
      copy_lines(to_ + mine.first * 64, from_ + mine.first * 64, (mine.last - mine.first) * 64);
    }
    std::memcpy(to_ + lines * 64, from_ + lines * 64, static_cast<std::size_t>(transfer_.bytes - lines * 64));
  }

  std::string method() const override {
    if (transfer_.path == CopyPath::engine) {
      return "memcpy, 1 thread";
    }
#if defined(__x86_64__)
    const std::string stores = "non-temporal stores, ";
#else
    const std::string stores = "memcpy, ";
#endif
    return "own, " + stores + std::to_string(threads_) + (threads_ == 1 ? " thread" : " threads");
  }

 private:
  Transfer transfer_;
  const std::byte* from_;
  std::byte* to_;
  int threads_;
};

Support place_support(Place place) {
  if (place.kind == PlaceKind::host_pinned) {
    return {false, "pinned memory is for copies to a device with memory of its own; the processor has none"};
  }
  if (place.index > 0) {
    return {false, "memory of one chosen NUMA node is not offered here; pages go where their thread runs"};
  }
  return {true, ""};
}

}  // namespace

Support transfer_support(const Transfer& transfer) {
  if (transfer.both_ways) {
    return {false, "copies both ways at once are for links between devices; the processor has none"};
  }
  const Support from = place_support(transfer.from);
  return from.yes ? place_support(transfer.to) : from;
}

std::unique_ptr<Kernel> make_transfer_kernel(const Transfer& transfer, const Pointers& operands, int threads) {
  return std::make_unique<TransferKernel>(transfer, operands, threads);
}

}  // namespace assay::cpu
