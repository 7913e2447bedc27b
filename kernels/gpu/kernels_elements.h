// Element ops: each element of the result from the same element of the operands, in wide chunks over the whole device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/gpu/kernels_common.h"

namespace assay::gpu {

// An operation has Loaded<width>, load<width>(at), which reads what `width` elements from `at` need, and
// store<width>(at, loaded), which does the rest. What does not fill a chunk is done one by one. `repeatable` says that
// doing a chunk again changes nothing: then a last tile that is not full does its last chunk as often as it takes, by
// the same code as the others.
template <int width, int unroll, class Operation>
__global__ static void element_kernel(Operation operation, std::int64_t count) {
  const std::int64_t chunks = count / width;
  const auto load = [=](std::int64_t c) { return operation.template load<width>(c * width); };
  const auto use = [=](std::int64_t c, const typename Operation::template Loaded<width>& loaded) {
    operation.template store<width>(c * width, loaded);
  };
  if constexpr (Operation::repeatable) {
    over_chunks_repeating<unroll>(chunks, load, use);
  } else {
    over_chunks<unroll>(chunks, load, use);
  }
  if constexpr (width > 1) {
    if (vendor::block_index() + 1 == vendor::blocks()) {
      const std::int64_t step = vendor::threads_per_block();
      for (std::int64_t i = chunks * width + vendor::thread_index(); i < count; i += step) {
        operation.template store<1>(i, operation.template load<1>(i));
      }
    }
  }
}

// Every block takes one tile and ends: blocks that come and go spread over memory better than few that stay.
template <int width, int unroll, class Operation>
Prepared prepare_elements(const Operation& operation, std::int64_t count, const BodySetup& setup) {
  const unsigned threads = setup.threads_or(256);
  const unsigned blocks = grid_over(ceiling(count / width, std::int64_t{threads} * unroll));
  Prepared prepared;
  prepared.enqueue = [=](vendor::Stream stream) {
    vendor::launch(element_kernel<width, unroll, Operation>, blocks, threads, 0, stream, operation, count);
  };
  return prepared;
}

// y = f()
template <class Function, class Out>
struct Map0 {
  static constexpr bool repeatable = true;
  Function f;
  Out* y;
  bool streaming;
  template <int width>
  struct Loaded {};
  template <int width>
  __device__ Loaded<width> load(std::int64_t) const {
    return {};
  }
  template <int width>
  __device__ void store(std::int64_t at, const Loaded<width>&) const {
    Pack<Out, width> result;
    for (int i = 0; i < width; ++i) result.at[i] = f();
    gpu::store(y + at, result, streaming);
  }
};

// y[i] = f(x[i])
template <class Function, class Out, class In>
struct Map1 {
  static constexpr bool repeatable = true;
  Function f;
  Out* y;
  const In* x;
  bool streaming;
  template <int width>
  using Loaded = Pack<In, width>;
  template <int width>
  __device__ Loaded<width> load(std::int64_t at) const {
    return gpu::load<width>(x + at);
  }
  template <int width>
  __device__ void store(std::int64_t at, const Loaded<width>& loaded) const {
    Pack<Out, width> result;
    for (int i = 0; i < width; ++i) result.at[i] = f(loaded.at[i]);
    gpu::store(y + at, result, streaming);
  }
};

// z[i] = f(x[i], y[i])
template <class Function, class Storage>
struct Map2 {
  static constexpr bool repeatable = true;
  Function f;
  Storage* z;
  const Storage* x;
  const Storage* y;
  bool streaming;
  template <int width>
  struct Loaded {
    Pack<Storage, width> x;
    Pack<Storage, width> y;
  };
  template <int width>
  __device__ Loaded<width> load(std::int64_t at) const {
    return {gpu::load<width>(x + at), gpu::load<width>(y + at)};
  }
  template <int width>
  __device__ void store(std::int64_t at, const Loaded<width>& loaded) const {
    Pack<Storage, width> result;
    for (int i = 0; i < width; ++i) result.at[i] = f(loaded.x.at[i], loaded.y.at[i]);
    gpu::store(z + at, result, streaming);
  }
};

}  // namespace assay::gpu
