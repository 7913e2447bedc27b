// Issue rate of tcgen05.mma, which only sm_100a and sm_103a have.
// SPDX-License-Identifier: Apache-2.0
#include "matrix_issue_data.h"
#include "matrix_issue_keep.h"
#include "matrix_issue_kernels.h"
#include "tcgen05_descriptor.h"

namespace vendor::tcgen05_forms {

using assay::Element;
using assay::Issue;
using assay::Scaling;

constexpr unsigned threads = 128;  // one warp for each quarter of the tensor memory; one thread of them issues
constexpr std::uint32_t m = 128;
constexpr std::uint32_t n = 256;
// More than half of what a multiprocessor has, so that no second block waits there for tensor memory.
constexpr std::size_t shared_bytes = 120 * 1024;

// Form::k_bytes is what one product takes of the 128 bytes of K that lie in shared memory, Form::slices how often it
// can.
struct Slices32 {
  static constexpr unsigned k_bytes = 32;
  static constexpr int slices = 4;
};

struct Plain : Slices32 {
  static constexpr bool scaled = false;
  static constexpr std::uint32_t ones = 0;
};

constexpr std::uint32_t plain_instruction(Tcgen05Sum sum, Tcgen05Element element, bool negative) {
  return tcgen05_instruction({sum, element, m, n, negative});
}

constexpr std::uint32_t scaled_instruction(Tcgen05Element element, Tcgen05Scale scale, bool negative, bool k_is_96) {
  return tcgen05_scaled_instruction({element, scale, m, n, negative, k_is_96});
}

struct Bf16 : Plain {
  static constexpr Element element = Element::bf16;
  static constexpr int k = 16;
  static constexpr char kind[] = "kind::f16";
  static constexpr std::uint32_t plus = plain_instruction(Tcgen05Sum::fp32, Tcgen05Element::bf16, false);
  static constexpr std::uint32_t minus = plain_instruction(Tcgen05Sum::fp32, Tcgen05Element::bf16, true);
};
struct Fp16 : Plain {
  static constexpr Element element = Element::fp16;
  static constexpr int k = 16;
  static constexpr char kind[] = "kind::f16";
  static constexpr std::uint32_t plus = plain_instruction(Tcgen05Sum::fp32, Tcgen05Element::fp16, false);
  static constexpr std::uint32_t minus = plain_instruction(Tcgen05Sum::fp32, Tcgen05Element::fp16, true);
};
struct Fp16InFp16 : Plain {
  static constexpr Element element = Element::fp16;
  static constexpr int k = 16;
  static constexpr char kind[] = "kind::f16";
  static constexpr std::uint32_t plus = plain_instruction(Tcgen05Sum::fp16, Tcgen05Element::fp16, false);
  static constexpr std::uint32_t minus = plain_instruction(Tcgen05Sum::fp16, Tcgen05Element::fp16, true);
};
struct Tf32 : Plain {
  static constexpr Element element = Element::tf32;
  static constexpr int k = 8;
  static constexpr char kind[] = "kind::tf32";
  static constexpr std::uint32_t plus = plain_instruction(Tcgen05Sum::fp32, Tcgen05Element::tf32, false);
  static constexpr std::uint32_t minus = plain_instruction(Tcgen05Sum::fp32, Tcgen05Element::tf32, true);
};
struct E4m3 : Plain {
  static constexpr Element element = Element::fp8_e4m3;
  static constexpr int k = 32;
  static constexpr char kind[] = "kind::f8f6f4";
  static constexpr std::uint32_t plus = plain_instruction(Tcgen05Sum::fp32, Tcgen05Element::e4m3, false);
  static constexpr std::uint32_t minus = plain_instruction(Tcgen05Sum::fp32, Tcgen05Element::e4m3, true);
};
struct E5m2 : Plain {
  static constexpr Element element = Element::fp8_e5m2;
  static constexpr int k = 32;
  static constexpr char kind[] = "kind::f8f6f4";
  static constexpr std::uint32_t plus = plain_instruction(Tcgen05Sum::fp32, Tcgen05Element::e5m2, false);
  static constexpr std::uint32_t minus = plain_instruction(Tcgen05Sum::fp32, Tcgen05Element::e5m2, true);
};
// Integers cannot be negated: their sums run over, which wraps around. sm_103a has no such unit.
struct Int8 : Plain {
  static constexpr Element element = Element::int8;
  static constexpr int k = 32;
  static constexpr char kind[] = "kind::i8";
  static constexpr std::uint32_t plus = plain_instruction(Tcgen05Sum::int32, Tcgen05Element::int8, false);
  static constexpr std::uint32_t minus = plus;
};

struct MxE4m3 : Slices32 {
  static constexpr Element element = Element::fp8_e4m3;
  static constexpr int k = 32;
  static constexpr char kind[] = "kind::mxf8f6f4.block_scale.scale_vec::1X";
  static constexpr bool scaled = true;
  static constexpr std::uint32_t ones = 0x7F7F7F7F;  // 2^(127 - 127), four times
  static constexpr std::uint32_t plus = scaled_instruction(Tcgen05Element::e4m3, Tcgen05Scale::ue8m0, false, false);
  static constexpr std::uint32_t minus = scaled_instruction(Tcgen05Element::e4m3, Tcgen05Scale::ue8m0, true, false);
};
struct MxE2m1 : Slices32 {
  static constexpr Element element = Element::fp4_e2m1;
  static constexpr int k = 64;
  static constexpr char kind[] = "kind::mxf4.block_scale.scale_vec::2X";
  static constexpr bool scaled = true;
  static constexpr std::uint32_t ones = 0x7F7F7F7F;
  static constexpr auto packed = Tcgen05Element::packed_e2m1;
  static constexpr std::uint32_t plus = scaled_instruction(packed, Tcgen05Scale::ue8m0, false, false);
  static constexpr std::uint32_t minus = scaled_instruction(packed, Tcgen05Scale::ue8m0, true, false);
};
struct NvE2m1 : Slices32 {
  static constexpr Element element = Element::fp4_e2m1;
  static constexpr int k = 64;
  static constexpr char kind[] = "kind::mxf4nvf4.block_scale.scale_vec::4X";
  static constexpr bool scaled = true;
  static constexpr std::uint32_t ones = 0x38383838;  // exponent 7 of bias 7, four times
  static constexpr auto packed = Tcgen05Element::packed_e2m1;
  static constexpr std::uint32_t plus = scaled_instruction(packed, Tcgen05Scale::e4m3, false, false);
  static constexpr std::uint32_t minus = scaled_instruction(packed, Tcgen05Scale::e4m3, true, false);
};
// Half as deep again, on sm_103a alone: what its FP4 rate is sold by. Two products of 48 bytes fit into a swizzled row.
struct DeepNvE2m1 {
  static constexpr Element element = Element::fp4_e2m1;
  static constexpr int k = 96;
  static constexpr unsigned k_bytes = 48;
  static constexpr int slices = 2;
  static constexpr char kind[] = "kind::mxf4nvf4.block_scale.block16";
  static constexpr bool scaled = true;
  static constexpr std::uint32_t ones = 0x38383838;
  static constexpr auto packed = Tcgen05Element::packed_e2m1;
  static constexpr std::uint32_t plus = scaled_instruction(packed, Tcgen05Scale::e4m3, false, true);
  static constexpr std::uint32_t minus = scaled_instruction(packed, Tcgen05Scale::e4m3, true, true);
};

#if defined(__CUDA_ARCH_FEAT_SM100_ALL) || defined(__CUDA_ARCH_FEAT_SM103_ALL)

constexpr unsigned a_bytes = m * swizzled_row_bytes;  // B follows A
constexpr unsigned b_bytes = n * swizzled_row_bytes;
constexpr std::uint32_t columns = 512;  // all of the tensor memory: sums in the first 256, scales behind them
constexpr std::uint32_t scales_of_a = 256;
constexpr std::uint32_t scales_of_b = 384;

__device__ std::uint32_t shared_address(const void* memory) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(memory));
}

// Everything the issuing thread needs, in registers.
template <class Form>
struct Issuer {
  __device__ Issuer(std::uint32_t start, std::uint32_t tensor_memory) : sums(tensor_memory) {
    for (unsigned s = 0; s < Form::slices; ++s) {
      a[s] = tcgen05_shared_descriptor({start + s * Form::k_bytes});
      b[s] = tcgen05_shared_descriptor({start + a_bytes + s * Form::k_bytes});
      keep(a[s]);
      keep(b[s]);
    }
  }
  template <int slice, bool negative>
  __device__ void multiply() const {
    constexpr std::uint32_t instruction = negative ? Form::minus : Form::plus;
    if constexpr (Form::scaled) {
      asm volatile("tcgen05.mma.cta_group::1.%6 [%0], %1, %2, %3, [%4], [%5], go_on;"
                   :
                   : "r"(sums), "l"(a[slice]), "l"(b[slice]), "r"(instruction), "r"(sums + scales_of_a),
                     "r"(sums + scales_of_b), "C"(Form::kind)
                   : "memory");
    } else {
      asm volatile("tcgen05.mma.cta_group::1.%4 [%0], %1, %2, %3, go_on;"
                   :
                   : "r"(sums), "l"(a[slice]), "l"(b[slice]), "r"(instruction), "C"(Form::kind)
                   : "memory");
    }
  }
  std::uint32_t sums;
  std::uint64_t a[Form::slices];
  std::uint64_t b[Form::slices];
};

// By the first thread alone. After any number of turns the sums of floating-point forms are those of slice 0 alone:
// every slice is added and taken away again. Integers hold slice 0 and twice all slices a turn.
template <class Form>
__device__ void issue_all(const Issuer<Form>& issuer, int turns) {
  asm volatile(".reg .pred go_on; setp.ne.b32 go_on, 0, 0;");  // the first product does not add to anything
  issuer.template multiply<0, false>();
  asm volatile("setp.ne.b32 go_on, 1, 0;");
  constexpr int last = Form::slices - 1;
#pragma unroll 1
  for (int turn = 0; turn < turns; ++turn) {
    issuer.template multiply<0, true>();
    issuer.template multiply<1, false>();
    if constexpr (Form::slices == 4) {
      issuer.template multiply<2, true>();
      issuer.template multiply<last, false>();
    }
    issuer.template multiply<0, false>();
    issuer.template multiply<1, true>();
    if constexpr (Form::slices == 4) {
      issuer.template multiply<2, false>();
      issuer.template multiply<last, true>();
    }
  }
}

// All products that this thread issued arrive at the barrier when they are done; every thread waits for that. A wait
// that takes minutes ends the kernel by a trap: a fault that is told is better than a hang.
__device__ void commit(std::uint32_t barrier) {
  asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];"
               :
               : "r"(barrier)
               : "memory");
}

__device__ void wait_for(std::uint32_t barrier) {
  constexpr long long patience = 400'000'000'000;  // cycles
  const long long begin = clock64();
  std::uint32_t done = 0;
  while (done == 0) {
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.b32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(barrier)
                 : "memory");
    if (done == 0 && clock64() - begin > patience) __trap();
  }
}

// Each warp reaches the 32 lanes of its own quarter; lane numbers stand in the upper half of an address.
__device__ std::uint32_t own_lanes(std::uint32_t tensor_memory) {
  return tensor_memory + ((threadIdx.x / 32 * 32) << 16U);
}

template <class Form>
__device__ void fill_scales(std::uint32_t tensor_memory) {
#pragma unroll 1
  for (std::uint32_t column = scales_of_a; column < columns; ++column) {
    asm volatile("tcgen05.st.sync.aligned.32x32b.x1.b32 [%0], {%1};"
                 :
                 : "r"(own_lanes(tensor_memory) + column), "r"(Form::ones)
                 : "memory");
  }
  asm volatile("tcgen05.wait::st.sync.aligned;" : : : "memory");
}

__device__ void store_sums(std::uint32_t tensor_memory, std::uint32_t* out) {
  auto* row = out + (static_cast<std::size_t>(blockIdx.x) * m + threadIdx.x) * n;
#pragma unroll 1
  for (std::uint32_t column = 0; column < n; ++column) {
    std::uint32_t word = 0;
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1]; tcgen05.wait::ld.sync.aligned;"
                 : "=r"(word)
                 : "r"(own_lanes(tensor_memory) + column)
                 : "memory");
    row[column] = word;
  }
}

template <class Form>
__device__ void issue_body(int turns, std::uint32_t seed, std::uint32_t* out) {
  extern __shared__ std::uint32_t raw[];
  __shared__ alignas(8) std::uint64_t barrier_memory;
  __shared__ std::uint32_t allocated;
  const std::uint32_t start =
      (shared_address(raw) + swizzled_group_bytes - 1) / swizzled_group_bytes * swizzled_group_bytes;
  auto* words = raw + (start - shared_address(raw)) / 4;
#pragma unroll 1
  for (unsigned i = threadIdx.x; i < (a_bytes + b_bytes) / 4; i += threads) {
    words[i] = typical_word(Form::element, seed, i);
  }
  const std::uint32_t barrier = shared_address(&barrier_memory);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1; fence.mbarrier_init.release.cluster;"
                 :
                 : "r"(barrier)
                 : "memory");
  }
  if (threadIdx.x < 32) {
    asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;"
                 :
                 : "r"(shared_address(&allocated)), "r"(columns)
                 : "memory");
    asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
  }
  asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
  asm volatile("tcgen05.fence::before_thread_sync;" : : : "memory");
  __syncthreads();
  asm volatile("tcgen05.fence::after_thread_sync;" : : : "memory");
  const std::uint32_t tensor_memory = allocated;
  if constexpr (Form::scaled) {
    fill_scales<Form>(tensor_memory);
    asm volatile("tcgen05.fence::before_thread_sync;" : : : "memory");
    __syncthreads();
    asm volatile("tcgen05.fence::after_thread_sync;" : : : "memory");
  }
  if (threadIdx.x == 0) {
    issue_all(Issuer<Form>(start, tensor_memory), turns);
    commit(barrier);
  }
  __syncwarp();
  wait_for(barrier);
  asm volatile("tcgen05.fence::after_thread_sync;" : : : "memory");
  if (out != nullptr) store_sums(tensor_memory, out);
  asm volatile("tcgen05.fence::before_thread_sync;" : : : "memory");
  __syncthreads();
  if (threadIdx.x < 32) {
    asm volatile("tcgen05.fence::after_thread_sync;" : : : "memory");
    asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" : : "r"(tensor_memory), "r"(columns));
  }
}

#endif

template <class Form>
__global__ void __launch_bounds__(threads) issue_tcgen05(int turns, std::uint32_t seed, std::uint32_t* out) {
#if defined(__CUDA_ARCH_FEAT_SM100_ALL) || defined(__CUDA_ARCH_FEAT_SM103_ALL)
  issue_body<Form>(turns, seed, out);
#endif
}

// What one of the two architectures alone has.
template <class Form>
__global__ void __launch_bounds__(threads) issue_tcgen05_on_100(int turns, std::uint32_t seed, std::uint32_t* out) {
#if defined(__CUDA_ARCH_FEAT_SM100_ALL)
  issue_body<Form>(turns, seed, out);
#endif
}

template <class Form>
__global__ void __launch_bounds__(threads) issue_tcgen05_on_103(int turns, std::uint32_t seed, std::uint32_t* out) {
#if defined(__CUDA_ARCH_FEAT_SM103_ALL)
  issue_body<Form>(turns, seed, out);
#endif
}

template <class Form>
IssueKernel describe(const void* entry, Element accumulate) {
  IssueKernel kernel;
  kernel.entry = entry;
  kernel.instruction = std::string("tcgen05.mma ") + Form::kind + " m128n256k" + std::to_string(Form::k) + " " +
                       assay::text(Form::element);
  kernel.threads = threads;
  kernel.blocks_a_multiprocessor = 1;
  kernel.shared_bytes = shared_bytes;
  kernel.multiply_adds_a_turn = 2.0 * Form::slices * m * n * Form::k;
  kernel.words_out = std::size_t{m} * n;
  kernel.shape = {IssueFamily::tcgen05, Form::element, accumulate, m, n, Form::k,
                  Form::k_bytes,        Form::slices,  1,          0, 0, n};
  return kernel;
}

template <class Form>
void offer(std::vector<IssueKernel>& kernels, const Issue& issue, Scaling scaling, Element accumulate) {
  if (!asks_for(issue, Form::element, scaling, accumulate)) return;
  kernels.push_back(describe<Form>(reinterpret_cast<const void*>(&issue_tcgen05<Form>), accumulate));
}

}  // namespace vendor::tcgen05_forms

namespace vendor {

std::vector<IssueKernel> tcgen05_issue_kernels(const assay::Issue& issue, int architecture) {
  using namespace tcgen05_forms;
  std::vector<IssueKernel> kernels;
  if (architecture != 100 && architecture != 103) return kernels;
  offer<Bf16>(kernels, issue, Scaling::none, Element::fp32);
  offer<Fp16>(kernels, issue, Scaling::none, Element::fp32);
  offer<Fp16InFp16>(kernels, issue, Scaling::none, Element::fp16);
  offer<Tf32>(kernels, issue, Scaling::none, Element::fp32);
  offer<E4m3>(kernels, issue, Scaling::none, Element::fp32);
  offer<E5m2>(kernels, issue, Scaling::none, Element::fp32);
  offer<MxE4m3>(kernels, issue, Scaling::block32_ue8m0, Element::fp32);
  offer<MxE2m1>(kernels, issue, Scaling::block32_ue8m0, Element::fp32);
  offer<NvE2m1>(kernels, issue, Scaling::block16_e4m3, Element::fp32);
  if (architecture == 100 && asks_for(issue, Element::int8, Scaling::none, Element::int32)) {
    kernels.push_back(describe<Int8>(reinterpret_cast<const void*>(&issue_tcgen05_on_100<Int8>), Element::int32));
  }
  if (architecture == 103 && asks_for(issue, Element::fp4_e2m1, Scaling::block16_e4m3, Element::fp32)) {
    kernels.push_back(
        describe<DeepNvE2m1>(reinterpret_cast<const void*>(&issue_tcgen05_on_103<DeepNvE2m1>), Element::fp32));
  }
  return kernels;
}

}  // namespace vendor
