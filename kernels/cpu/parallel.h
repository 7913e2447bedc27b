// Shares loops among OpenMP threads in contiguous pieces, the same ones every time, so that memory stays where the
// thread that first touched it runs. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <omp.h>

#include <cstdint>

#include "core/format.h"
#include "kernels/convert.h"

namespace assay::cpu {

// Runs f(thread, threads) on each of them. Always the same number of threads: the OpenMP runtime ends and starts
// threads when the number changes.
template <class Function>
static inline void on_threads(int threads, Function f) {
  if (threads <= 1) {
    f(0, 1);
    return;
  }
#pragma omp parallel num_threads(threads)
  f(omp_get_thread_num(), omp_get_num_threads());
}

struct Piece {
  std::int64_t first;
  std::int64_t last;
};
static inline Piece piece_of(std::int64_t count, std::int64_t grain, int thread, int threads) {
  const std::int64_t grains = (count + grain - 1) / grain;
  const std::int64_t each = grains / threads;
  const std::int64_t more = grains % threads;
  const std::int64_t begin = each * thread + (thread < more ? thread : more);
  const std::int64_t end = begin + each + (thread < more ? 1 : 0);
  return {begin * grain, end * grain < count ? end * grain : count};
}

// Under this many elements waking the threads costs more than they save.
static constexpr std::int64_t serial_elements = 4096;

// Runs f(first, last) on pieces of [0, count) that start at multiples of `grain`; each index stands for
// `elements_each`.
template <class Function>
static inline void over_pieces(std::int64_t count, std::int64_t grain, std::int64_t elements_each, int threads,
                               Function f) {
  if (count <= serial_elements / elements_each) {
    f(std::int64_t{0}, count);
    return;
  }
  on_threads(threads, [=](int thread, int present) {
    const Piece piece = piece_of(count, grain, thread, present);
    if (piece.first < piece.last) f(piece.first, piece.last);
  });
}

// Elements in pieces of whole cache lines, whatever they are stored in.
template <class Function>
static inline void over_elements(std::int64_t count, int threads, Function f) {
  over_pieces(count, 64, 1, threads, f);
}

// And f(row, thread).
template <class Function>
static inline void over_rows_by_thread(std::int64_t rows, std::int64_t columns, int threads, Function f) {
  if (rows <= serial_elements / columns) {
    for (std::int64_t row = 0; row < rows; ++row) f(row, 0);
    return;
  }
  on_threads(threads, [=](int thread, int present) {
    const Piece piece = piece_of(rows, 1, thread, present);
    for (std::int64_t row = piece.first; row < piece.last; ++row) f(row, thread);
  });
}

template <class Function>
static inline void over_rows(std::int64_t rows, std::int64_t columns, int threads, Function f) {
  over_pieces(rows, 1, columns, threads, [=](std::int64_t first, std::int64_t last) {
    for (std::int64_t row = first; row < last; ++row) f(row);
  });
}

// Asks for [from, to) to be brought near. The processor's own prefetching stops at the end of each 4 KiB page, and a
// loop that computes a lot does not look far enough ahead by itself to hide that.
template <class Storage>
static inline void fetch(const Storage* from, const Storage* to) {
  const char* const end = reinterpret_cast<const char*>(to);
  for (const char* line = reinterpret_cast<const char*>(from); line < end; line += 64) __builtin_prefetch(line);
}

// A team that takes `passes` over rows of `columns` and meanwhile fetches what is at the places: the next row of each
// matrix. Not rows so long that this one would be driven out of the second cache.
template <class Team, class Storage, class... Storages>
static inline Team team_fetching(int passes, std::int64_t columns, const Storage* first, const Storages*... more) {
  if constexpr (std::is_constructible_v<Team, const void* const*, int, std::int64_t, std::int64_t>) {
    const void* const places[] = {first, more...};
    const std::int64_t row_bytes = columns * static_cast<std::int64_t>(sizeof(Storage));
    const std::int64_t bytes = row_bytes <= 1 << 18 ? row_bytes : 0;
    return Team(places, static_cast<int>(1 + sizeof...(more)), bytes, passes * Team::blocks_of(columns));
  } else {
    return Team{};
  }
}

// Calls f with a value of the type in which the element is stored; only what every body takes.
template <class Function>
static inline void with_storage(Element element, Function f) {
  if (element == Element::fp32) f(float{});
  if (element == Element::bf16) f(bodies::Bf16{});
  if (element == Element::fp16) f(bodies::Fp16{});
}

// And the narrow formats that are only cast to and from.
template <class Function>
static inline void with_any_storage(Element element, Function f) {
  with_storage(element, f);
  if (element == Element::fp8_e4m3) f(bodies::Fp8E4m3{});
  if (element == Element::fp8_e5m2) f(bodies::Fp8E5m2{});
  if (element == Element::fp8_e4m3_fnuz) f(bodies::Fp8E4m3Fnuz{});
  if (element == Element::fp8_e5m2_fnuz) f(bodies::Fp8E5m2Fnuz{});
  if (element == Element::int8) f(bodies::Int8{});
}

template <class Storage>
static inline Storage* as(std::byte* operand) {
  return reinterpret_cast<Storage*>(operand);
}

}  // namespace assay::cpu
