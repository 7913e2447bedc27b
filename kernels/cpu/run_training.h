// Launches the bodies of kernels/training.h on the threads of a CPU.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/ops/training.h"
#include "kernels/cpu/bodies_table.h"
#include "kernels/cpu/parallel.h"
#include "kernels/cpu/run_element.h"
#include "kernels/training.h"

namespace assay::cpu {

template <class Team, class Storage>
static inline void run_sum_squares_of(const SumSquares& op, const BodyCall& call) {
  const Storage* const x = as<Storage>(call.operands[0]);
  float* const total = as<float>(call.operands[1]);
  float* const partial = as<float>(call.workspace);
  const std::int64_t count = op.count;
  const std::int64_t blocks = (count + bodies::square_block - 1) / bodies::square_block;
  over_pieces(blocks, 1, bodies::square_block, call.threads, [=](std::int64_t first, std::int64_t last) {
    for (std::int64_t block = first; block < last; ++block) {
      const std::int64_t begin = block * bodies::square_block;
      const std::int64_t size = begin + bodies::square_block < count ? bodies::square_block : count - begin;
      partial[block] = bodies::sum_of_squares(Team{}, x + begin, size);
    }
  });
  double sum = op.accumulate ? static_cast<double>(*total) : 0.0;
  for (std::int64_t block = 0; block < blocks; ++block) sum += static_cast<double>(partial[block]);
  *total = static_cast<float>(sum);
}

template <class Team>
static inline void run_sum_squares(const SumSquares& op, const BodyCall& call) {
  with_storage(op.format.element, [&](auto storage) { run_sum_squares_of<Team, decltype(storage)>(op, call); });
}

template <class Team>
static inline void run_adam_control(const AdamControl& op, const BodyCall& call) {
  const bodies::ControlSettings settings{static_cast<float>(op.rate), static_cast<float>(op.clip),
                                         static_cast<float>(op.warmup), static_cast<float>(op.interval)};
  bodies::control_step(settings, *as<float>(call.operands[0]), as<float>(call.operands[1]));
}

// Floats between the maxima of two threads: a cache line.
static constexpr std::int64_t apart = 16;

template <class Team, class Storage>
static inline void run_tensor_scale_of(const TensorScale& op, float top, const BodyCall& call) {
  const Storage* const x = as<Storage>(call.operands[0]);
  float* const most = as<float>(call.workspace);
  const int threads = op.count <= serial_elements ? 1 : call.threads;
  for (int thread = 0; thread < threads; ++thread) most[thread * apart] = 0.0f;
  on_threads(threads, [=](int thread, int present) {
    const Piece piece = piece_of(op.count, 64, thread, present);
    if (piece.first >= piece.last) return;
    most[thread * apart] = Team{}.max(piece.last - piece.first, [=](std::int64_t i) {
      return bodies::finite_magnitude(bodies::to_float(x[piece.first + i]));
    });
  });
  float all = 0.0f;
  for (int thread = 0; thread < threads; ++thread) all = most[thread * apart] > all ? most[thread * apart] : all;
  *as<float>(call.operands[1]) = bodies::power_of_two_scale(all, top);
}

// The largest number of a format that is scaled to; 0 for others.
static inline float largest_of(Element element) {
  float top = 0.0f;
  if (element == Element::fp32) top = 3.4028234e38f;
  if (element == Element::bf16) top = 3.3895314e38f;
  if (element == Element::fp16) top = 65504.0f;
  if (element == Element::fp8_e4m3) top = 448.0f;
  if (element == Element::fp8_e5m2 || element == Element::fp8_e5m2_fnuz) top = 57344.0f;
  if (element == Element::fp8_e4m3_fnuz) top = 240.0f;
  if (element == Element::int8) top = 127.0f;
  return top;
}

template <class Team>
static inline void run_tensor_scale(const TensorScale& op, const BodyCall& call) {
  with_storage(op.from.element, [&](auto storage) {
    run_tensor_scale_of<Team, decltype(storage)>(op, largest_of(op.to.element), call);
  });
}

template <class Team, class Gradient, class Weight>
static inline void run_adamw8_of(const AdamW8& op, const BodyCall& call) {
  const float* const scalars = as<float>(call.operands[0]);
  const Gradient* const gradient = as<Gradient>(call.operands[1]);
  float* const master = as<float>(call.operands[2]);
  auto* const first = as<bodies::Fp8E4m3>(call.operands[3]);
  float* const first_scale = as<float>(call.operands[4]);
  auto* const second = as<bodies::Fp8E4m3>(call.operands[5]);
  float* const second_scale = as<float>(call.operands[6]);
  Weight* weight = nullptr;
  if constexpr (!std::is_same_v<Weight, float>) weight = as<Weight>(call.operands[7]);
  const std::int64_t count = op.count;
  if (bodies::adam_skips(scalars)) {
    if constexpr (!std::is_same_v<Weight, float>) {
      each_element<Team>(
          count, call.threads, [=](std::int64_t i) { weight[i] = bodies::from_float<Weight>(master[i]); }, master,
          weight);
    }
    return;
  }
  const bodies::AdamStep step = bodies::adam_step(scalars);
  const std::int64_t groups = (count + bodies::moment_group - 1) / bodies::moment_group;
  over_pieces(groups, 1, bodies::moment_group, call.threads, [=](std::int64_t from, std::int64_t to) {
    float firsts[bodies::moment_group];
    float roots[bodies::moment_group];
    for (std::int64_t group = from; group < to; ++group) {
      const std::int64_t begin = group * bodies::moment_group;
      const std::int64_t size = begin + bodies::moment_group < count ? bodies::moment_group : count - begin;
      bodies::adam_group(Team{}, step, gradient + begin, master + begin,
                         {first + begin, first_scale + group, second + begin, second_scale + group},
                         weight == nullptr ? nullptr : weight + begin, size, firsts, roots);
    }
  });
}

template <class Team>
static inline void run_adamw8(const AdamW8& op, const BodyCall& call) {
  with_storage(op.gradient.element, [&](auto gradient) {
    with_storage(op.weight.element,
                 [&](auto weight) { run_adamw8_of<Team, decltype(gradient), decltype(weight)>(op, call); });
  });
}

}  // namespace assay::cpu
