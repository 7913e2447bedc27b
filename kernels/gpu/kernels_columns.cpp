// Sums down the columns of a matrix on a GPU: bias gradients, and the gradients of a norm's weights.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/column.h"
#include "kernels/gpu/kernels_common.h"

// The rows are cut as kernels/column.h cuts them, and each thread goes down a few columns of one such cut: its sums
// stay in registers, where the body of that header would keep them in memory. A second kernel adds the cuts in their
// order. No sum depends on the size of the blocks.
namespace assay::gpu {
namespace {

using bodies::to_float;

// f(cut, chunk) for all row cuts and chunks of columns. Neighbouring threads take neighbouring columns.
template <class Function>
__device__ void over_cuts(std::int64_t cuts, std::int64_t chunks, Function f) {
  const std::int64_t threads = vendor::threads_per_block();
  const std::int64_t pieces = (chunks + threads - 1) / threads;
  for (std::int64_t tile = vendor::block_index(); tile < cuts * pieces; tile += vendor::blocks()) {
    const std::int64_t cut = tile / pieces;
    const std::int64_t chunk = (tile - cut * pieces) * threads + vendor::thread_index();
    if (chunk < chunks) f(cut, chunk);
  }
}

// visit(first, last) for groups of at most rows_a_pass rows.
template <class Function>
__device__ void over_passes(std::int64_t rows, std::int64_t cuts, std::int64_t cut, Function visit) {
  const std::int64_t last = bodies::column_block_begin(rows, cuts, cut + 1);
  std::int64_t row = bodies::column_block_begin(rows, cuts, cut);
  for (; row + bodies::rows_a_pass <= last; row += bodies::rows_a_pass) {
    visit(row, std::integral_constant<int, static_cast<int>(bodies::rows_a_pass)>{});
  }
  for (; row < last; ++row) visit(row, std::integral_constant<int, 1>{});
}

template <int width, class Storage>
__global__ static void column_sum_kernel(const Storage* x, std::int64_t rows, std::int64_t columns, std::int64_t cuts,
                                         float* partial) {
  over_cuts(cuts, columns / width, [=](std::int64_t cut, std::int64_t chunk) {
    Pack<float, width> sums{};
    over_passes(rows, cuts, cut, [&](std::int64_t row, auto together) {
      constexpr int count = decltype(together)::value;
      Pack<Storage, width> loaded[count];
      for (int r = 0; r < count; ++r) loaded[r] = load<width>(x + (row + r) * columns + chunk * width);
      for (int i = 0; i < width; ++i) {
        for (int r = 0; r < count; ++r) sums.at[i] += to_float(loaded[r].at[i]);
      }
    });
    for (int i = 0; i < width; ++i) partial[cut * columns + chunk * width + i] = sums.at[i];
  });
}

template <bool centred, int width, class Storage>
__global__ static void norm_weights_kernel(const Storage* dy, const Storage* x, const bodies::RowStatistics* statistics,
                                           std::int64_t rows, std::int64_t columns, std::int64_t cuts, float* weights,
                                           float* biases) {
  over_cuts(cuts, columns / width, [=](std::int64_t cut, std::int64_t chunk) {
    Pack<float, width> weight{};
    Pack<float, width> bias{};
    over_passes(rows, cuts, cut, [&](std::int64_t row, auto together) {
      constexpr int count = decltype(together)::value;
      Pack<Storage, width> slope[count];
      Pack<Storage, width> value[count];
      for (int r = 0; r < count; ++r) {
        slope[r] = load<width>(dy + (row + r) * columns + chunk * width);
        value[r] = load<width>(x + (row + r) * columns + chunk * width);
      }
      for (int r = 0; r < count; ++r) {
        const bodies::RowStatistics s = statistics[row + r];
        for (int i = 0; i < width; ++i) {
          const float d = to_float(slope[r].at[i]);
          weight.at[i] += d * ((to_float(value[r].at[i]) - s.mean) * s.inverse_deviation);
          if constexpr (centred) bias.at[i] += d;
        }
      }
    });
    for (int i = 0; i < width; ++i) {
      weights[cut * columns + chunk * width + i] = weight.at[i];
      if constexpr (centred) biases[cut * columns + chunk * width + i] = bias.at[i];
    }
  });
}

// y[i] = the sum of partial[cut][i]: a block takes 32 columns, a thread every eighth of the cuts.
constexpr int columns_a_block = 32;
constexpr int groups = 8;
constexpr std::size_t shared_for_groups = columns_a_block * groups * sizeof(float);

template <class Storage>
__global__ static void add_cuts_kernel(const float* partial, std::int64_t cuts, std::int64_t columns, Storage* y,
                                       bool accumulate) {
  float* const sums = reinterpret_cast<float*>(vendor::shared_memory());
  const std::int64_t tiles = (columns + columns_a_block - 1) / columns_a_block;
  const unsigned threads = vendor::threads_per_block();
  for (std::int64_t tile = vendor::block_index(); tile < tiles; tile += vendor::blocks()) {
    const std::int64_t first = tile * columns_a_block;
    for (unsigned place = vendor::thread_index(); place < columns_a_block * groups; place += threads) {
      const std::int64_t column = first + place % columns_a_block;
      float sum = 0;
      if (column < columns) {
        for (std::int64_t cut = place / columns_a_block; cut < cuts; cut += groups) {
          sum += partial[cut * columns + column];
        }
      }
      sums[place] = sum;
    }
    vendor::wait_for_block();
    for (unsigned place = vendor::thread_index(); place < columns_a_block; place += threads) {
      float sum = 0;
      for (int group = 0; group < groups; ++group) sum += sums[group * columns_a_block + static_cast<int>(place)];
      if (first + place < columns) {
        const float before = accumulate ? to_float(y[first + place]) : 0.0f;
        y[first + place] = bodies::from_float<Storage>(before + sum);
      }
    }
    vendor::wait_for_block();
  }
}

template <class Storage>
void add_cuts(vendor::Stream stream, unsigned threads, const float* partial, std::int64_t cuts, std::int64_t columns,
              Storage* y, bool accumulate) {
  vendor::launch(add_cuts_kernel<Storage>, grid_over(ceiling(columns, columns_a_block)), threads, shared_for_groups,
                 stream, partial, cuts, columns, y, accumulate);
}

// Threads a block, and blocks that cover all cuts and chunks of columns.
struct ColumnShape {
  unsigned threads;
  unsigned blocks;
};
ColumnShape column_shape(std::int64_t cuts, std::int64_t chunks, const BodySetup& setup) {
  unsigned usual = 128;
  while (usual > vendor::widest_warp() && usual / 2 >= chunks) usual /= 2;
  const unsigned threads = setup.threads_or(usual);
  return {threads, grid_over(cuts * ceiling(chunks, threads))};
}

OwnMemoryPointer partial_sums(std::int64_t arrays, std::int64_t cuts, std::int64_t columns) {
  return own_memory(arrays * cuts * columns * static_cast<std::int64_t>(sizeof(float)));
}

template <int width, class Storage>
Prepared prepare_column_sum(const ColumnSum& op, const Pointers& operands, const BodySetup& setup) {
  const std::int64_t cuts = bodies::column_blocks(op.rows);
  const OwnMemoryPointer partial = partial_sums(1, cuts, op.columns);
  const ColumnShape shape = column_shape(cuts, op.columns / width, setup);
  const unsigned threads = setup.threads_or(columns_a_block * groups);
  const auto* const x = as<Storage>(operands.at(0));
  auto* const y = as<Storage>(operands.at(1));
  Prepared prepared;
  prepared.launches = 2;
  prepared.workspace = partial->bytes();
  prepared.enqueue = [=](vendor::Stream stream) {
    vendor::launch(column_sum_kernel<width, Storage>, shape.blocks, shape.threads, 0, stream, x, op.rows, op.columns,
                   cuts, partial->as<float>());
    add_cuts(stream, threads, partial->as<float>(), cuts, op.columns, y, op.accumulate);
  };
  return prepared;
}

template <bool centred, int width, class Storage>
Prepared prepare_norm_weights(const NormWeights& op, const Pointers& operands, const BodySetup& setup) {
  const std::int64_t cuts = bodies::column_blocks(op.rows);
  const OwnMemoryPointer partial = partial_sums(centred ? 2 : 1, cuts, op.columns);
  const ColumnShape shape = column_shape(cuts, op.columns / width, setup);
  const unsigned threads = setup.threads_or(columns_a_block * groups);
  const auto* const dy = as<Storage>(operands.at(0));
  const auto* const x = as<Storage>(operands.at(1));
  const auto* const statistics = as<bodies::RowStatistics>(operands.at(2));
  auto* const dweight = as<Storage>(operands.at(3));
  auto* const dbias = centred ? as<Storage>(operands.at(4)) : nullptr;
  float* const weights = partial->as<float>();
  float* const biases = centred ? weights + cuts * op.columns : nullptr;
  Prepared prepared;
  prepared.launches = centred ? 3 : 2;
  prepared.workspace = partial->bytes();
  prepared.enqueue = [=](vendor::Stream stream) {
    vendor::launch(norm_weights_kernel<centred, width, Storage>, shape.blocks, shape.threads, 0, stream, dy, x,
                   statistics, op.rows, op.columns, cuts, partial->as<float>(), biases);
    add_cuts(stream, threads, weights, cuts, op.columns, dweight, op.accumulate);
    if (centred) add_cuts(stream, threads, biases, cuts, op.columns, dbias, op.accumulate);
  };
  return prepared;
}

}  // namespace

Prepared prepare(const ColumnSum& op, const Pointers& operands, const BodySetup& setup) {
  return with_storage(op.format.element, [&](auto storage) {
    using Storage = decltype(storage);
    return op.columns % wide<Storage> == 0 ? prepare_column_sum<wide<Storage>, Storage>(op, operands, setup)
                                           : prepare_column_sum<1, Storage>(op, operands, setup);
  });
}

Prepared prepare(const NormWeights& op, const Pointers& operands, const BodySetup& setup) {
  return with_storage(op.format.element, [&](auto storage) {
    using Storage = decltype(storage);
    constexpr int width = wide<Storage>;
    const bool aligned = op.columns % width == 0;
    if (op.kind == NormKind::layer) {
      return aligned ? prepare_norm_weights<true, width, Storage>(op, operands, setup)
                     : prepare_norm_weights<true, 1, Storage>(op, operands, setup);
    }
    return aligned ? prepare_norm_weights<false, width, Storage>(op, operands, setup)
                   : prepare_norm_weights<false, 1, Storage>(op, operands, setup);
  });
}

}  // namespace assay::gpu
