// Gathering and scattering on a GPU: embeddings, rotary positions, heads.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kernels/column.h"
#include "kernels/gather.h"
#include "kernels/gpu/kernels_common.h"
#include "kernels/gpu/kernels_groups.h"

namespace assay::gpu {
namespace {

using bodies::from_float;
using bodies::to_float;

// A block takes one piece of one row: `pieces` of them cover a row, `threads` chunks each.
struct Pieces {
  std::int64_t rows;
  std::int64_t chunks;  // of a row
  std::int64_t pieces;  // of a row
};

template <class Function>
__device__ void over_pieces(const Pieces& all, Function f) {
  for (std::int64_t tile = vendor::block_index(); tile < all.rows * all.pieces; tile += vendor::blocks()) {
    const std::int64_t row = tile / all.pieces;
    const std::int64_t chunk =
        (tile - row * all.pieces) * vendor::threads_per_block() + static_cast<std::int64_t>(vendor::thread_index());
    if (chunk < all.chunks) f(row, chunk);
  }
}

// As many threads as a row has chunks, up to a full block.
unsigned threads_for(std::int64_t chunks, unsigned most, const BodySetup& setup) {
  unsigned usual = most;
  while (usual > vendor::widest_warp() && usual / 2 >= chunks) usual /= 2;
  return setup.threads_or(usual);
}

// Moves do not care what they move: 16 bytes where every row begins at a multiple of that, else an element.
template <class Function>
Prepared with_unit(std::int64_t row_bytes, std::size_t element, Function f) {
  if (row_bytes % static_cast<std::int64_t>(sizeof(vendor::Word16)) == 0) return f(vendor::Word16{});
  if (element == 4) return f(std::uint32_t{});
  return f(std::uint16_t{});
}

std::size_t element_size(Format format) { return static_cast<std::size_t>(bits(format.element)) / 8; }

// Embedding ---------------------------------------------------------------------------------------------------------

template <class Unit>
__global__ static void gather_kernel(const std::int32_t* tokens, const Unit* table, Unit* y, Pieces all) {
  over_pieces(all, [=](std::int64_t row, std::int64_t chunk) {
    y[row * all.chunks + chunk] = table[tokens[row] * all.chunks + chunk];
  });
}

Prepared prepare_gather(const Embedding& op, const Pointers& operands, const BodySetup& setup) {
  const std::size_t size = element_size(op.format);
  const std::int64_t row_bytes = op.columns * static_cast<std::int64_t>(size);
  const auto* const tokens = as<std::int32_t>(operands.at(0));
  Prepared prepared = with_unit(row_bytes, size, [&](auto unit) {
    using Unit = decltype(unit);
    const std::int64_t chunks = row_bytes / static_cast<std::int64_t>(sizeof(Unit));
    const unsigned threads = threads_for(chunks, 256, setup);
    const Pieces all{op.rows, chunks, ceiling(chunks, threads)};
    const auto* const table = as<Unit>(operands.at(1));
    auto* const y = as<Unit>(operands.at(2));
    Prepared moves;
    moves.enqueue = [=](vendor::Stream stream) {
      vendor::launch(gather_kernel<Unit>, grid_over(all.rows * all.pieces), threads, 0, stream, tokens, table, y, all);
    };
    return moves;
  });
  prepared.refresh = [=] { check_indices(tokens, op.rows, op.vocabulary, "token", setup.kernel.stream); };
  return prepared;
}

// The groups of tokens as the device sees them.
struct DeviceGroups {
  const std::int64_t* count;
  const std::int32_t* tokens;
  const std::int32_t* begins;
  const std::int32_t* rows;
};

// A thread adds up a few columns of one token's rows, in the order of the rows and in passes as the body of
// kernels/gather.h does, and rounds once.
template <int width, class Storage>
__global__ static void scatter_kernel(DeviceGroups groups, const Storage* dy, Storage* gradient, Pieces all) {
  all.rows = *groups.count;
  over_pieces(all, [=](std::int64_t group, std::int64_t chunk) {
    const std::int64_t columns = all.chunks * width;
    const Storage* const from = dy + chunk * width;
    Storage* const to = gradient + groups.tokens[group] * columns + chunk * width;
    const auto before = load<width>(to);
    Pack<float, width> sums;
    for (int i = 0; i < width; ++i) sums.at[i] = to_float(before.at[i]);
    std::int32_t k = groups.begins[group];
    const std::int32_t last = groups.begins[group + 1];
    constexpr int pass = static_cast<int>(bodies::rows_a_pass);
    for (; k + pass <= last; k += pass) {
      Pack<Storage, width> loaded[pass];
      for (int r = 0; r < pass; ++r) loaded[r] = load<width>(from + groups.rows[k + r] * columns);
      for (int i = 0; i < width; ++i) {
        sums.at[i] += (to_float(loaded[0].at[i]) + to_float(loaded[1].at[i])) +
                      (to_float(loaded[2].at[i]) + to_float(loaded[3].at[i]));
      }
    }
    for (; k < last; ++k) {
      const auto loaded = load<width>(from + groups.rows[k] * columns);
      for (int i = 0; i < width; ++i) sums.at[i] += to_float(loaded.at[i]);
    }
    Pack<Storage, width> result;
    for (int i = 0; i < width; ++i) result.at[i] = from_float<Storage>(sums.at[i]);
    store(to, result);
  });
}
static_assert(bodies::rows_a_pass == 4, "scatter_kernel adds the rows of a pass by pairs");

// Memory for the groups of any tokens in so many rows: the count, then tokens, begins and rows.
class GroupMemory {
 public:
  explicit GroupMemory(std::int64_t rows)
      : rows_(rows), memory_(static_cast<std::int64_t>(sizeof(std::int64_t)) + (3 * rows + 1) * size) {}

  DeviceGroups groups() const {
    auto* const numbers = memory_.as<std::int32_t>() + 2;
    return {memory_.as<std::int64_t>(), numbers, numbers + rows_, numbers + 2 * rows_ + 1};
  }

  void write(const TokenGroups& groups, vendor::Stream stream) const {
    const auto count = static_cast<std::int64_t>(groups.tokens.size());
    const DeviceGroups to = this->groups();
    vendor::copy(memory_.as<std::byte>(), &count, sizeof count, stream);
    copy(to.tokens, groups.tokens, stream);
    copy(to.begins, groups.begins, stream);
    copy(to.rows, groups.rows, stream);
    vendor::synchronise(stream);
  }

  std::int64_t bytes() const { return memory_.bytes(); }

 private:
  static constexpr std::int64_t size = sizeof(std::int32_t);
  static void copy(const std::int32_t* to, const std::vector<std::int32_t>& from, vendor::Stream stream) {
    vendor::copy(const_cast<std::int32_t*>(to), from.data(), static_cast<std::int64_t>(from.size()) * size, stream);
  }

  std::int64_t rows_;
  OwnMemory memory_;
};

template <int width, class Storage>
Prepared prepare_scatter(const Embedding& op, const Pointers& operands, const BodySetup& setup) {
  const auto memory = std::make_shared<GroupMemory>(op.rows);
  const auto* const tokens = as<std::int32_t>(operands.at(0));
  const auto* const dy = as<Storage>(operands.at(1));
  auto* const gradient = as<Storage>(operands.at(2));
  const std::int64_t chunks = op.columns / width;
  const unsigned threads = threads_for(chunks, 128, setup);
  const Pieces all{std::min(op.rows, op.vocabulary), chunks, ceiling(chunks, threads)};
  Prepared prepared;
  prepared.workspace = memory->bytes();
  prepared.note = "rows are grouped by token beforehand, outside of the clock";
  prepared.refresh = [=] {
    const vendor::Stream stream = setup.kernel.stream;
    memory->write(group_tokens(check_indices(tokens, op.rows, op.vocabulary, "token", stream), op.vocabulary), stream);
  };
  prepared.enqueue = [=](vendor::Stream stream) {
    vendor::launch(scatter_kernel<width, Storage>, grid_over(all.rows * all.pieces), threads, 0, stream,
                   memory->groups(), dy, gradient, all);
  };
  return prepared;
}

// Rotary positions --------------------------------------------------------------------------------------------------

template <class Storage>
struct RopeOperands {
  Storage* packed;
  Storage* parts[3];   // q, k, v
  const float* table;  // null where nothing turns
};

// What is turned or moved at a time: chunk `c` of slot `slot` (a head of q, k or v) of one token.
template <int width, class Storage>
__device__ void turn_chunk(const RopeOperands<Storage>& to, const bodies::HeadPlaces& places, bool forward,
                           std::int64_t token, std::int64_t slot, std::int64_t c) {
  const std::int64_t size = places.head_size;
  const int part = slot < places.heads ? 0 : slot < places.heads + places.kv_heads ? 1 : 2;
  const std::int64_t head = part == 0 ? slot : (slot - places.heads) % places.kv_heads;
  const std::int64_t apart =
      bodies::head_offset(token, head, part == 0 ? places.heads : places.kv_heads, places.length, size);
  Storage* const split = (part == 0 ? to.parts[0] : part == 1 ? to.parts[1] : to.parts[2]) + apart + c * width;
  Storage* const whole = to.packed + (token * (places.heads + 2 * places.kv_heads) + slot) * size + c * width;
  const Storage* const source = forward ? whole : split;
  Storage* const target = forward ? split : whole;
  if (to.table == nullptr) return store(target, load<width>(source));
  const std::int64_t half = size / 2;
  auto low = load<width>(source);
  auto high = load<width>(source + half);
  if (part != 2) {
    const float* const angles = to.table + token % places.length * size + c * width;
    const auto cosines = load<width>(angles);
    const auto sines = load<width>(angles + half);
    for (int i = 0; i < width; ++i) {
      const float cosine = cosines.at[i];
      const float sine = forward ? sines.at[i] : -sines.at[i];
      const float x = to_float(low.at[i]);
      const float y = to_float(high.at[i]);
      low.at[i] = from_float<Storage>(x * cosine - y * sine);
      high.at[i] = from_float<Storage>(y * cosine + x * sine);
    }
  }
  store(target, low);
  store(target + half, high);
}

// A block takes a token. 32-bit indices: a long division for each chunk would take longer than the rest.
template <int width, class Storage>
__global__ static void rope_kernel(RopeOperands<Storage> to, bodies::HeadPlaces places, std::int64_t tokens,
                                   std::uint32_t slots, std::uint32_t chunks, bool forward) {
  for (std::int64_t token = vendor::block_index(); token < tokens; token += vendor::blocks()) {
    for (std::uint32_t i = vendor::thread_index(); i < slots * chunks; i += vendor::threads_per_block()) {
      turn_chunk<width>(to, places, forward, token, i / chunks, i % chunks);
    }
  }
}

template <int width, class Storage>
Prepared prepare_rope(const Rope& op, const Pointers& operands, const BodySetup& setup) {
  const bool forward = op.direction == Direction::forward;
  // Forward: packed, (table), q, k, v. Backward: dq, dk, dv, (table), dpacked.
  const std::size_t first = forward ? (op.rotate ? 2 : 1) : 0;
  RopeOperands<Storage> to{};
  to.packed = as<Storage>(forward ? operands.at(0) : operands.back());
  for (std::size_t part = 0; part < 3; ++part) to.parts[part] = as<Storage>(operands.at(first + part));
  to.table = op.rotate ? as<float>(operands.at(forward ? 1 : 3)) : nullptr;
  const bodies::HeadPlaces places{op.length, op.heads, op.kv_heads, op.head_size};
  const std::int64_t tokens = op.batch * op.length;
  const auto slots = static_cast<std::uint32_t>(op.heads + 2 * op.kv_heads);
  const auto chunks = static_cast<std::uint32_t>((op.rotate ? op.head_size / 2 : op.head_size) / width);
  const unsigned threads = threads_for(std::int64_t{slots} * chunks, 256, setup);
  Prepared prepared;
  prepared.enqueue = [=](vendor::Stream stream) {
    vendor::launch(rope_kernel<width, Storage>, grid_over(tokens), threads, 0, stream, to, places, tokens, slots,
                   chunks, forward);
  };
  return prepared;
}

// Heads -------------------------------------------------------------------------------------------------------------

// A block takes a token; `chunks` of a head.
template <class Unit>
__global__ static void heads_kernel(const Unit* from, Unit* to, std::int64_t tokens, std::int64_t length,
                                    std::uint32_t heads, std::uint32_t chunks, bool forward) {
  for (std::int64_t token = vendor::block_index(); token < tokens; token += vendor::blocks()) {
    for (std::uint32_t i = vendor::thread_index(); i < heads * chunks; i += vendor::threads_per_block()) {
      const std::int64_t merged = token * heads * chunks + i;
      const std::int64_t split = bodies::head_offset(token, i / chunks, heads, length, chunks) + i % chunks;
      to[forward ? merged : split] = from[forward ? split : merged];
    }
  }
}

}  // namespace

Prepared prepare(const Embedding& op, const Pointers& operands, const BodySetup& setup) {
  if (op.direction == Direction::forward) return prepare_gather(op, operands, setup);
  return with_storage(op.format.element, [&](auto storage) {
    using Storage = decltype(storage);
    return op.columns % wide<Storage> == 0 ? prepare_scatter<wide<Storage>, Storage>(op, operands, setup)
                                           : prepare_scatter<1, Storage>(op, operands, setup);
  });
}

Prepared prepare(const Rope& op, const Pointers& operands, const BodySetup& setup) {
  return with_storage(op.format.element, [&](auto storage) {
    using Storage = decltype(storage);
    const std::int64_t run = op.rotate ? op.head_size / 2 : op.head_size;
    return run % wide<Storage> == 0 ? prepare_rope<wide<Storage>, Storage>(op, operands, setup)
                                    : prepare_rope<1, Storage>(op, operands, setup);
  });
}

Prepared prepare(const Heads& op, const Pointers& operands, const BodySetup& setup) {
  const std::size_t size = element_size(op.format);
  const std::int64_t head_bytes = op.head_size * static_cast<std::int64_t>(size);
  return with_unit(head_bytes, size, [&](auto unit) {
    using Unit = decltype(unit);
    const auto* const from = as<Unit>(operands.at(0));
    auto* const to = as<Unit>(operands.at(1));
    const std::int64_t tokens = op.batch * op.length;
    const auto heads = static_cast<std::uint32_t>(op.heads);
    const auto chunks = static_cast<std::uint32_t>(head_bytes / static_cast<std::int64_t>(sizeof(Unit)));
    const unsigned threads = threads_for(op.heads * chunks, 256, setup);
    const bool forward = op.direction == Direction::forward;
    Prepared prepared;
    prepared.enqueue = [=](vendor::Stream stream) {
      vendor::launch(heads_kernel<Unit>, grid_over(tokens), threads, 0, stream, from, to, tokens, op.length, heads,
                     chunks, forward);
    };
    return prepared;
  });
}

}  // namespace assay::gpu
