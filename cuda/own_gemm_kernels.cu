// Own matrix products on the matrix units, and by plain multiply-adds.
// SPDX-License-Identifier: Apache-2.0
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "own_gemm_kernels.h"

namespace vendor::own_forms {

using assay::Activation;
using assay::Element;

#if defined(__CUDA_ARCH__)
constexpr int compiled_for = __CUDA_ARCH__ / 10;
#else
constexpr int compiled_for = 0;
#endif

__device__ std::uint32_t shared_address(const void* memory) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(memory));
}

// 16 bytes to shared memory, of which `inside` come from `from` and the others are 0. Ampere and later copy on their
// own.
__device__ void copy_piece(std::byte* to, const std::byte* from, int inside) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               :
               : "r"(shared_address(to)), "l"(from), "r"(inside)
               : "memory");
#else
  uint4 piece = {};
  if (inside == piece_bytes) {
    piece = *reinterpret_cast<const uint4*>(from);
  } else {
    for (int i = 0; i < inside; ++i) reinterpret_cast<std::byte*>(&piece)[i] = from[i];
  }
  *reinterpret_cast<uint4*>(to) = piece;
#endif
}

__device__ void commit_copies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" : : : "memory");
#endif
}

// All copies but those of the youngest group are there.
__device__ void wait_for_older_copies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group 1;" : : : "memory");
#endif
}

// Loads one tile of an operand: rows from `first_row`, K from `first_k`; beyond the matrix are zeros.
template <class Stored>
__device__ void load_tile(std::byte* to, const OwnOperand& operand, std::int64_t batch, std::int64_t first_row,
                          std::int64_t rows, std::int64_t first_k, std::int64_t k) {
  constexpr int count = piece_bytes / static_cast<int>(sizeof(Stored));
  const auto* from = static_cast<const Stored*>(operand.memory) + batch * operand.batch_stride;
  const bool along = operand.order == TileOrder::along_k;
  const bool gathered = along && operand.k_stride != 1;
#pragma unroll
  for (int i = 0; i < pieces_a_thread; ++i) {
    const int index = static_cast<int>(threadIdx.x) + i * own_threads;
    const Piece piece = gathered ? gathered_piece_of(index) : piece_of(operand.order, index);
    const std::int64_t row = along ? first_row + piece.row : first_row + piece.piece * count;
    const std::int64_t at = along ? first_k + piece.piece * count : first_k + piece.row;
    const int inside =
        along ? (row < rows ? elements_inside(at, count, k) : 0) : (at < k ? elements_inside(row, count, rows) : 0);
    std::byte* place = to + shared_offset(operand.order, piece);
    if (operand.whole) {
      const Stored* source = inside > 0 ? from + row * operand.row_stride + at * operand.k_stride : from;
      copy_piece(place, reinterpret_cast<const std::byte*>(source), inside * static_cast<int>(sizeof(Stored)));
    } else {
      const std::int64_t step = along ? operand.k_stride : operand.row_stride;
      alignas(16) Stored values[count] = {};
#pragma unroll
      for (int j = 0; j < count; ++j) {
        if (j < inside) values[j] = from[row * operand.row_stride + at * operand.k_stride + j * step];
      }
      *reinterpret_cast<uint4*>(place) = *reinterpret_cast<const uint4*>(values);
    }
  }
}

__device__ void load_matrices(std::uint32_t (&words)[4], const std::byte* from, bool transposed) {
  if (transposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "r"(shared_address(from))
                 : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "r"(shared_address(from))
                 : "memory");
  }
}

// 32 bytes of K at once.
struct Bf16 {
  using Stored = std::uint16_t;
  using Sum = float;
  static constexpr int since = 80;
  static constexpr char ptx[] = "m16n8k16.row.col.f32.bf16.bf16.f32";
  __device__ static void prepare(std::uint32_t (&)[4]) {}
};
struct Fp16 {
  using Stored = std::uint16_t;
  using Sum = float;
  static constexpr int since = 75;
  static constexpr char ptx[] = "m16n8k16.row.col.f32.f16.f16.f32";
  __device__ static void prepare(std::uint32_t (&)[4]) {}
};
struct Tf32 {
  using Stored = std::uint32_t;
  using Sum = float;
  static constexpr int since = 80;
  static constexpr char ptx[] = "m16n8k8.row.col.f32.tf32.tf32.f32";
  // The unit cuts what it does not take; this rounds it.
  __device__ static void prepare(std::uint32_t (&words)[4]) {
    for (std::uint32_t& word : words) {
      asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(word) : "f"(__uint_as_float(word)));
    }
  }
};
struct Int8 {
  using Stored = std::uint8_t;
  using Sum = std::int32_t;
  static constexpr int since = 80;
  static constexpr char ptx[] = "m16n8k32.row.col.s32.s8.s8.s32";
  __device__ static void prepare(std::uint32_t (&)[4]) {}
};

template <class Kind>
__device__ void multiply(float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  // Turing takes half of K at a time: the first two words of A and the first of B, then the others.
  for (int half = 0; half < 2; ++half) {
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[half * 2]), "r"(a[half * 2 + 1]), "r"(b[half]));
  }
#else
  asm volatile("mma.sync.aligned.%10 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "C"(Kind::ptx));
#endif
}

template <class Kind>
__device__ void multiply(std::int32_t (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
  asm volatile("mma.sync.aligned.%10 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "C"(Kind::ptx));
}

template <class Number>
__device__ Number activated(Activation activation, Number x) {
  if (activation == Activation::relu) return x > Number(0) ? x : Number(0);
  if (activation == Activation::gelu) {  // 0.7978845608 is sqrt(2 / pi)
    return Number(0.5) * x * (Number(1) + tanh(Number(0.7978845608028654) * (x + Number(0.044715) * x * x * x)));
  }
  return x;
}

__device__ double stored(const void* memory, Element element, std::int64_t index) {
  if (element == Element::fp64) return static_cast<const double*>(memory)[index];
  if (element == Element::bf16) return __bfloat162float(static_cast<const __nv_bfloat16*>(memory)[index]);
  if (element == Element::fp16) return __half2float(static_cast<const __half*>(memory)[index]);
  return static_cast<const float*>(memory)[index];
}

template <class Number>
__device__ void store(void* memory, Element element, std::int64_t index, Number value) {
  if (element == Element::fp64) {
    static_cast<double*>(memory)[index] = static_cast<double>(value);
  } else if (element == Element::bf16) {
    static_cast<__nv_bfloat16*>(memory)[index] = __float2bfloat16(static_cast<float>(value));
  } else if (element == Element::fp16) {
    static_cast<__half*>(memory)[index] = __float2half(static_cast<float>(value));
  } else {
    static_cast<float*>(memory)[index] = static_cast<float>(value);
  }
}

// One element of D, where it is inside. Not inlined, since a thread calls it 64 times, and only once a tile.
template <class Number>
__device__ __noinline__ void finish(const OwnProduct& p, std::int64_t batch, std::int64_t row, std::int64_t column,
                                    Number sum) {
  if (row >= p.m || column >= p.n) return;
  const std::int64_t index = (batch * p.m + row) * p.n + column;
  Number value = static_cast<Number>(p.alpha) * sum;
  if (p.beta != 0) value += static_cast<Number>(stored(p.d, p.d_element, index));
  if (p.bias != nullptr) value += static_cast<Number>(stored(p.bias, p.d_element, column));
  store(p.d, p.d_element, index, activated(p.activation, value));
}

// Integers have no alpha, bias or activation.
__device__ __noinline__ void finish(const OwnProduct& p, std::int64_t batch, std::int64_t row, std::int64_t column,
                                    std::int32_t sum) {
  if (row >= p.m || column >= p.n) return;
  auto* d = static_cast<std::int32_t*>(p.d) + (batch * p.m + row) * p.n + column;
  *d = p.beta != 0 ? *d + sum : sum;
}

// One tile of K: fragments from shared memory, then all products of them.
template <class Kind, class Sum>
__device__ void multiply_tile(Sum (&sums)[fragments_m][fragments_n][4], const std::byte* a, const std::byte* b,
                              TileOrder a_order, TileOrder b_order, Place warp) {
  const int lane = static_cast<int>(threadIdx.x % 32);
#pragma unroll
  for (int step = 0; step < steps_a_tile; ++step) {
    std::uint32_t a_words[fragments_m][4];
    std::uint32_t b_words[fragments_n / 2][4];
#pragma unroll
    for (int i = 0; i < fragments_m; ++i) {
      const Piece piece = a_piece(a_order, warp.row + i * 16, step, lane);
      load_matrices(a_words[i], a + shared_offset(a_order, piece), a_order == TileOrder::across_k);
      Kind::prepare(a_words[i]);
    }
#pragma unroll
    for (int j = 0; j < fragments_n / 2; ++j) {
      const Piece piece = b_piece(b_order, warp.column + j * 16, step, lane);
      load_matrices(b_words[j], b + shared_offset(b_order, piece), b_order == TileOrder::across_k);
      Kind::prepare(b_words[j]);
    }
#pragma unroll
    for (int i = 0; i < fragments_m; ++i) {
#pragma unroll
      for (int j = 0; j < fragments_n; ++j) {
        const std::uint32_t b_pair[2] = {b_words[j / 2][j % 2 * 2], b_words[j / 2][j % 2 * 2 + 1]};
        multiply<Kind>(sums[i][j], a_words[i], b_pair);
      }
    }
  }
}

template <class Kind>
__device__ void matrix_product(const OwnProduct& p) {
  using Stored = typename Kind::Stored;
  __shared__ alignas(128) std::byte shared[tile_stages][2][operand_bytes];
  constexpr int tile_k = tile_k_bytes / static_cast<int>(sizeof(Stored));
  const TilePlace tile = tile_place(blockIdx.x, p.tile_rows, p.tile_columns);
  const Place warp = warp_place(static_cast<int>(threadIdx.x / 32));
  const std::int64_t first_row = tile.row * tile_m;
  const std::int64_t first_column = tile.column * tile_n;
  const std::int64_t tiles = (p.k + tile_k - 1) / tile_k;
  const auto load = [&](std::int64_t number) {
    if (number < tiles) {
      auto& stage = shared[number % tile_stages];
      load_tile<Stored>(stage[0], p.a, tile.batch, first_row, p.m, number * tile_k, p.k);
      load_tile<Stored>(stage[1], p.b, tile.batch, first_column, p.n, number * tile_k, p.k);
    }
    commit_copies();  // an empty group too, so that waiting for all but the youngest stays right at the end
  };
  typename Kind::Sum sums[fragments_m][fragments_n][4] = {};
  for (int number = 0; number < tile_stages - 1; ++number) load(number);
#pragma unroll 1
  for (std::int64_t number = 0; number < tiles; ++number) {
    wait_for_older_copies();
    __syncthreads();  // this tile is there for all, and the tile before has been used by all
    load(number + tile_stages - 1);
    const auto& stage = shared[number % tile_stages];
    multiply_tile<Kind>(sums, stage[0], stage[1], p.a.order, p.b.order, warp);
  }
  const int lane = static_cast<int>(threadIdx.x % 32);
#pragma unroll
  for (int i = 0; i < fragments_m; ++i) {
#pragma unroll
    for (int j = 0; j < fragments_n; ++j) {
#pragma unroll
      for (int index = 0; index < 4; ++index) {
        const Place place = accumulator_place(lane, index);
        finish(p, tile.batch, first_row + warp.row + i * 16 + place.row,
               first_column + warp.column + j * 8 + place.column, sums[i][j][index]);
      }
    }
  }
}

template <class Kind>
__global__ void __launch_bounds__(own_threads, 2) own_matrix_product(const __grid_constant__ OwnProduct p) {
  if constexpr (compiled_for >= Kind::since) matrix_product<Kind>(p);
}

// Plain multiply-adds: 64 x 64 elements of D a block, 4 x 4 a thread, 16 of K at a time.
constexpr int plain_tile = 64;
constexpr int plain_k = 16;

template <class Number>
__device__ void load_plain(Number (&to)[plain_k][plain_tile + 1], const OwnOperand& operand, std::int64_t batch,
                           std::int64_t first_row, std::int64_t rows, std::int64_t first_k, std::int64_t k) {
  const auto* from = static_cast<const Number*>(operand.memory) + batch * operand.batch_stride;
#pragma unroll
  for (int i = 0; i < plain_tile * plain_k / own_threads; ++i) {
    const int index = static_cast<int>(threadIdx.x) + i * own_threads;
    const bool k_first = operand.k_stride == 1;  // neighbouring threads read what lies next to each other
    const int row = k_first ? index / plain_k : index % plain_tile;
    const int at = k_first ? index % plain_k : index / plain_tile;
    const bool inside = first_row + row < rows && first_k + at < k;
    to[at][row] = inside ? from[(first_row + row) * operand.row_stride + (first_k + at) * operand.k_stride] : Number(0);
  }
}

template <class Number>
__global__ void __launch_bounds__(own_threads, 2) own_plain_product(const __grid_constant__ OwnProduct p) {
  __shared__ Number a[plain_k][plain_tile + 1];
  __shared__ Number b[plain_k][plain_tile + 1];
  const TilePlace tile = tile_place(blockIdx.x, p.tile_rows, p.tile_columns);
  const std::int64_t first_row = tile.row * plain_tile;
  const std::int64_t first_column = tile.column * plain_tile;
  const int row = static_cast<int>(threadIdx.x / 16);
  const int column = static_cast<int>(threadIdx.x % 16);
  Number sums[4][4] = {};
#pragma unroll 1
  for (std::int64_t first_k = 0; first_k < p.k; first_k += plain_k) {
    load_plain(a, p.a, tile.batch, first_row, p.m, first_k, p.k);
    load_plain(b, p.b, tile.batch, first_column, p.n, first_k, p.k);
    __syncthreads();
#pragma unroll
    for (int at = 0; at < plain_k; ++at) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) sums[i][j] = fma(a[at][row + i * 16], b[at][column + j * 16], sums[i][j]);
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      finish(p, tile.batch, first_row + row + i * 16, first_column + column + j * 16, sums[i][j]);
    }
  }
}

}  // namespace vendor::own_forms

namespace vendor {

int own_tile(OwnKind kind) { return kind == OwnKind::fp32 || kind == OwnKind::fp64 ? own_forms::plain_tile : tile_m; }

void launch_own_product(OwnKind kind, const OwnProduct& product, unsigned blocks, Stream stream) {
  const auto start = [&](void (*kernel)(const OwnProduct)) { launch(kernel, blocks, own_threads, 0, stream, product); };
  switch (kind) {
    case OwnKind::fp16:
      return start(own_forms::own_matrix_product<own_forms::Fp16>);
    case OwnKind::bf16:
      return start(own_forms::own_matrix_product<own_forms::Bf16>);
    case OwnKind::tf32:
      return start(own_forms::own_matrix_product<own_forms::Tf32>);
    case OwnKind::int8:
      return start(own_forms::own_matrix_product<own_forms::Int8>);
    case OwnKind::fp32:
      return start(own_forms::own_plain_product<float>);
    case OwnKind::fp64:
      return start(own_forms::own_plain_product<double>);
  }
}

}  // namespace vendor
