// Element ops of a model: activations and their gradients, residuals, and the optimizer's step.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/element.h"
#include "kernels/gpu/kernels_elements.h"

namespace assay::gpu {
namespace {

using bodies::from_float;
using bodies::to_float;

struct GeluOne {
  template <class Storage>
  __device__ Storage operator()(Storage x) const {
    return from_float<Storage>(bodies::gelu(to_float(x)));
  }
};
struct GeluBackwardOne {
  template <class Storage>
  __device__ Storage operator()(Storage dy, Storage x) const {
    return from_float<Storage>(bodies::gelu_backward(to_float(dy), to_float(x)));
  }
};
template <class Storage>
struct ZeroOne {
  __device__ Storage operator()() const { return from_float<Storage>(0.0f); }
};
struct AddOne {
  template <class Storage>
  __device__ Storage operator()(Storage x, Storage y) const {
    return from_float<Storage>(to_float(x) + to_float(y));
  }
};

// Gated activations: a row of the one operand holds its gates, then its ups. A block takes pieces of rows, so that
// nothing is divided for each element.
constexpr int gated_unroll = 2;

struct Gates {
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t pieces;  // of a row
};

// f(at, gate_at) for this thread's chunks: places in [rows, columns], and of the gate in [rows, 2 columns].
template <int width, class Function>
__device__ void over_gates(const Gates& gates, Function f) {
  const std::int64_t threads = vendor::threads_per_block();
  const std::int64_t chunks = gates.columns / width;
  for (std::int64_t tile = vendor::block_index(); tile < gates.rows * gates.pieces; tile += vendor::blocks()) {
    const std::int64_t row = tile / gates.pieces;
    const std::int64_t first = (tile - row * gates.pieces) * threads * gated_unroll + vendor::thread_index();
    for (int u = 0; u < gated_unroll; ++u) {
      const std::int64_t chunk = first + u * threads;
      if (chunk < chunks) f(row * gates.columns + chunk * width, row * 2 * gates.columns + chunk * width);
    }
  }
}

template <int width, class Storage>
__global__ static void swiglu_kernel(const Storage* gate_up, Storage* y, Gates gates) {
  over_gates<width>(gates, [=](std::int64_t at, std::int64_t gate_at) {
    const auto gate = load<width>(gate_up + gate_at);
    const auto up = load<width>(gate_up + gate_at + gates.columns);
    Pack<Storage, width> result;
    for (int i = 0; i < width; ++i) {
      result.at[i] = from_float<Storage>(bodies::swiglu(to_float(gate.at[i]), to_float(up.at[i])));
    }
    store(y + at, result);
  });
}

template <int width, class Storage>
__global__ static void swiglu_backward_kernel(const Storage* dy, const Storage* gate_up, Storage* dgate_up,
                                              Gates gates) {
  over_gates<width>(gates, [=](std::int64_t at, std::int64_t gate_at) {
    const auto slope = load<width>(dy + at);
    const auto gate = load<width>(gate_up + gate_at);
    const auto up = load<width>(gate_up + gate_at + gates.columns);
    Pack<Storage, width> dgate;
    Pack<Storage, width> dup;
    for (int i = 0; i < width; ++i) {
      const bodies::SwigluGradient gradient =
          bodies::swiglu_backward(to_float(slope.at[i]), to_float(gate.at[i]), to_float(up.at[i]));
      dgate.at[i] = from_float<Storage>(gradient.gate);
      dup.at[i] = from_float<Storage>(gradient.up);
    }
    store(dgate_up + gate_at, dgate);
    store(dgate_up + gate_at + gates.columns, dup);
  });
}

template <int width, class Storage>
Prepared prepare_gated(const Pointwise& op, const Pointers& operands, const BodySetup& setup) {
  const std::int64_t chunks = ceiling(op.columns, width);
  unsigned usual = 256;
  while (usual > vendor::widest_warp() && usual / 2 * gated_unroll >= chunks) usual /= 2;
  const unsigned threads = setup.threads_or(usual);
  const Gates gates{op.rows, op.columns, ceiling(chunks, std::int64_t{threads} * gated_unroll)};
  const unsigned blocks = grid_over(gates.rows * gates.pieces);
  auto* const a = as<Storage>(operands.at(0));
  auto* const b = as<Storage>(operands.at(1));
  auto* const c = as<Storage>(operands.back());
  Prepared prepared;
  if (op.kind == PointwiseKind::swiglu) {
    prepared.enqueue = [=](vendor::Stream stream) {
      vendor::launch(swiglu_kernel<width, Storage>, blocks, threads, 0, stream, a, b, gates);
    };
  } else {
    prepared.enqueue = [=](vendor::Stream stream) {
      vendor::launch(swiglu_backward_kernel<width, Storage>, blocks, threads, 0, stream, a, b, c, gates);
    };
  }
  return prepared;
}

template <class Storage>
Prepared prepare_pointwise(const Pointwise& op, const Pointers& operands, const BodySetup& setup) {
  constexpr int width = wide<Storage>;
  const std::int64_t count = op.rows * op.columns;
  if (op.kind == PointwiseKind::zero) {
    return prepare_elements<width, 4>(Map0<ZeroOne<Storage>, Storage>{{}, as<Storage>(operands.at(0)), false}, count,
                                      setup);
  }
  auto* const a = as<Storage>(operands.at(0));
  auto* const b = as<Storage>(operands.at(1));
  auto* const c = as<Storage>(operands.back());
  switch (op.kind) {
    case PointwiseKind::gelu:
      return prepare_elements<width, 2>(Map1<GeluOne, Storage, Storage>{{}, b, a, false}, count, setup);
    case PointwiseKind::gelu_backward:
      return prepare_elements<width, 2>(Map2<GeluBackwardOne, Storage>{{}, c, a, b, false}, count, setup);
    case PointwiseKind::add:
      return prepare_elements<width, 4>(Map2<AddOne, Storage>{{}, c, a, b, false}, count, setup);
    case PointwiseKind::zero:  // done above: it has one operand
      break;
    case PointwiseKind::swiglu:
    case PointwiseKind::swiglu_backward:
      // Rows of such a length begin at every multiple of a chunk; those of others anywhere.
      if (op.columns % width == 0) return prepare_gated<width, Storage>(op, operands, setup);
      return prepare_gated<1, Storage>(op, operands, setup);
  }
  throw Error("no such element op: " + text(Op{op}));
}

// One step of the optimizer, four elements at a time: 16 bytes of each fp32 operand.
template <class Gradient, class Weight>
struct AdamOperation {
  static constexpr bool repeatable = false;
  const float* scalars;
  const Gradient* gradient;
  float* master;
  float* first;
  float* second;
  Weight* weight;  // null where the master is the weight

  template <int width>
  struct Loaded {
    Pack<Gradient, width> gradient;
    Pack<float, width> master;
    Pack<float, width> first;
    Pack<float, width> second;
  };

  template <int width>
  __device__ Loaded<width> load(std::int64_t at) const {
    return {gpu::load<width>(gradient + at), gpu::load<width>(master + at), gpu::load<width>(first + at),
            gpu::load<width>(second + at)};
  }

  template <int width>
  __device__ void store(std::int64_t at, const Loaded<width>& loaded) const {
    Pack<float, width> new_master = loaded.master;
    if (!bodies::adam_skips(scalars)) {
      const bodies::AdamStep step = bodies::adam_step(scalars);
      Pack<float, width> new_first;
      Pack<float, width> new_second;
      for (int i = 0; i < width; ++i) {
        const bodies::AdamState after = bodies::adam_update(
            step, to_float(loaded.gradient.at[i]), {loaded.master.at[i], loaded.first.at[i], loaded.second.at[i]});
        new_master.at[i] = after.master;
        new_first.at[i] = after.first;
        new_second.at[i] = after.second;
      }
      gpu::store(master + at, new_master);
      gpu::store(first + at, new_first);
      gpu::store(second + at, new_second);
    }
    if constexpr (!std::is_same_v<Weight, float>) {
      Pack<Weight, width> rounded;
      for (int i = 0; i < width; ++i) rounded.at[i] = from_float<Weight>(new_master.at[i]);
      gpu::store(weight + at, rounded);
    }
  }
};

}  // namespace

Prepared prepare(const Pointwise& op, const Pointers& operands, const BodySetup& setup) {
  return with_storage(op.format.element,
                      [&](auto storage) { return prepare_pointwise<decltype(storage)>(op, operands, setup); });
}

Prepared prepare(const AdamW& op, const Pointers& operands, const BodySetup& setup) {
  return with_storage(op.gradient.element, [&](auto gradient) {
    return with_storage(op.weight.element, [&](auto weight) {
      using Gradient = decltype(gradient);
      using Weight = decltype(weight);
      Weight* separate = nullptr;
      if constexpr (!std::is_same_v<Weight, float>) separate = as<Weight>(operands.at(5));
      return prepare_elements<4, 2>(
          AdamOperation<Gradient, Weight>{as<float>(operands.at(0)), as<Gradient>(operands.at(1)),
                                          as<float>(operands.at(2)), as<float>(operands.at(3)),
                                          as<float>(operands.at(4)), separate},
          op.count, setup);
    });
  });
}

}  // namespace assay::gpu
