// Launches the row and column bodies on the threads of a CPU.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/ops/rows.h"
#include "kernels/column.h"
#include "kernels/cpu/bodies_table.h"
#include "kernels/cpu/parallel.h"
#include "kernels/row.h"

namespace assay::cpu {

// Where a thread keeps the exponentials of its row: in the result if that is float, else in memory of its own.
template <class Storage>
static inline float* terms_of(const BodyCall& call, Storage* result, std::int64_t columns, int thread) {
  if constexpr (std::is_same_v<Storage, float>) {
    return result;
  } else {
    return as<float>(call.workspace) + row_terms(columns) * thread;
  }
}

template <class Team, class Storage>
static inline void run_softmax_of(const Softmax& op, const BodyCall& call) {
  const std::int64_t columns = op.columns;
  const std::int64_t period = op.period;
  const Storage* const a = as<Storage>(call.operands[0]);
  if (op.direction == Direction::forward) {
    Storage* const y = as<Storage>(call.operands[1]);
    return over_rows_by_thread(op.rows, columns, call.threads, [=](std::int64_t row, int thread) {
      bodies::softmax_forward(team_fetching<Team>(3, columns, a + (row + 1) * columns, y + (row + 1) * columns),
                              a + row * columns, y + row * columns, columns,
                              bodies::visible_columns(row, columns, period),
                              terms_of(call, y + row * columns, columns, thread));
    });
  }
  const Storage* const y = as<Storage>(call.operands[1]);
  Storage* const dx = as<Storage>(call.operands[2]);
  over_rows(op.rows, columns, call.threads, [=](std::int64_t row) {
    bodies::softmax_backward(
        team_fetching<Team>(2, columns, a + (row + 1) * columns, y + (row + 1) * columns, dx + (row + 1) * columns),
        a + row * columns, y + row * columns, dx + row * columns, columns,
        bodies::visible_columns(row, columns, period));
  });
}

template <class Team>
static inline void run_softmax(const Softmax& op, const BodyCall& call) {
  with_storage(op.format.element, [&](auto storage) { run_softmax_of<Team, decltype(storage)>(op, call); });
}

template <class Team, class Storage>
static inline void run_norm_forward(const Norm& op, const BodyCall& call) {
  const std::int64_t columns = op.columns;
  const Storage* const x = as<Storage>(call.operands[0]);
  const Storage* const weight = as<Storage>(call.operands[1]);
  if (op.kind == NormKind::rms) {
    Storage* const y = as<Storage>(call.operands[2]);
    auto* const statistics = as<bodies::RowStatistics>(call.operands[3]);
    return over_rows(op.rows, columns, call.threads, [=](std::int64_t row) {
      statistics[row] =
          bodies::rms_norm_forward(team_fetching<Team>(2, columns, x + (row + 1) * columns, y + (row + 1) * columns),
                                   x + row * columns, weight, y + row * columns, columns);
    });
  }
  const Storage* const bias = as<Storage>(call.operands[2]);
  Storage* const y = as<Storage>(call.operands[3]);
  auto* const statistics = as<bodies::RowStatistics>(call.operands[4]);
  over_rows(op.rows, columns, call.threads, [=](std::int64_t row) {
    statistics[row] =
        bodies::layer_norm_forward(team_fetching<Team>(3, columns, x + (row + 1) * columns, y + (row + 1) * columns),
                                   x + row * columns, weight, bias, y + row * columns, columns);
  });
}

template <class Team, bool centred, bool accumulate, class Storage>
static inline void run_norm_backward(const Norm& op, const BodyCall& call) {
  const std::int64_t columns = op.columns;
  const Storage* const dy = as<Storage>(call.operands[0]);
  const Storage* const x = as<Storage>(call.operands[1]);
  const Storage* const weight = as<Storage>(call.operands[2]);
  const auto* const statistics = as<bodies::RowStatistics>(call.operands[3]);
  Storage* const dx = as<Storage>(call.operands[4]);
  over_rows(op.rows, columns, call.threads, [=](std::int64_t row) {
    bodies::norm_backward<centred, accumulate>(
        team_fetching<Team>(2, columns, dy + (row + 1) * columns, x + (row + 1) * columns, dx + (row + 1) * columns),
        dy + row * columns, x + row * columns, weight, statistics[row], dx + row * columns, columns);
  });
}

template <class Team, class Storage>
static inline void run_norm_of(const Norm& op, const BodyCall& call) {
  if (op.direction == Direction::forward) return run_norm_forward<Team, Storage>(op, call);
  if (op.kind == NormKind::rms) {
    return op.accumulate ? run_norm_backward<Team, false, true, Storage>(op, call)
                         : run_norm_backward<Team, false, false, Storage>(op, call);
  }
  return op.accumulate ? run_norm_backward<Team, true, true, Storage>(op, call)
                       : run_norm_backward<Team, true, false, Storage>(op, call);
}

template <class Team>
static inline void run_norm(const Norm& op, const BodyCall& call) {
  with_storage(op.format.element, [&](auto storage) { run_norm_of<Team, decltype(storage)>(op, call); });
}

template <class Team, class Storage>
static inline void run_cross_entropy_of(const CrossEntropy& op, const BodyCall& call) {
  const std::int64_t columns = op.columns;
  const Storage* const logits = as<Storage>(call.operands[0]);
  const auto* const targets = as<std::int32_t>(call.operands[1]);
  float* const losses = as<float>(call.operands[2]);
  Storage* const gradient = as<Storage>(call.operands[3]);
  const float loss_scale = op.scaled ? as<float>(call.operands[4])[5] : 1.0f;
  const float factor = loss_scale / (static_cast<float>(op.rows) * static_cast<float>(op.parts));
  over_rows_by_thread(op.rows, columns, call.threads, [=](std::int64_t row, int thread) {
    losses[row] = bodies::cross_entropy(
        team_fetching<Team>(3, columns, logits + (row + 1) * columns, gradient + (row + 1) * columns),
        logits + row * columns, targets[row], gradient + row * columns, columns, factor,
        terms_of(call, gradient + row * columns, columns, thread));
  });
}

template <class Team>
static inline void run_cross_entropy(const CrossEntropy& op, const BodyCall& call) {
  with_storage(op.format.element, [&](auto storage) { run_cross_entropy_of<Team, decltype(storage)>(op, call); });
}

// The partial sums of all blocks into y.
template <class Team, class Storage>
static inline void finish_columns(float* partial, std::int64_t blocks, std::int64_t columns, int threads, Storage* y,
                                  bool accumulate) {
  over_pieces(columns, 64, blocks, threads, [=](std::int64_t first, std::int64_t last) {
    bodies::add_blocks(Team{}, partial, blocks, columns, first, last, y, accumulate);
  });
}

template <class Team, class Storage>
static inline void run_column_sum_of(const ColumnSum& op, const BodyCall& call) {
  const std::int64_t rows = op.rows;
  const std::int64_t columns = op.columns;
  const std::int64_t blocks = bodies::column_blocks(rows);
  const Storage* const x = as<Storage>(call.operands[0]);
  float* const partial = as<float>(call.workspace);
  over_rows(blocks, rows / blocks * columns, call.threads, [=](std::int64_t block) {
    bodies::column_sum_block(Team{}, x, bodies::column_block_begin(rows, blocks, block),
                             bodies::column_block_begin(rows, blocks, block + 1), columns, partial + block * columns);
  });
  finish_columns<Team>(partial, blocks, columns, call.threads, as<Storage>(call.operands[1]), op.accumulate);
}

template <class Team>
static inline void run_column_sum(const ColumnSum& op, const BodyCall& call) {
  with_storage(op.format.element, [&](auto storage) { run_column_sum_of<Team, decltype(storage)>(op, call); });
}

template <class Team, class Storage>
static inline void run_norm_weights_of(const NormWeights& op, const BodyCall& call) {
  const std::int64_t rows = op.rows;
  const std::int64_t columns = op.columns;
  const std::int64_t blocks = bodies::column_blocks(rows);
  const Storage* const dy = as<Storage>(call.operands[0]);
  const Storage* const x = as<Storage>(call.operands[1]);
  const auto* const statistics = as<bodies::RowStatistics>(call.operands[2]);
  float* const weights = as<float>(call.workspace);
  float* const biases = op.kind == NormKind::layer ? weights + blocks * columns : nullptr;
  over_rows(blocks, rows / blocks * columns, call.threads, [=](std::int64_t block) {
    bodies::norm_weights_block(Team{}, dy, x, statistics, bodies::column_block_begin(rows, blocks, block),
                               bodies::column_block_begin(rows, blocks, block + 1), columns, weights + block * columns,
                               biases == nullptr ? nullptr : biases + block * columns);
  });
  finish_columns<Team>(weights, blocks, columns, call.threads, as<Storage>(call.operands[3]), op.accumulate);
  if (biases != nullptr) {
    finish_columns<Team>(biases, blocks, columns, call.threads, as<Storage>(call.operands[4]), op.accumulate);
  }
}

template <class Team>
static inline void run_norm_weights(const NormWeights& op, const BodyCall& call) {
  with_storage(op.format.element, [&](auto storage) { run_norm_weights_of<Team, decltype(storage)>(op, call); });
}

}  // namespace assay::cpu
