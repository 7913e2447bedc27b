// The streams of a GPU: copy, scale, add, triad, write, and the sum of everything.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/kernels_elements.h"
#include "kernels/stream.h"

namespace assay::gpu {
namespace {

struct CopyOne {
  template <class Storage>
  __device__ Storage operator()(Storage x) const {
    return x;
  }
};
struct ScaleOne {
  template <class Storage>
  __device__ Storage operator()(Storage x) const {
    return bodies::stream_scale(x);
  }
};
struct AddOne {
  template <class Storage>
  __device__ Storage operator()(Storage x, Storage y) const {
    return bodies::stream_add(x, y);
  }
};
struct TriadOne {
  template <class Storage>
  __device__ Storage operator()(Storage x, Storage y) const {
    return bodies::stream_triad(x, y);
  }
};
template <class Storage>
struct WriteOne {
  __device__ Storage operator()() const { return bodies::from_number<Storage>(bodies::stream_scalar); }
};

constexpr int unroll = 4;

// One sum a block. A thread adds up to 64 elements in the arithmetic of the format, and those sums in double.
template <class Storage>
__global__ static void read_kernel(const Storage* x, std::int64_t count, double* partial) {
  using Number = decltype(bodies::to_number(Storage{}));
  constexpr int width = wide<Storage>;
  double total = 0;
  const std::int64_t chunks = count / width;
  over_chunks<unroll>(
      chunks, [=](std::int64_t c) { return load<width>(x + c * width); },
      [&](std::int64_t, const Pack<Storage, width>& loaded) {
        Number sum = 0;
        for (int i = 0; i < width; ++i) sum += bodies::to_number(loaded.at[i]);
        total += static_cast<double>(sum);
      });
  if (vendor::block_index() == 0) {
    const std::int64_t step = vendor::threads_per_block();
    for (std::int64_t i = chunks * width + vendor::thread_index(); i < count; i += step) {
      total += static_cast<double>(bodies::to_number(x[i]));
    }
  }
  const double of_block = BlockTeam(vendor::shared_memory()).add(total);
  if (vendor::thread_index() == 0) partial[vendor::block_index()] = of_block;
}

// The same over and over, each block over a range of its own, which stays in the cache beside the block where it fits.
// Threads hold few elements of such a range, so they add up over the turns before a sum goes into a double.
template <class Storage>
__global__ static void reread_kernel(const Storage* x, std::int64_t count, std::int64_t turns, double* partial) {
  using Number = decltype(bodies::to_number(Storage{}));
  constexpr int width = wide<Storage>;
  constexpr int most_chunks = 64 / width;  // in one sum
  const std::int64_t chunks = count / width;
  const std::int64_t threads = vendor::threads_per_block();
  const std::int64_t each = (chunks + vendor::blocks() - 1) / vendor::blocks();
  const std::int64_t first = vendor::block_index() * each;
  const std::int64_t end = first + each < chunks ? first + each : chunks;
  double total = 0;
  Number sum = 0;
  int held = 0;
  const auto use = [&](const Pack<Storage, width>& loaded) {
    for (int i = 0; i < width; ++i) sum += bodies::to_number(loaded.at[i]);
    if (++held < most_chunks) return;
    total += static_cast<double>(sum);
    sum = 0;
    held = 0;
  };
  for (std::int64_t turn = 0; turn < turns; ++turn) {
    asm volatile("" ::: "memory");  // or the compiler might load once for all turns
    std::int64_t c = first + vendor::thread_index();
    for (; c + (unroll - 1) * threads < end; c += unroll * threads) {
      Pack<Storage, width> loaded[unroll];
      for (int u = 0; u < unroll; ++u) loaded[u] = load<width>(x + (c + u * threads) * width);
      for (int u = 0; u < unroll; ++u) use(loaded[u]);
    }
    for (; c < end; c += threads) use(load<width>(x + c * width));
  }
  total += static_cast<double>(sum);
  if (vendor::block_index() == 0) {
    for (std::int64_t i = chunks * width + vendor::thread_index(); i < count; i += threads) {
      total += static_cast<double>(turns) * static_cast<double>(bodies::to_number(x[i]));
    }
  }
  const double of_block = BlockTeam(vendor::shared_memory()).add(total);
  if (vendor::thread_index() == 0) partial[vendor::block_index()] = of_block;
}

// The sum of the blocks, by one block: the order is fixed, so the same launch gives the same bits.
__global__ static void add_partial_sums(const double* partial, std::int64_t count, double* sum) {
  double total = 0;
  const std::int64_t step = vendor::threads_per_block();
  for (std::int64_t i = vendor::thread_index(); i < count; i += step) total += partial[i];
  total = BlockTeam(vendor::shared_memory()).add(total);
  if (vendor::thread_index() == 0) *sum = total;
}

template <class Storage>
Prepared prepare_read(const Stream& op, const Pointers& operands, const BodySetup& setup) {
  const unsigned threads = setup.threads_or(256);
  const std::size_t shared = BlockTeam::shared_bytes;
  const std::int64_t tiles = ceiling(op.count / wide<Storage>, std::int64_t{threads} * unroll);
  const unsigned blocks = resident_grid(read_kernel<Storage>, threads, shared, tiles, setup);
  const OwnMemoryPointer partial = own_memory(std::int64_t{blocks} * static_cast<std::int64_t>(sizeof(double)));
  const auto* const x = as<Storage>(operands.at(0));
  auto* const sum = as<double>(operands.at(1));
  Prepared prepared;
  prepared.launches = 2;
  prepared.workspace = partial->bytes();
  prepared.enqueue = [=](vendor::Stream stream) {
    vendor::launch(read_kernel<Storage>, blocks, threads, shared, stream, x, op.count, partial->as<double>());
    vendor::launch(add_partial_sums, 1, threads, shared, stream, partial->as<double>(), std::int64_t{blocks}, sum);
  };
  return prepared;
}

// As many blocks as the device holds, so that every unit has its share of x beside it.
template <class Storage>
Prepared prepare_reread(const Stream& op, const Pointers& operands, const BodySetup& setup) {
  const unsigned threads = setup.threads_or(256);
  const std::size_t shared = BlockTeam::shared_bytes;
  const std::int64_t shares = ceiling(op.count / wide<Storage>, std::int64_t{threads});
  const unsigned blocks = resident_grid(reread_kernel<Storage>, threads, shared, shares, setup);
  const OwnMemoryPointer partial = own_memory(std::int64_t{blocks} * static_cast<std::int64_t>(sizeof(double)));
  const auto* const x = as<Storage>(operands.at(0));
  auto* const sum = as<double>(operands.at(1));
  Prepared prepared;
  prepared.launches = 2;
  prepared.workspace = partial->bytes();
  prepared.enqueue = [=](vendor::Stream stream) {
    vendor::launch(reread_kernel<Storage>, blocks, threads, shared, stream, x, op.count, op.turns,
                   partial->as<double>());
    vendor::launch(add_partial_sums, 1, threads, shared, stream, partial->as<double>(), std::int64_t{blocks}, sum);
  };
  return prepared;
}

template <class Storage>
Prepared prepare_stream(const Stream& op, const Pointers& operands, const BodySetup& setup) {
  constexpr int width = wide<Storage>;
  const bool streaming = op.store == Store::nontemporal;
  auto* const x = as<Storage>(operands.at(0));
  auto* const y = as<Storage>(operands.at(operands.size() > 1 ? 1 : 0));
  auto* const z = as<Storage>(operands.back());
  switch (op.kind) {
    case StreamKind::copy:
      return prepare_elements<width, unroll>(Map1<CopyOne, Storage, Storage>{{}, y, x, streaming}, op.count, setup);
    case StreamKind::scale:
      return prepare_elements<width, unroll>(Map1<ScaleOne, Storage, Storage>{{}, y, x, streaming}, op.count, setup);
    case StreamKind::add:
      return prepare_elements<width, unroll>(Map2<AddOne, Storage>{{}, z, x, y, streaming}, op.count, setup);
    case StreamKind::triad:
      return prepare_elements<width, unroll>(Map2<TriadOne, Storage>{{}, z, x, y, streaming}, op.count, setup);
    case StreamKind::read:
      return op.turns > 1 ? prepare_reread<Storage>(op, operands, setup) : prepare_read<Storage>(op, operands, setup);
    case StreamKind::write:
      return prepare_elements<width, unroll>(Map0<WriteOne<Storage>, Storage>{{}, x, streaming}, op.count, setup);
  }
  throw Error("no such stream: " + text(Op{op}));
}

}  // namespace

Prepared prepare(const Stream& op, const Pointers& operands, const BodySetup& setup) {
  if (op.format.element == Element::fp64) return prepare_stream<double>(op, operands, setup);
  return with_storage(op.format.element,
                      [&](auto storage) { return prepare_stream<decltype(storage)>(op, operands, setup); });
}

}  // namespace assay::gpu
