// What a training step does between its gradients and its weights, on a GPU; and the cache that decoding appends to.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/training.h"

#include "kernels/gpu/kernels_elements.h"

namespace assay::gpu {
namespace {

using bodies::from_float;
using bodies::to_float;

constexpr unsigned usual_threads = 256;

// A block adds the squares of a piece of fixed size, whatever its threads, in a float; one thread adds those in double
// and in their order: the sum does not depend on how the device hands out blocks.
template <class Storage>
__global__ static void squares_kernel(const Storage* x, std::int64_t count, std::int64_t pieces, float* partial) {
  const BlockTeam team(vendor::shared_memory());
  for (std::int64_t piece = vendor::block_index(); piece < pieces; piece += vendor::blocks()) {
    const std::int64_t begin = piece * bodies::square_block;
    const std::int64_t rest = count - begin;
    const float sum =
        bodies::sum_of_squares(team, x + begin, rest < bodies::square_block ? rest : bodies::square_block);
    if (vendor::thread_index() == 0) partial[piece] = sum;
  }
}

__global__ static void add_squares_kernel(const float* partial, std::int64_t pieces, float* total, bool accumulate) {
  const BlockTeam team(vendor::shared_memory());
  double own = 0;
  const std::int64_t threads = vendor::threads_per_block();
  for (std::int64_t i = vendor::thread_index(); i < pieces; i += threads) own += static_cast<double>(partial[i]);
  const double sum = team.add(own);
  if (vendor::thread_index() == 0) {
    *total = static_cast<float>((accumulate ? static_cast<double>(*total) : 0.0) + sum);
  }
}

__global__ static void control_kernel(bodies::ControlSettings settings, const float* total, float* scalars) {
  if (vendor::thread_index() == 0 && vendor::block_index() == 0) bodies::control_step(settings, *total, scalars);
}

template <class Storage>
__global__ static void largest_kernel(const Storage* x, std::int64_t count, std::int64_t pieces, float* partial) {
  const BlockTeam team(vendor::shared_memory());
  for (std::int64_t piece = vendor::block_index(); piece < pieces; piece += vendor::blocks()) {
    const std::int64_t begin = piece * bodies::square_block;
    const std::int64_t rest = count - begin;
    const float most = team.max(rest < bodies::square_block ? rest : bodies::square_block,
                                [=](std::int64_t i) { return bodies::finite_magnitude(to_float(x[begin + i])); });
    if (vendor::thread_index() == 0) partial[piece] = most;
  }
}

__global__ static void scale_kernel(const float* partial, std::int64_t pieces, float top, float* scale) {
  const BlockTeam team(vendor::shared_memory());
  const float most = team.max(pieces, [=](std::int64_t i) { return partial[i]; });
  if (vendor::thread_index() == 0) *scale = bodies::power_of_two_scale(most, top);
}

// A block takes a group at a time; its moments wait in shared memory until their largest is known.
template <class Gradient, class Weight>
__global__ static void adamw8_kernel(const float* scalars, const Gradient* gradient, float* master,
                                     bodies::NarrowMoments moments, Weight* weight, std::int64_t count) {
  std::byte* const shared = vendor::shared_memory();
  const BlockTeam team(shared);
  float* const firsts = reinterpret_cast<float*>(shared + BlockTeam::shared_bytes);
  float* const roots = firsts + bodies::moment_group;
  const bool skips = bodies::adam_skips(scalars);
  const bodies::AdamStep step = bodies::adam_step(scalars);
  const std::int64_t groups = (count + bodies::moment_group - 1) / bodies::moment_group;
  for (std::int64_t group = vendor::block_index(); group < groups; group += vendor::blocks()) {
    const std::int64_t begin = group * bodies::moment_group;
    const std::int64_t rest = count - begin;
    const std::int64_t size = rest < bodies::moment_group ? rest : bodies::moment_group;
    if (skips) {
      if constexpr (!std::is_same_v<Weight, float>) {
        team.each(size, [=](std::int64_t i) { weight[begin + i] = from_float<Weight>(master[begin + i]); });
      }
      continue;
    }
    bodies::adam_group(
        team, step, gradient + begin, master + begin,
        {moments.first + begin, moments.first_scale + group, moments.second + begin, moments.second_scale + group},
        weight == nullptr ? nullptr : weight + begin, size, firsts, roots);
  }
}

struct CachePlace {
  std::int64_t length;
  std::int64_t capacity;
  std::int64_t position;
  std::int64_t head_size;
};

template <class From, class To>
__global__ static void append_kernel(const From* x, To* cache, CachePlace at, std::int64_t count) {
  const std::int64_t threads = vendor::threads_per_block();
  for (std::int64_t i = vendor::block_index() * threads + vendor::thread_index(); i < count;
       i += vendor::blocks() * threads) {
    const std::int64_t row = i / at.head_size;
    const std::int64_t to = row / at.length * at.capacity + at.position + row % at.length;
    cache[to * at.head_size + i % at.head_size] = from_float<To>(to_float(x[i]));
  }
}

std::int64_t pieces_of(std::int64_t count) { return ceiling(count, bodies::square_block); }

OwnMemoryPointer floats(std::int64_t count) { return own_memory(count * static_cast<std::int64_t>(sizeof(float))); }

}  // namespace

Prepared prepare(const SumSquares& op, const Pointers& operands, const BodySetup& setup) {
  const unsigned threads = setup.threads_or(usual_threads);
  const std::int64_t pieces = pieces_of(op.count);
  const OwnMemoryPointer partial = floats(pieces);
  float* const total = as<float>(operands.at(1));
  Prepared prepared;
  prepared.launches = 2;
  prepared.workspace = partial->bytes();
  with_storage(op.format.element, [&](auto storage) {
    using Storage = decltype(storage);
    const Storage* const x = as<Storage>(operands.at(0));
    prepared.enqueue = [=](vendor::Stream stream) {
      vendor::launch(squares_kernel<Storage>, grid_over(pieces), threads, BlockTeam::shared_bytes, stream, x, op.count,
                     pieces, partial->as<float>());
      vendor::launch(add_squares_kernel, 1U, threads, BlockTeam::shared_bytes, stream, partial->as<float>(), pieces,
                     total, op.accumulate);
    };
  });
  return prepared;
}

Prepared prepare(const AdamControl& op, const Pointers& operands, const BodySetup&) {
  const bodies::ControlSettings settings{static_cast<float>(op.rate), static_cast<float>(op.clip),
                                         static_cast<float>(op.warmup), static_cast<float>(op.interval)};
  const float* const total = as<float>(operands.at(0));
  float* const scalars = as<float>(operands.at(1));
  Prepared prepared;
  prepared.enqueue = [=](vendor::Stream stream) {
    vendor::launch(control_kernel, 1U, vendor::widest_warp(), 0, stream, settings, total, scalars);
  };
  return prepared;
}

Prepared prepare(const TensorScale& op, const Pointers& operands, const BodySetup& setup) {
  const unsigned threads = setup.threads_or(usual_threads);
  const std::int64_t pieces = pieces_of(op.count);
  const OwnMemoryPointer partial = floats(pieces);
  const float top = static_cast<float>(largest(op.to.element));
  float* const scale = as<float>(operands.at(1));
  Prepared prepared;
  prepared.launches = 2;
  prepared.workspace = partial->bytes();
  with_storage(op.from.element, [&](auto storage) {
    using Storage = decltype(storage);
    const Storage* const x = as<Storage>(operands.at(0));
    prepared.enqueue = [=](vendor::Stream stream) {
      vendor::launch(largest_kernel<Storage>, grid_over(pieces), threads, BlockTeam::shared_bytes, stream, x, op.count,
                     pieces, partial->as<float>());
      vendor::launch(scale_kernel, 1U, threads, BlockTeam::shared_bytes, stream, partial->as<float>(), pieces, top,
                     scale);
    };
  });
  return prepared;
}

Prepared prepare(const AdamW8& op, const Pointers& operands, const BodySetup& setup) {
  const unsigned threads = setup.threads_or(128);
  const std::int64_t groups = ceiling(op.count, bodies::moment_group);
  const bodies::NarrowMoments moments{as<bodies::Fp8E4m3>(operands.at(3)), as<float>(operands.at(4)),
                                      as<bodies::Fp8E4m3>(operands.at(5)), as<float>(operands.at(6))};
  const float* const scalars = as<float>(operands.at(0));
  float* const master = as<float>(operands.at(2));
  constexpr std::size_t shared = BlockTeam::shared_bytes + 2 * bodies::moment_group * sizeof(float);
  Prepared prepared;
  with_storage(op.gradient.element, [&](auto gradient_storage) {
    using Gradient = decltype(gradient_storage);
    const Gradient* const gradient = as<Gradient>(operands.at(1));
    with_storage(op.weight.element, [&](auto weight_storage) {
      using Weight = decltype(weight_storage);
      Weight* separate = nullptr;
      if constexpr (!std::is_same_v<Weight, float>) separate = as<Weight>(operands.at(7));
      prepared.enqueue = [=](vendor::Stream stream) {
        vendor::launch(adamw8_kernel<Gradient, Weight>, grid_over(groups), threads, shared, stream, scalars, gradient,
                       master, moments, separate, op.count);
      };
    });
  });
  return prepared;
}

Prepared prepare(const CacheAppend& op, const Pointers& operands, const BodySetup& setup) {
  const unsigned threads = setup.threads_or(usual_threads);
  const CachePlace at{op.length, op.capacity, op.position, op.head_size};
  const std::int64_t count = op.batch * op.heads * op.length * op.head_size;
  const unsigned blocks = grid_over(ceiling(count, threads));
  Prepared prepared;
  with_storage(op.from.element, [&](auto storage) {
    using From = decltype(storage);
    const From* const x = as<From>(operands.at(0));
    std::byte* const cache = operands.at(1);
    if (op.to == op.from) {
      prepared.enqueue = [=](vendor::Stream stream) {
        vendor::launch(append_kernel<From, From>, blocks, threads, 0, stream, x, as<From>(cache), at, count);
      };
    } else {
      prepared.enqueue = [=](vendor::Stream stream) {
        vendor::launch(append_kernel<From, bodies::Fp8E4m3>, blocks, threads, 0, stream, x, as<bodies::Fp8E4m3>(cache),
                       at, count);
      };
    }
  });
  return prepared;
}

}  // namespace assay::gpu
