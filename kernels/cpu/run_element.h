// Launches the element bodies on the threads of a CPU.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/ops/pointwise.h"
#include "kernels/cpu/bodies_table.h"
#include "kernels/cpu/parallel.h"
#include "kernels/element.h"
#include "kernels/map.h"

namespace assay::cpu {

// Elements of one block: 512 bytes of the widest operand. The memory takes few requests at a time, and a processor that
// is out of places for them waits, so they are made in small groups.
template <class... Storages>
static constexpr std::int64_t element_block() {
  std::size_t widest = 1;
  ((widest = sizeof(Storages) > widest ? sizeof(Storages) : widest), ...);
  return 512 / static_cast<std::int64_t>(widest);
}

static constexpr std::int64_t blocks_ahead = 8;

// f(begin, size) for blocks of elements; the size of a whole block is a constant, so that its loops have no loose ends.
// `operands` are the arrays it goes through, fetched ahead.
template <class Function, class... Storages>
static inline void each_block(std::int64_t count, int threads, Function f, const Storages*... operands) {
  constexpr std::int64_t block = element_block<Storages...>();
  over_elements(count, threads, [=](std::int64_t first, std::int64_t last) {
    std::int64_t begin = first;
    for (; begin + block <= last; begin += block) {
      const std::int64_t ahead =
          begin + blocks_ahead * block < last - block ? begin + blocks_ahead * block : last - block;
      (fetch(operands + ahead, operands + ahead + block), ...);
      f(begin, std::integral_constant<std::int64_t, block>{});
    }
    if (begin < last) f(begin, last - begin);
  });
}

// f(i) for all i below count.
template <class Team, class Function, class... Storages>
static inline void each_element(std::int64_t count, int threads, Function f, const Storages*... operands) {
  each_block(
      count, threads, [=](std::int64_t begin, auto size) { Team{}.each(size, [=](std::int64_t i) { f(begin + i); }); },
      operands...);
}

// y[i] = f(x[i]...) in float.
template <class Team, class Storage, class Function, class... Inputs>
static inline void map_element(std::int64_t count, int threads, Storage* y, Function f, const Inputs*... x) {
  each_block(
      count, threads,
      [=](std::int64_t begin, auto size) {
        bodies::map(
            Team{}, size, y + begin, [=](std::int64_t, auto... values) { return f(values...); }, x + begin...);
      },
      x..., y);
}

// f(row, first, last) for pieces of rows, cut so that each thread gets the same number of elements.
template <class Function>
static inline void over_row_pieces(std::int64_t rows, std::int64_t columns, int threads, Function f) {
  over_elements(rows * columns, threads, [=](std::int64_t first, std::int64_t last) {
    while (first < last) {
      const std::int64_t row = first / columns;
      const std::int64_t end = (row + 1) * columns < last ? (row + 1) * columns : last;
      f(row, first - row * columns, end - row * columns);
      first = end;
    }
  });
}

template <class Team, class Storage>
static inline void run_swiglu(const Pointwise& op, const BodyCall& call) {
  const Storage* const gate_up = as<Storage>(call.operands[0]);
  Storage* const y = as<Storage>(call.operands[1]);
  const std::int64_t columns = op.columns;
  over_row_pieces(op.rows, columns, call.threads, [=](std::int64_t row, std::int64_t first, std::int64_t last) {
    const Storage* const gate = gate_up + row * 2 * columns + first;
    const Storage* const up = gate + columns;
    Storage* const to = y + row * columns + first;
    bodies::map(
        Team{}, last - first, to, [](std::int64_t, float g, float u) { return bodies::swiglu(g, u); }, gate, up);
  });
}

template <class Team, class Storage>
static inline void run_swiglu_backward(const Pointwise& op, const BodyCall& call) {
  const Storage* const dy = as<Storage>(call.operands[0]);
  const Storage* const gate_up = as<Storage>(call.operands[1]);
  Storage* const dgate_up = as<Storage>(call.operands[2]);
  const std::int64_t columns = op.columns;
  over_row_pieces(op.rows, columns, call.threads, [=](std::int64_t row, std::int64_t first, std::int64_t last) {
    const Storage* const from = dy + row * columns + first;
    const Storage* const gate = gate_up + row * 2 * columns + first;
    const Storage* const up = gate + columns;
    Storage* const dgate = dgate_up + row * 2 * columns + first;
    Storage* const dup = dgate + columns;
    Team{}.each(last - first, [=](std::int64_t i) {
      const bodies::SwigluGradient gradient =
          bodies::swiglu_backward(bodies::to_float(from[i]), bodies::to_float(gate[i]), bodies::to_float(up[i]));
      dgate[i] = bodies::from_float<Storage>(gradient.gate);
      dup[i] = bodies::from_float<Storage>(gradient.up);
    });
  });
}

template <class Team, class Storage>
static inline void run_pointwise_of(const Pointwise& op, const BodyCall& call) {
  const std::int64_t count = op.rows * op.columns;
  const Storage* const a = as<Storage>(call.operands[0]);
  switch (op.kind) {
    case PointwiseKind::gelu: {
      Storage* const y = as<Storage>(call.operands[1]);
      return map_element<Team>(
          count, call.threads, y, [](float x) { return bodies::gelu(x); }, a);
    }
    case PointwiseKind::gelu_backward: {
      const Storage* const x = as<Storage>(call.operands[1]);
      Storage* const dx = as<Storage>(call.operands[2]);
      return map_element<Team>(
          count, call.threads, dx, [](float dy, float value) { return bodies::gelu_backward(dy, value); }, a, x);
    }
    case PointwiseKind::swiglu:
      return run_swiglu<Team, Storage>(op, call);
    case PointwiseKind::swiglu_backward:
      return run_swiglu_backward<Team, Storage>(op, call);
    case PointwiseKind::add: {
      const Storage* const b = as<Storage>(call.operands[1]);
      Storage* const y = as<Storage>(call.operands[2]);
      return map_element<Team>(
          count, call.threads, y, [](float left, float right) { return left + right; }, a, b);
    }
    case PointwiseKind::zero: {
      Storage* const y = as<Storage>(call.operands[0]);
      return each_element<Team>(
          count, call.threads, [=](std::int64_t i) { y[i] = bodies::from_float<Storage>(0.0f); }, y);
    }
  }
}

template <class Team>
static inline void run_pointwise(const Pointwise& op, const BodyCall& call) {
  with_storage(op.format.element, [&](auto storage) { run_pointwise_of<Team, decltype(storage)>(op, call); });
}

template <class Team, class From, class To>
static inline void run_cast_of(const Cast& op, const BodyCall& call) {
  const From* const x = as<From>(call.operands[0]);
  if (op.to.scaling == Scaling::none) {
    To* const y = as<To>(call.operands[1]);
    return each_element<Team>(
        op.count, call.threads, [=](std::int64_t i) { y[i] = bodies::convert<To>(x[i]); }, x, y);
  }
  const float scale = *as<float>(call.operands[1]);
  To* const y = as<To>(call.operands[2]);
  each_element<Team>(
      op.count, call.threads, [=](std::int64_t i) { y[i] = bodies::from_float<To>(bodies::to_float(x[i]) / scale); }, x,
      y);
}

template <class Team>
static inline void run_cast(const Cast& op, const BodyCall& call) {
  with_any_storage(op.from.element, [&](auto from) {
    with_any_storage(op.to.element, [&](auto to) { run_cast_of<Team, decltype(from), decltype(to)>(op, call); });
  });
}

template <class Team, class Gradient, class Weight>
static inline void run_adamw_of(const AdamW& op, const BodyCall& call) {
  const bodies::AdamStep step = bodies::adam_step(as<float>(call.operands[0]));
  const Gradient* const gradient = as<Gradient>(call.operands[1]);
  float* const master = as<float>(call.operands[2]);
  float* const first = as<float>(call.operands[3]);
  float* const second = as<float>(call.operands[4]);
  constexpr bool separate_weight = !std::is_same_v<Weight, float>;
  Weight* weight = nullptr;
  if constexpr (separate_weight) weight = as<Weight>(call.operands[5]);
  if (bodies::adam_skips(as<float>(call.operands[0]))) {
    if constexpr (separate_weight) {
      each_element<Team>(
          op.count, call.threads, [=](std::int64_t i) { weight[i] = bodies::from_float<Weight>(master[i]); }, master,
          weight);
    }
    return;
  }
  each_element<Team>(
      op.count, call.threads,
      [=](std::int64_t i) {
        const bodies::AdamState after =
            bodies::adam_update(step, bodies::to_float(gradient[i]), {master[i], first[i], second[i]});
        master[i] = after.master;
        first[i] = after.first;
        second[i] = after.second;
        if constexpr (separate_weight) weight[i] = bodies::from_float<Weight>(after.master);
      },
      gradient, master, first, second);
}

template <class Team>
static inline void run_adamw(const AdamW& op, const BodyCall& call) {
  with_storage(op.gradient.element, [&](auto gradient) {
    with_storage(op.weight.element,
                 [&](auto weight) { run_adamw_of<Team, decltype(gradient), decltype(weight)>(op, call); });
  });
}

}  // namespace assay::cpu
