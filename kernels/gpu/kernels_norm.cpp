// Norms on a GPU, forward and backward along the rows.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/kernels_rows.h"
#include "kernels/row.h"

namespace assay::gpu {
namespace {

template <class Storage>
struct Forward {
  const Storage* x;
  const Storage* weight;
  const Storage* bias;  // null for rms
  Storage* y;
  bodies::RowStatistics* statistics;
};

template <bool centred, class Storage>
__device__ bodies::RowStatistics norm_row(const BlockTeam& team, const Storage* x, const Forward<Storage>& to,
                                          Storage* y, std::int64_t columns) {
  if constexpr (centred) {
    return bodies::layer_norm_forward(team, x, to.weight, to.bias, y, columns);
  } else {
    return bodies::rms_norm_forward(team, x, to.weight, y, columns);
  }
}

// Where the row fits, it waits in shared memory as it is stored, and the result takes its place.
template <bool centred, bool staged, class Storage>
__global__ static void norm_kernel(Forward<Storage> to, std::int64_t rows, std::int64_t columns, bool aligned) {
  const BlockTeam team(vendor::shared_memory());
  Storage* const row = reinterpret_cast<Storage*>(memory_for_rows());
  for (std::int64_t r = vendor::block_index(); r < rows; r += vendor::blocks()) {
    const Storage* const x = to.x + r * columns;
    Storage* const y = to.y + r * columns;
    bodies::RowStatistics statistics;
    if constexpr (staged) {
      move_row(team, x, row, columns, aligned);
      statistics = norm_row<centred>(team, row, to, row, columns);
      move_row(team, row, y, columns, aligned);
    } else {
      statistics = norm_row<centred>(team, x, to, y, columns);
    }
    if (vendor::thread_index() == 0) to.statistics[r] = statistics;
  }
}

template <class Storage>
struct Backward {
  const Storage* dy;
  const Storage* x;
  const Storage* weight;
  const bodies::RowStatistics* statistics;
  Storage* dx;
};

// dy, x, and with a residual dx wait in shared memory; the result takes the place of dx, or of dy.
template <bool centred, bool accumulate, bool staged, class Storage>
__global__ static void norm_backward_kernel(Backward<Storage> to, std::int64_t rows, std::int64_t columns, bool aligned,
                                            std::int64_t apart) {
  const BlockTeam team(vendor::shared_memory());
  Storage* const slope = reinterpret_cast<Storage*>(memory_for_rows());
  Storage* const value = slope + apart;
  Storage* const result = accumulate ? value + apart : slope;
  for (std::int64_t r = vendor::block_index(); r < rows; r += vendor::blocks()) {
    const std::int64_t at = r * columns;
    const bodies::RowStatistics statistics = to.statistics[r];
    if constexpr (staged) {
      move_row(team, to.dy + at, slope, columns, aligned);
      move_row(team, to.x + at, value, columns, aligned);
      if constexpr (accumulate) move_row(team, static_cast<const Storage*>(to.dx + at), result, columns, aligned);
      bodies::norm_backward<centred, accumulate>(team, slope, value, to.weight, statistics, result, columns);
      move_row(team, static_cast<const Storage*>(result), to.dx + at, columns, aligned);
    } else {
      bodies::norm_backward<centred, accumulate>(team, to.dy + at, to.x + at, to.weight, statistics, to.dx + at,
                                                 columns);
    }
  }
}

constexpr unsigned long_threads = 512;

template <bool centred, class Storage>
Prepared prepare_forward(const Norm& op, const Pointers& operands, const BodySetup& setup) {
  const std::size_t y = centred ? 3 : 2;
  const Forward<Storage> to{as<Storage>(operands.at(0)), as<Storage>(operands.at(1)),
                            centred ? as<Storage>(operands.at(2)) : nullptr, as<Storage>(operands.at(y)),
                            as<bodies::RowStatistics>(operands.at(y + 1))};
  const RowShape shape = row_shape(op.columns, sizeof(Storage), wide<Storage>, setup);
  const bool aligned = rows_are_aligned<Storage>(op.columns);
  const unsigned threads = shape.staged ? shape.threads : setup.threads_or(long_threads);
  const auto kernel = shape.staged ? norm_kernel<centred, true, Storage> : norm_kernel<centred, false, Storage>;
  const unsigned blocks = resident_grid(kernel, threads, shape.shared, op.rows, setup);
  Prepared prepared;
  prepared.enqueue = [=](vendor::Stream stream) {
    vendor::launch(kernel, blocks, threads, shape.shared, stream, to, op.rows, op.columns, aligned);
  };
  return prepared;
}

template <bool centred, bool accumulate, class Storage>
Prepared prepare_backward(const Norm& op, const Pointers& operands, const BodySetup& setup) {
  const Backward<Storage> to{as<Storage>(operands.at(0)), as<Storage>(operands.at(1)), as<Storage>(operands.at(2)),
                             as<bodies::RowStatistics>(operands.at(3)), as<Storage>(operands.at(4))};
  const std::int64_t apart = ceiling(op.columns, wide<Storage>) * wide<Storage>;
  const std::int64_t kept = accumulate ? 3 : 2;
  const RowShape shape = row_shape(apart, kept * static_cast<std::int64_t>(sizeof(Storage)), wide<Storage>, setup);
  const bool aligned = rows_are_aligned<Storage>(op.columns);
  const unsigned threads = shape.staged ? shape.threads : setup.threads_or(long_threads);
  const auto kernel = shape.staged ? norm_backward_kernel<centred, accumulate, true, Storage>
                                   : norm_backward_kernel<centred, accumulate, false, Storage>;
  const unsigned blocks = resident_grid(kernel, threads, shape.shared, op.rows, setup);
  Prepared prepared;
  prepared.enqueue = [=](vendor::Stream stream) {
    vendor::launch(kernel, blocks, threads, shape.shared, stream, to, op.rows, op.columns, aligned, apart);
  };
  return prepared;
}

template <bool centred, class Storage>
Prepared prepare_norm(const Norm& op, const Pointers& operands, const BodySetup& setup) {
  if (op.direction == Direction::forward) return prepare_forward<centred, Storage>(op, operands, setup);
  return op.accumulate ? prepare_backward<centred, true, Storage>(op, operands, setup)
                       : prepare_backward<centred, false, Storage>(op, operands, setup);
}

}  // namespace

Prepared prepare(const Norm& op, const Pointers& operands, const BodySetup& setup) {
  return with_storage(op.format.element, [&](auto storage) {
    using Storage = decltype(storage);
    return op.kind == NormKind::layer ? prepare_norm<true, Storage>(op, operands, setup)
                                      : prepare_norm<false, Storage>(op, operands, setup);
  });
}

}  // namespace assay::gpu
