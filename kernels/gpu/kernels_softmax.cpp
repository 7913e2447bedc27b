// Softmax, its gradient, and cross-entropy on a GPU.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/kernels_rows.h"
#include "kernels/row.h"

namespace assay::gpu {
namespace {

using bodies::from_float;
using bodies::to_float;

// Rows that fit ----------------------------------------------------------------------------------------------------
// They are widened on the way into shared memory, and the body works in place: 4 bytes a column, whatever the format.

// What a row's gradient is multiplied by: its share of the mean loss, times the loss scale.
__device__ static float loss_factor(const CrossEntropy& op, const float* scalars) {
  const float loss_scale = scalars == nullptr ? 1.0f : scalars[5];
  return loss_scale / (static_cast<float>(op.rows) * static_cast<float>(op.parts));
}

template <class Storage>
__global__ static void softmax_kernel(const Storage* x, Storage* y, Softmax op, bool aligned) {
  const BlockTeam team(vendor::shared_memory());
  float* const row = reinterpret_cast<float*>(memory_for_rows());
  for (std::int64_t r = vendor::block_index(); r < op.rows; r += vendor::blocks()) {
    const std::int64_t visible = bodies::visible_columns(r, op.columns, op.period);
    move_row(team, x + r * op.columns, row, visible, aligned);
    bodies::softmax_forward(team, row, row, op.columns, visible, row);
    move_row(team, row, y + r * op.columns, op.columns, aligned);
  }
}

template <class Storage>
__global__ static void cross_entropy_kernel(const Storage* logits, const std::int32_t* targets, float* losses,
                                            const float* scalars, Storage* gradient, CrossEntropy op, bool aligned) {
  const BlockTeam team(vendor::shared_memory());
  float* const row = reinterpret_cast<float*>(memory_for_rows());
  const float factor = loss_factor(op, scalars);
  for (std::int64_t r = vendor::block_index(); r < op.rows; r += vendor::blocks()) {
    move_row(team, logits + r * op.columns, row, op.columns, aligned);
    const float loss = bodies::cross_entropy(team, row, targets[r], row, op.columns, factor, row);
    if (vendor::thread_index() == 0) losses[r] = loss;
    move_row(team, row, gradient + r * op.columns, op.columns, aligned);
  }
}

// dy and y as they are stored; the result takes the place of dy.
template <class Storage>
__global__ static void softmax_backward_kernel(const Storage* dy, const Storage* y, Storage* dx, Softmax op,
                                               bool aligned, std::int64_t apart) {
  const BlockTeam team(vendor::shared_memory());
  Storage* const slope = reinterpret_cast<Storage*>(memory_for_rows());
  Storage* const value = slope + apart;
  for (std::int64_t r = vendor::block_index(); r < op.rows; r += vendor::blocks()) {
    const std::int64_t visible = bodies::visible_columns(r, op.columns, op.period);
    move_row(team, dy + r * op.columns, slope, visible, aligned);
    move_row(team, y + r * op.columns, value, visible, aligned);
    bodies::softmax_backward(team, slope, value, slope, op.columns, visible);
    move_row(team, slope, dx + r * op.columns, op.columns, aligned);
  }
}

template <class Storage>
__global__ static void long_softmax_backward_kernel(const Storage* dy, const Storage* y, Storage* dx, Softmax op) {
  const BlockTeam team(vendor::shared_memory());
  for (std::int64_t r = vendor::block_index(); r < op.rows; r += vendor::blocks()) {
    const std::int64_t at = r * op.columns;
    bodies::softmax_backward(team, dy + at, y + at, dx + at, op.columns,
                             bodies::visible_columns(r, op.columns, op.period));
  }
}

// Rows that do not fit ----------------------------------------------------------------------------------------------
// Read three times, from the last cache after the first, a chunk of `width` at a time.

// The largest of a row and the sum of e^(x - largest), over its first `visible` columns.
template <int width, class Storage>
__device__ bodies::Exponentials exponentials_of(const BlockTeam& team, const Storage* x, std::int64_t visible) {
  const std::int64_t chunks = (visible + width - 1) / width;
  const float largest = team.max(chunks, [=](std::int64_t c) {
    const auto pack = load<width>(x + c * width);
    float own = -__builtin_inff();
    for (int i = 0; i < width; ++i) {
      const float value = to_float(pack.at[i]);
      own = value > own && c * width + i < visible ? value : own;
    }
    return own;
  });
  const float sum = team.sum(chunks, [=](std::int64_t c) {
    const auto pack = load<width>(x + c * width);
    float own = 0;
    for (int i = 0; i < width; ++i) {
      const float term = bodies::exponential(to_float(pack.at[i]) - largest);
      own += c * width + i < visible ? term : 0.0f;
    }
    return own;
  });
  return {largest, sum};
}

template <int width, class Storage>
__global__ static void long_softmax_kernel(const Storage* x, Storage* y, Softmax op) {
  const BlockTeam team(vendor::shared_memory());
  for (std::int64_t r = vendor::block_index(); r < op.rows; r += vendor::blocks()) {
    const Storage* const from = x + r * op.columns;
    Storage* const to = y + r * op.columns;
    const std::int64_t visible = bodies::visible_columns(r, op.columns, op.period);
    const bodies::Exponentials row = exponentials_of<width>(team, from, visible);
    const float factor = 1.0f / row.sum;
    team.each(op.columns / width, [=](std::int64_t c) {
      const auto pack = load<width>(from + c * width);
      Pack<Storage, width> result;
      for (int i = 0; i < width; ++i) {
        const float term = bodies::exponential(to_float(pack.at[i]) - row.largest) * factor;
        result.at[i] = from_float<Storage>(c * width + i < visible ? term : 0.0f);
      }
      store(to + c * width, result);
    });
  }
}

template <int width, class Storage>
__global__ static void long_cross_entropy_kernel(const Storage* logits, const std::int32_t* targets, float* losses,
                                                 const float* scalars, Storage* gradient, CrossEntropy op) {
  const BlockTeam team(vendor::shared_memory());
  const float factor = loss_factor(op, scalars);
  for (std::int64_t r = vendor::block_index(); r < op.rows; r += vendor::blocks()) {
    const Storage* const from = logits + r * op.columns;
    Storage* const to = gradient + r * op.columns;
    const std::int64_t target = targets[r];
    const bodies::Exponentials row = exponentials_of<width>(team, from, op.columns);
    const float scale = factor / row.sum;
    if (vendor::thread_index() == 0) {
      losses[r] = bodies::logarithm(row.sum) - (to_float(from[target]) - row.largest);
    }
    team.each(op.columns / width, [=](std::int64_t c) {
      const auto pack = load<width>(from + c * width);
      Pack<Storage, width> result;
      for (int i = 0; i < width; ++i) {
        const float term = bodies::exponential(to_float(pack.at[i]) - row.largest) * scale;
        result.at[i] = from_float<Storage>(term - (c * width + i == target ? factor : 0.0f));
      }
      store(to + c * width, result);
    });
  }
}

// Few blocks of many threads: the rows on their way should fit into the last cache.
unsigned long_grid(std::int64_t rows, const BodySetup& setup) {
  return grid_over(std::min<std::int64_t>(rows, 2 * std::int64_t{vendor::multiprocessors(setup.kernel.device)}));
}
constexpr unsigned long_threads = 512;

template <int width, class Storage>
Prepared prepare_long_softmax(const Softmax& op, const Storage* x, Storage* y, const BodySetup& setup) {
  const unsigned threads = setup.threads_or(long_threads);
  const unsigned blocks = long_grid(op.rows, setup);
  Prepared prepared;
  prepared.enqueue = [=](vendor::Stream stream) {
    vendor::launch(long_softmax_kernel<width, Storage>, blocks, threads, BlockTeam::shared_bytes, stream, x, y, op);
  };
  return prepared;
}

template <class Storage>
Prepared prepare_forward(const Softmax& op, const Pointers& operands, const BodySetup& setup) {
  const Storage* const x = as<Storage>(operands.at(0));
  Storage* const y = as<Storage>(operands.at(1));
  const bool aligned = rows_are_aligned<Storage>(op.columns);
  const RowShape shape = row_shape(op.columns, sizeof(float), wide<Storage>, setup);
  if (!shape.staged) {
    return aligned ? prepare_long_softmax<wide<Storage>>(op, x, y, setup) : prepare_long_softmax<1>(op, x, y, setup);
  }
  const unsigned blocks = resident_grid(softmax_kernel<Storage>, shape.threads, shape.shared, op.rows, setup);
  Prepared prepared;
  prepared.enqueue = [=](vendor::Stream stream) {
    vendor::launch(softmax_kernel<Storage>, blocks, shape.threads, shape.shared, stream, x, y, op, aligned);
  };
  return prepared;
}

template <class Storage>
Prepared prepare_backward(const Softmax& op, const Pointers& operands, const BodySetup& setup) {
  const Storage* const dy = as<Storage>(operands.at(0));
  const Storage* const y = as<Storage>(operands.at(1));
  Storage* const dx = as<Storage>(operands.at(2));
  const bool aligned = rows_are_aligned<Storage>(op.columns);
  const std::int64_t apart = ceiling(op.columns, wide<Storage>) * wide<Storage>;
  const RowShape shape = row_shape(apart, 2 * sizeof(Storage), wide<Storage>, setup);
  Prepared prepared;
  if (shape.staged) {
    const unsigned blocks =
        resident_grid(softmax_backward_kernel<Storage>, shape.threads, shape.shared, op.rows, setup);
    prepared.enqueue = [=](vendor::Stream stream) {
      vendor::launch(softmax_backward_kernel<Storage>, blocks, shape.threads, shape.shared, stream, dy, y, dx, op,
                     aligned, apart);
    };
    return prepared;
  }
  const unsigned threads = setup.threads_or(long_threads);
  const unsigned blocks = long_grid(op.rows, setup);
  prepared.enqueue = [=](vendor::Stream stream) {
    vendor::launch(long_softmax_backward_kernel<Storage>, blocks, threads, BlockTeam::shared_bytes, stream, dy, y, dx,
                   op);
  };
  return prepared;
}

struct CrossEntropyOperands {
  std::byte* logits;
  const std::int32_t* targets;
  float* losses;
  std::byte* gradient;
  const float* scalars;  // null where the loss is not scaled
};

template <int width, class Storage>
Prepared prepare_long_cross_entropy(const CrossEntropy& op, const CrossEntropyOperands& to, const BodySetup& setup) {
  const unsigned threads = setup.threads_or(long_threads);
  const unsigned blocks = long_grid(op.rows, setup);
  Prepared prepared;
  prepared.enqueue = [=](vendor::Stream stream) {
    vendor::launch(long_cross_entropy_kernel<width, Storage>, blocks, threads, BlockTeam::shared_bytes, stream,
                   as<Storage>(to.logits), to.targets, to.losses, to.scalars, as<Storage>(to.gradient), op);
  };
  return prepared;
}

template <class Storage>
Prepared prepare_cross_entropy(const CrossEntropy& op, const CrossEntropyOperands& to, const BodySetup& setup) {
  const bool aligned = rows_are_aligned<Storage>(op.columns);
  const RowShape shape = row_shape(op.columns, sizeof(float), wide<Storage>, setup);
  if (!shape.staged) {
    return aligned ? prepare_long_cross_entropy<wide<Storage>, Storage>(op, to, setup)
                   : prepare_long_cross_entropy<1, Storage>(op, to, setup);
  }
  const unsigned blocks = resident_grid(cross_entropy_kernel<Storage>, shape.threads, shape.shared, op.rows, setup);
  Prepared prepared;
  prepared.enqueue = [=](vendor::Stream stream) {
    vendor::launch(cross_entropy_kernel<Storage>, blocks, shape.threads, shape.shared, stream, as<Storage>(to.logits),
                   to.targets, to.losses, to.scalars, as<Storage>(to.gradient), op, aligned);
  };
  return prepared;
}

}  // namespace

Prepared prepare(const Softmax& op, const Pointers& operands, const BodySetup& setup) {
  return with_storage(op.format.element, [&](auto storage) {
    using Storage = decltype(storage);
    return op.direction == Direction::forward ? prepare_forward<Storage>(op, operands, setup)
                                              : prepare_backward<Storage>(op, operands, setup);
  });
}

Prepared prepare(const CrossEntropy& op, const Pointers& operands, const BodySetup& setup) {
  const CrossEntropyOperands to{operands.at(0), as<std::int32_t>(operands.at(1)), as<float>(operands.at(2)),
                                operands.at(3), op.scaled ? as<float>(operands.at(4)) : nullptr};
  Prepared prepared = with_storage(
      op.format.element, [&](auto storage) { return prepare_cross_entropy<decltype(storage)>(op, to, setup); });
  prepared.refresh = [=] { check_indices(to.targets, op.rows, op.columns, "target", setup.kernel.stream); };
  return prepared;
}

}  // namespace assay::gpu
