// Launches the stream bodies on the threads of a CPU.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/ops/memory.h"
#include "kernels/cpu/bodies_table.h"
#include "kernels/cpu/nontemporal.h"
#include "kernels/cpu/parallel.h"
#include "kernels/stream.h"

namespace assay::cpu {

// y[i] = f(i) for all i, by the kind of store the op asks for.
template <class Team, class Storage, class Function>
static inline void store_stream(const Stream& op, int threads, Storage* y, Function f) {
  if (op.store == Store::nontemporal) {
    over_elements(op.count, threads,
                  [=](std::int64_t first, std::int64_t last) { store_nontemporal(y, first, last, f); });
  } else {
    over_elements(op.count, threads,
                  [=](std::int64_t first, std::int64_t last) { store_plain<Team>(y, first, last, f); });
  }
}

// Eight vectors of sums hide the latency of an addition even when the data come from the first cache. Every 2^16
// elements they go into a double, so that long streams lose nothing.
template <class Storage>
[[gnu::flatten]] static inline double sum_stream(const Storage* x, std::int64_t first, std::int64_t last) {
  using Number = decltype(bodies::to_number(Storage{}));
  constexpr std::int64_t lanes = 8 * __BIGGEST_ALIGNMENT__ / static_cast<std::int64_t>(sizeof(Number));
  constexpr std::int64_t piece = 1 << 16;
  double total = 0;
  for (; first < last; first += piece) {
    const std::int64_t end = first + piece < last ? first + piece : last;
    Number partial[lanes] = {};
    std::int64_t i = first;
    for (; i + lanes <= end; i += lanes) {
#pragma omp simd
      for (std::int64_t lane = 0; lane < lanes; ++lane) partial[lane] += bodies::to_number(x[i + lane]);
    }
    for (; i < end; ++i) partial[i % lanes] += bodies::to_number(x[i]);
    for (const Number lane : partial) total += static_cast<double>(lane);
  }
  return total;
}

// One sum a thread, each in a line of its own, then their total.
template <class Storage>
static inline void read_stream(const Stream& op, const BodyCall& call, const Storage* x) {
  constexpr std::int64_t apart = line_bytes / static_cast<std::int64_t>(sizeof(double));
  double* const sums = as<double>(call.workspace);
  const int threads = call.threads;
  for (int thread = 0; thread < threads; ++thread) sums[thread * apart] = 0;
  const std::int64_t count = op.count;
  const std::int64_t turns = op.turns;
  on_threads(threads, [=](int thread, int present) {
    const Piece piece = piece_of(count, 64, thread, present);
    double sum = 0;
    for (std::int64_t turn = 0; turn < turns; ++turn) {
      asm volatile("" ::: "memory");  // or the compiler might read once for all turns
      sum += sum_stream(x, piece.first, piece.last);
    }
    sums[thread * apart] = sum;
  });
  double total = 0;
  for (int thread = 0; thread < threads; ++thread) total += sums[thread * apart];
  *as<double>(call.operands[1]) = total;
}

template <class Team, class Storage>
static inline void run_stream_of(const Stream& op, const BodyCall& call) {
  const Storage* const x = as<Storage>(call.operands[0]);
  switch (op.kind) {
    case StreamKind::copy:
      return store_stream<Team>(op, call.threads, as<Storage>(call.operands[1]), [=](std::int64_t i) { return x[i]; });
    case StreamKind::scale:
      return store_stream<Team>(op, call.threads, as<Storage>(call.operands[1]),
                                [=](std::int64_t i) { return bodies::stream_scale(x[i]); });
    case StreamKind::add: {
      const Storage* const y = as<Storage>(call.operands[1]);
      return store_stream<Team>(op, call.threads, as<Storage>(call.operands[2]),
                                [=](std::int64_t i) { return bodies::stream_add(x[i], y[i]); });
    }
    case StreamKind::triad: {
      const Storage* const y = as<Storage>(call.operands[1]);
      return store_stream<Team>(op, call.threads, as<Storage>(call.operands[2]),
                                [=](std::int64_t i) { return bodies::stream_triad(x[i], y[i]); });
    }
    case StreamKind::read:
      return read_stream(op, call, x);
    case StreamKind::write: {
      const Storage value = bodies::from_number<Storage>(bodies::stream_scalar);
      return store_stream<Team>(op, call.threads, as<Storage>(call.operands[0]), [=](std::int64_t) { return value; });
    }
  }
}

template <class Team>
static inline void run_stream(const Stream& op, const BodyCall& call) {
  if (op.format.element == Element::fp64) return run_stream_of<Team, double>(op, call);
  with_storage(op.format.element, [&](auto storage) { run_stream_of<Team, decltype(storage)>(op, call); });
}

}  // namespace assay::cpu
