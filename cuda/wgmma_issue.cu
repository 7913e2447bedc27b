// Issue rate of wgmma, which only sm_90a has.
// SPDX-License-Identifier: Apache-2.0
#include "matrix_issue_data.h"
#include "matrix_issue_keep.h"
#include "matrix_issue_kernels.h"
#include "wgmma_descriptor.h"

namespace vendor::wgmma_forms {

using assay::Element;
using assay::Issue;
using assay::Scaling;

constexpr unsigned threads = 128;  // one warpgroup
constexpr int m = 64;
constexpr int n = 256;
constexpr unsigned a_bytes = m * swizzled_row_bytes;  // B follows A
constexpr unsigned b_bytes = n * swizzled_row_bytes;
constexpr std::size_t shared_bytes = a_bytes + b_bytes + swizzled_group_bytes;  // the last to align by
constexpr int slices = 4;                                                       // 32 bytes of K each
constexpr unsigned slice_bytes = 32;

// The accumulators are registers of the PTX function itself, declared once a kernel and named here: a hundred operands
// of every statement would say the same.
struct Sums128 {
  static constexpr int words = 128;
  static constexpr char declare[] = ".reg .b32 sum<128>;";
  static constexpr char list[] =
      "{sum0,sum1,sum2,sum3,sum4,sum5,sum6,sum7,sum8,sum9,sum10,sum11,sum12,sum13,sum14,sum15,"
      "sum16,sum17,sum18,sum19,sum20,sum21,sum22,sum23,sum24,sum25,sum26,sum27,sum28,sum29,sum30,sum31,"
      "sum32,sum33,sum34,sum35,sum36,sum37,sum38,sum39,sum40,sum41,sum42,sum43,sum44,sum45,sum46,sum47,"
      "sum48,sum49,sum50,sum51,sum52,sum53,sum54,sum55,sum56,sum57,sum58,sum59,sum60,sum61,sum62,sum63,"
      "sum64,sum65,sum66,sum67,sum68,sum69,sum70,sum71,sum72,sum73,sum74,sum75,sum76,sum77,sum78,sum79,"
      "sum80,sum81,sum82,sum83,sum84,sum85,sum86,sum87,sum88,sum89,sum90,sum91,sum92,sum93,sum94,sum95,"
      "sum96,sum97,sum98,sum99,sum100,sum101,sum102,sum103,sum104,sum105,sum106,sum107,sum108,sum109,sum110,sum111,"
      "sum112,sum113,sum114,sum115,sum116,sum117,sum118,sum119,sum120,sum121,sum122,sum123,sum124,sum125,sum126,"
      "sum127}";
};
struct Sums64 {
  static constexpr int words = 64;
  static constexpr char declare[] = ".reg .b32 sum<64>;";
  static constexpr char list[] =
      "{sum0,sum1,sum2,sum3,sum4,sum5,sum6,sum7,sum8,sum9,sum10,sum11,sum12,sum13,sum14,sum15,"
      "sum16,sum17,sum18,sum19,sum20,sum21,sum22,sum23,sum24,sum25,sum26,sum27,sum28,sum29,sum30,sum31,"
      "sum32,sum33,sum34,sum35,sum36,sum37,sum38,sum39,sum40,sum41,sum42,sum43,sum44,sum45,sum46,sum47,"
      "sum48,sum49,sum50,sum51,sum52,sum53,sum54,sum55,sum56,sum57,sum58,sum59,sum60,sum61,sum62,sum63}";
};

// What follows the predicate: signs of A and B, and for 16-bit elements whether they are transposed.
struct Signs16Shared {
  static constexpr char plus[] = ", 1, 1, 0, 0";
  static constexpr char minus[] = ", -1, 1, 0, 0";
};
struct Signs16Registers {
  static constexpr char plus[] = ", 1, 1, 0";
  static constexpr char minus[] = ", -1, 1, 0";
};
struct Signs {
  static constexpr char plus[] = ", 1, 1";
  static constexpr char minus[] = ", -1, 1";
};
struct NoSigns {  // integers have none: their sums run over, which wraps around
  static constexpr char plus[] = "";
  static constexpr char minus[] = "";
};

struct Bf16 : Sums128 {
  using SharedSigns = Signs16Shared;
  using RegisterSigns = Signs16Registers;
  static constexpr Element element = Element::bf16;
  static constexpr int k = 16;
  static constexpr char types[] = "m64n256k16.f32.bf16.bf16";
};
struct Fp16 : Sums128 {
  using SharedSigns = Signs16Shared;
  using RegisterSigns = Signs16Registers;
  static constexpr Element element = Element::fp16;
  static constexpr int k = 16;
  static constexpr char types[] = "m64n256k16.f32.f16.f16";
};
struct Fp16InFp16 : Sums64 {
  using SharedSigns = Signs16Shared;
  using RegisterSigns = Signs16Registers;
  static constexpr Element element = Element::fp16;
  static constexpr int k = 16;
  static constexpr char types[] = "m64n256k16.f16.f16.f16";
};
struct Tf32 : Sums128 {
  using SharedSigns = Signs;
  using RegisterSigns = Signs;
  static constexpr Element element = Element::tf32;
  static constexpr int k = 8;
  static constexpr char types[] = "m64n256k8.f32.tf32.tf32";
};
struct E4m3 : Sums128 {
  using SharedSigns = Signs;
  using RegisterSigns = Signs;
  static constexpr Element element = Element::fp8_e4m3;
  static constexpr int k = 32;
  static constexpr char types[] = "m64n256k32.f32.e4m3.e4m3";
};
struct E5m2 : Sums128 {
  using SharedSigns = Signs;
  using RegisterSigns = Signs;
  static constexpr Element element = Element::fp8_e5m2;
  static constexpr int k = 32;
  static constexpr char types[] = "m64n256k32.f32.e5m2.e5m2";
};
struct E4m3InFp16 : Sums64 {
  using SharedSigns = Signs;
  using RegisterSigns = Signs;
  static constexpr Element element = Element::fp8_e4m3;
  static constexpr int k = 32;
  static constexpr char types[] = "m64n256k32.f16.e4m3.e4m3";
};
struct Int8 : Sums128 {
  using SharedSigns = NoSigns;
  using RegisterSigns = NoSigns;
  static constexpr Element element = Element::int8;
  static constexpr int k = 32;
  static constexpr char types[] = "m64n256k32.s32.s8.s8";
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

__device__ std::uint32_t shared_address(const void* memory) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(memory));
}

// A and B, both from shared memory.
template <class Form>
struct FromShared {
  __device__ explicit FromShared(std::uint32_t start, std::uint32_t) {
    for (unsigned s = 0; s < slices; ++s) {
      a[s] = wgmma_descriptor({start + s * slice_bytes});
      b[s] = wgmma_descriptor({start + a_bytes + s * slice_bytes});
      keep(a[s]);
      keep(b[s]);
    }
  }
  template <int slice, bool negative>
  __device__ void multiply() const {
    if constexpr (negative) {
      asm volatile("wgmma.mma_async.sync.aligned.%2 %3, %0, %1, go_on%4;"
                   :
                   : "l"(a[slice]), "l"(b[slice]), "C"(Form::types), "C"(Form::list), "C"(Form::SharedSigns::minus)
                   : "memory");
    } else {
      asm volatile("wgmma.mma_async.sync.aligned.%2 %3, %0, %1, go_on%4;"
                   :
                   : "l"(a[slice]), "l"(b[slice]), "C"(Form::types), "C"(Form::list), "C"(Form::SharedSigns::plus)
                   : "memory");
    }
  }
  std::uint64_t a[slices];
  std::uint64_t b[slices];
};

// A from registers, B from shared memory. Words of A are numbered like those of mma.sync, from the seed that follows.
template <class Form>
struct FromRegisters {
  __device__ explicit FromRegisters(std::uint32_t start, std::uint32_t seed) {
    for (unsigned s = 0; s < slices; ++s) {
      b[s] = wgmma_descriptor({start + a_bytes + s * slice_bytes});
      keep(b[s]);
      for (unsigned j = 0; j < 4; ++j) {
        a[s][j] = typical_word(Form::element, seed + 1, (s * 4 + j) * threads + threadIdx.x);
        keep(a[s][j]);
      }
    }
  }
  template <int slice, bool negative>
  __device__ void multiply() const {
    if constexpr (negative) {
      asm volatile("wgmma.mma_async.sync.aligned.%5 %6, {%0,%1,%2,%3}, %4, go_on%7;"
                   :
                   : "r"(a[slice][0]), "r"(a[slice][1]), "r"(a[slice][2]), "r"(a[slice][3]), "l"(b[slice]),
                     "C"(Form::types), "C"(Form::list), "C"(Form::RegisterSigns::minus)
                   : "memory");
    } else {
      asm volatile("wgmma.mma_async.sync.aligned.%5 %6, {%0,%1,%2,%3}, %4, go_on%7;"
                   :
                   : "r"(a[slice][0]), "r"(a[slice][1]), "r"(a[slice][2]), "r"(a[slice][3]), "l"(b[slice]),
                     "C"(Form::types), "C"(Form::list), "C"(Form::RegisterSigns::plus)
                   : "memory");
    }
  }
  std::uint32_t a[slices][4];
  std::uint64_t b[slices];
};

// Stores the accumulators one by one: word j of every thread.
template <class Form, int j = 0>
__device__ void store_sums(std::uint32_t* to) {
  if constexpr (j < Form::words) {
    constexpr int hundreds = j / 100;
    constexpr int tens = j / 10 % 10;
    constexpr int ones = j % 10;
    if constexpr (hundreds > 0) {
      asm volatile("st.global.b32 [%0], sum%1%2%3;" : : "l"(to), "n"(hundreds), "n"(tens), "n"(ones) : "memory");
    } else if constexpr (tens > 0) {
      asm volatile("st.global.b32 [%0], sum%1%2;" : : "l"(to), "n"(tens), "n"(ones) : "memory");
    } else {
      asm volatile("st.global.b32 [%0], sum%1;" : : "l"(to), "n"(ones) : "memory");
    }
    store_sums<Form, j + 1>(to + 1);
  }
}

// After any number of turns the sums of floating-point forms are those of slice 0 alone: every slice is added and taken
// away again. Integers hold slice 0 and twice all slices a turn.
template <class Form, class Source>
__device__ void issue_body(int turns, std::uint32_t seed, std::uint32_t* out) {
  extern __shared__ std::uint32_t raw[];
  const std::uint32_t start =
      (shared_address(raw) + swizzled_group_bytes - 1) / swizzled_group_bytes * swizzled_group_bytes;
  auto* words = raw + (start - shared_address(raw)) / 4;
#pragma unroll 1
  for (unsigned i = threadIdx.x; i < (a_bytes + b_bytes) / 4; i += threads) {
    words[i] = typical_word(Form::element, seed, i);
  }
  asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
  __syncthreads();
  const Source source(start, seed);
  asm volatile("%0" : : "C"(Form::declare));
  asm volatile(".reg .pred go_on; setp.ne.b32 go_on, 0, 0;");  // the first product does not add to anything
  asm volatile("wgmma.fence.sync.aligned;" : : : "memory");
  source.template multiply<0, false>();
  asm volatile("wgmma.commit_group.sync.aligned; setp.ne.b32 go_on, 1, 0;" : : : "memory");
#pragma unroll 1
  for (int turn = 0; turn < turns; ++turn) {
    asm volatile("wgmma.fence.sync.aligned;" : : : "memory");
    source.template multiply<0, true>();
    source.template multiply<1, false>();
    source.template multiply<2, true>();
    source.template multiply<3, false>();
    source.template multiply<0, false>();
    source.template multiply<1, true>();
    source.template multiply<2, false>();
    source.template multiply<3, true>();
    asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 1;" : : : "memory");
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;" : : : "memory");
  if (out != nullptr) {
    store_sums<Form>(out + (static_cast<std::size_t>(blockIdx.x) * threads + threadIdx.x) * Form::words);
  }
}

#endif

template <class Form>
__global__ void __launch_bounds__(threads) issue_wgmma_shared(int turns, std::uint32_t seed, std::uint32_t* out) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  issue_body<Form, FromShared<Form>>(turns, seed, out);
#endif
}

template <class Form>
__global__ void __launch_bounds__(threads) issue_wgmma_registers(int turns, std::uint32_t seed, std::uint32_t* out) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  issue_body<Form, FromRegisters<Form>>(turns, seed, out);
#endif
}

template <class Form>
void offer(std::vector<IssueKernel>& kernels, const Issue& issue, Element accumulate) {
  if (!asks_for(issue, Form::element, Scaling::none, accumulate)) return;
  IssueKernel kernel;
  kernel.threads = threads;
  kernel.blocks_a_multiprocessor = 2;
  kernel.shared_bytes = shared_bytes;
  kernel.multiply_adds_a_turn = 2.0 * slices * m * n * Form::k;
  kernel.words_out = std::size_t{threads} * Form::words;
  kernel.shape = {
      IssueFamily::wgmma_shared, Form::element, accumulate, m, n, Form::k, slice_bytes, slices, 1, 0, 0, Form::words};
  kernel.entry = reinterpret_cast<const void*>(&issue_wgmma_shared<Form>);
  kernel.instruction = std::string("wgmma ") + Form::types + ", A and B from shared memory";
  kernels.push_back(kernel);
  kernel.shape.family = IssueFamily::wgmma_registers;
  kernel.entry = reinterpret_cast<const void*>(&issue_wgmma_registers<Form>);
  kernel.instruction = std::string("wgmma ") + Form::types + ", A from registers";
  kernels.push_back(kernel);
}

}  // namespace vendor::wgmma_forms

namespace vendor {

std::vector<IssueKernel> wgmma_issue_kernels(const assay::Issue& issue, int architecture) {
  using namespace wgmma_forms;
  std::vector<IssueKernel> kernels;
  if (architecture != 90) return kernels;
  offer<Bf16>(kernels, issue, Element::fp32);
  offer<Fp16>(kernels, issue, Element::fp32);
  offer<Fp16InFp16>(kernels, issue, Element::fp16);
  offer<Tf32>(kernels, issue, Element::fp32);
  offer<E4m3>(kernels, issue, Element::fp32);
  offer<E5m2>(kernels, issue, Element::fp32);
  offer<E4m3InFp16>(kernels, issue, Element::fp16);
  offer<Int8>(kernels, issue, Element::int32);
  return kernels;
}

}  // namespace vendor
