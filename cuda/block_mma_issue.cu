// Issue rate of block-scaled mma.sync, which only sm_120a has.
// SPDX-License-Identifier: Apache-2.0
#include "mma_issue.h"

namespace vendor::block_mma_forms {

using assay::Element;
using assay::Issue;
using assay::Scaling;

template <class Form>
__global__ void __launch_bounds__(mma_threads) issue_block_mma(int turns, std::uint32_t seed, std::uint32_t* out) {
#if defined(__CUDA_ARCH_FEAT_SM120_ALL)
  mma_issue_body<Form>(turns, seed, out);
#endif
}

// Scales of one: four bytes that each stand for 1, of which lane and byte 0 are taken.
template <class Types>
struct ScaledSums : PackedWords<Types::element>, Types {
  using Sum = float;
  static constexpr int m = 16, n = 8, a_words = 4, b_words = 2, d_words = 4, chains = 8;
  __device__ static void multiply(float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
    asm volatile(
        "mma.sync.aligned.%11 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3}, {%10}, {0, 0}, {%10}, {0, 0};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(Types::ones), "C"(Types::ptx));
  }
};

constexpr std::uint32_t ones_ue8m0 = 0x7F7F7F7F;  // 2^(127 - 127)
constexpr std::uint32_t ones_e4m3 = 0x38383838;   // exponent 7 of bias 7

struct E4m3 {
  static constexpr Element element = Element::fp8_e4m3;
  static constexpr int k = 32;
  static constexpr char ptx[] = "kind::f8f6f4.m16n8k32.row.col.f32.e4m3.e4m3.f32";
};
struct E5m2 {
  static constexpr Element element = Element::fp8_e5m2;
  static constexpr int k = 32;
  static constexpr char ptx[] = "kind::f8f6f4.m16n8k32.row.col.f32.e5m2.e5m2.f32";
};
struct MxE4m3 {
  static constexpr Element element = Element::fp8_e4m3;
  static constexpr int k = 32;
  static constexpr std::uint32_t ones = ones_ue8m0;
  static constexpr char ptx[] = "kind::mxf8f6f4.block_scale.scale_vec::1X.m16n8k32.row.col.f32.e4m3.e4m3.f32.ue8m0";
};
struct MxE2m1 {
  static constexpr Element element = Element::fp4_e2m1;
  static constexpr int k = 64;
  static constexpr std::uint32_t ones = ones_ue8m0;
  static constexpr char ptx[] = "kind::mxf4.block_scale.scale_vec::2X.m16n8k64.row.col.f32.e2m1.e2m1.f32.ue8m0";
};
struct NvE2m1 {
  static constexpr Element element = Element::fp4_e2m1;
  static constexpr int k = 64;
  static constexpr std::uint32_t ones = ones_e4m3;
  static constexpr char ptx[] = "kind::mxf4nvf4.block_scale.scale_vec::4X.m16n8k64.row.col.f32.e2m1.e2m1.f32.ue4m3";
};

template <class Form>
void offer(std::vector<IssueKernel>& kernels, const Issue& issue, Scaling scaling) {
  if (!asks_for(issue, Form::element, scaling, Element::fp32)) return;
  const auto entry = reinterpret_cast<const void*>(&issue_block_mma<Form>);
  kernels.push_back(mma_issue_kernel<Form>(entry, std::string("mma.sync ") + Form::ptx, Element::fp32));
}

}  // namespace vendor::block_mma_forms

namespace vendor {

std::vector<IssueKernel> block_mma_issue_kernels(const assay::Issue& issue, int architecture) {
  using namespace block_mma_forms;
  std::vector<IssueKernel> kernels;
  if (architecture != 120) return kernels;
  offer<FloatSums<E4m3>>(kernels, issue, Scaling::none);
  offer<FloatSums<E5m2>>(kernels, issue, Scaling::none);
  offer<ScaledSums<MxE4m3>>(kernels, issue, Scaling::block32_ue8m0);
  offer<ScaledSums<MxE2m1>>(kernels, issue, Scaling::block32_ue8m0);
  offer<ScaledSums<NvE2m1>>(kernels, issue, Scaling::block16_e4m3);
  return kernels;
}

}  // namespace vendor
