// Issue rate of mma.sync.
// SPDX-License-Identifier: Apache-2.0
#include "mma_issue.h"

namespace vendor::mma_forms {

using assay::Element;
using assay::Issue;
using assay::Scaling;

#if defined(__CUDA_ARCH__)
constexpr int compiled_for = __CUDA_ARCH__ / 10;
#else
constexpr int compiled_for = 0;
#endif

// The shapes and types of an instruction as PTX writes them, and since when there is one. Where a kernel is compiled
// for an older architecture it is empty, and never launched there.
template <class Form>
__global__ void __launch_bounds__(mma_threads) issue_mma(int turns, std::uint32_t seed, std::uint32_t* out) {
  if constexpr (compiled_for >= Form::since) mma_issue_body<Form>(turns, seed, out);
}

// The same with D in two registers of two FP16.
template <class Types>
struct HalfSums : PackedWords<Types::element>, Types {
  using Sum = std::uint32_t;
  static constexpr int m = 16, n = 8, a_words = 4, b_words = 2, d_words = 2, chains = 8;
  __device__ static void multiply(std::uint32_t (&d)[2], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
    asm volatile("mma.sync.aligned.%8 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};"
                 : "+r"(d[0]), "+r"(d[1])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "C"(Types::ptx));
  }
};

template <class Types>
struct IntegerSums : PackedWords<Types::element>, Types {
  using Sum = std::uint32_t;
  static constexpr int m = 16, n = 8, a_words = 4, b_words = 2, d_words = 4, chains = 8;
  __device__ static void multiply(std::uint32_t (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
    asm volatile("mma.sync.aligned.%10 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "C"(Types::ptx));
  }
};

// What Turing has: half as deep.
template <class Types>
struct ShallowFloatSums : PackedWords<Types::element>, Types {
  using Sum = float;
  static constexpr int m = 16, n = 8, a_words = 2, b_words = 1, d_words = 4, chains = 8;
  __device__ static void multiply(float (&d)[4], const std::uint32_t (&a)[2], const std::uint32_t (&b)[1]) {
    asm volatile("mma.sync.aligned.%7 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(b[0]), "C"(Types::ptx));
  }
};

template <class Types>
struct ShallowHalfSums : PackedWords<Types::element>, Types {
  using Sum = std::uint32_t;
  static constexpr int m = 16, n = 8, a_words = 2, b_words = 1, d_words = 2, chains = 8;
  __device__ static void multiply(std::uint32_t (&d)[2], const std::uint32_t (&a)[2], const std::uint32_t (&b)[1]) {
    asm volatile("mma.sync.aligned.%5 {%0,%1}, {%2,%3}, {%4}, {%0,%1};"
                 : "+r"(d[0]), "+r"(d[1])
                 : "r"(a[0]), "r"(a[1]), "r"(b[0]), "C"(Types::ptx));
  }
};

template <class Types>
struct ShallowIntegerSums : PackedWords<Types::element>, Types {
  using Sum = std::uint32_t;
  static constexpr int m = 8, n = 8, a_words = 1, b_words = 1, d_words = 2, chains = 8;
  __device__ static void multiply(std::uint32_t (&d)[2], const std::uint32_t (&a)[1], const std::uint32_t (&b)[1]) {
    asm volatile("mma.sync.aligned.%4 {%0,%1}, {%2}, {%3}, {%0,%1};"
                 : "+r"(d[0]), "+r"(d[1])
                 : "r"(a[0]), "r"(b[0]), "C"(Types::ptx));
  }
};

struct DoubleWords {
  static constexpr Element element = Element::fp64;
  using Word = double;
  using Sum = double;
  __device__ static double word(std::uint32_t seed, std::uint64_t index) { return typical_double(seed, index); }
  __device__ static double negated(double value) { return -value; }
};

// Ampere's, and the only one of consumer cards.
struct SmallDoubles : DoubleWords {
  static constexpr char ptx[] = "m8n8k4.row.col.f64.f64.f64.f64";
  static constexpr int since = 80, m = 8, n = 8, k = 4, a_words = 1, b_words = 1, d_words = 2, chains = 8;
  __device__ static void multiply(double (&d)[2], const double (&a)[1], const double (&b)[1]) {
    asm volatile("mma.sync.aligned.%4 {%0,%1}, {%2}, {%3}, {%0,%1};"
                 : "+d"(d[0]), "+d"(d[1])
                 : "d"(a[0]), "d"(b[0]), "C"(ptx));
  }
};

// Hopper's, which alone reaches its full rate.
struct LargeDoubles : DoubleWords {
  static constexpr char ptx[] = "m16n8k16.row.col.f64.f64.f64.f64";
  static constexpr int since = 90, m = 16, n = 8, k = 16, a_words = 8, b_words = 4, d_words = 4, chains = 4;
  __device__ static void multiply(double (&d)[4], const double (&a)[8], const double (&b)[4]) {
    asm volatile("mma.sync.aligned.%16 {%0,%1,%2,%3}, {%4,%5,%6,%7,%8,%9,%10,%11}, {%12,%13,%14,%15}, {%0,%1,%2,%3};"
                 : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
                 : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]), "d"(b[0]),
                   "d"(b[1]), "d"(b[2]), "d"(b[3]), "C"(ptx));
  }
};

struct Bf16 {
  static constexpr Element element = Element::bf16;
  static constexpr int k = 16, since = 80;
  static constexpr char ptx[] = "m16n8k16.row.col.f32.bf16.bf16.f32";
};
struct Fp16 {
  static constexpr Element element = Element::fp16;
  static constexpr int k = 16, since = 80;
  static constexpr char ptx[] = "m16n8k16.row.col.f32.f16.f16.f32";
};
struct Fp16InFp16 {
  static constexpr Element element = Element::fp16;
  static constexpr int k = 16, since = 80;
  static constexpr char ptx[] = "m16n8k16.row.col.f16.f16.f16.f16";
};
struct ShallowFp16 {
  static constexpr Element element = Element::fp16;
  static constexpr int k = 8, since = 75;
  static constexpr char ptx[] = "m16n8k8.row.col.f32.f16.f16.f32";
};
struct ShallowFp16InFp16 {
  static constexpr Element element = Element::fp16;
  static constexpr int k = 8, since = 75;
  static constexpr char ptx[] = "m16n8k8.row.col.f16.f16.f16.f16";
};
struct Tf32 {
  static constexpr Element element = Element::tf32;
  static constexpr int k = 8, since = 80;
  static constexpr char ptx[] = "m16n8k8.row.col.f32.tf32.tf32.f32";
};
struct Int8 {
  static constexpr Element element = Element::int8;
  static constexpr int k = 32, since = 80;
  static constexpr char ptx[] = "m16n8k32.row.col.s32.s8.s8.s32";
};
struct ShallowInt8 {
  static constexpr Element element = Element::int8;
  static constexpr int k = 16, since = 75;
  static constexpr char ptx[] = "m8n8k16.row.col.s32.s8.s8.s32";
};
struct E4m3 {
  static constexpr Element element = Element::fp8_e4m3;
  static constexpr int k = 32, since = 89;
  static constexpr char ptx[] = "m16n8k32.row.col.f32.e4m3.e4m3.f32";
};
struct E5m2 {
  static constexpr Element element = Element::fp8_e5m2;
  static constexpr int k = 32, since = 89;
  static constexpr char ptx[] = "m16n8k32.row.col.f32.e5m2.e5m2.f32";
};
struct E4m3InFp16 {
  static constexpr Element element = Element::fp8_e4m3;
  static constexpr int k = 32, since = 89;
  static constexpr char ptx[] = "m16n8k32.row.col.f16.e4m3.e4m3.f16";
};

template <class Form>
void offer(std::vector<IssueKernel>& kernels, const Issue& issue, Element accumulate, int architecture,
           bool wanted = true) {
  if (!wanted || architecture < Form::since || !asks_for(issue, Form::element, Scaling::none, accumulate)) return;
  const auto entry = reinterpret_cast<const void*>(&issue_mma<Form>);
  kernels.push_back(mma_issue_kernel<Form>(entry, std::string("mma.sync ") + Form::ptx, accumulate));
}

}  // namespace vendor::mma_forms

namespace vendor {

std::vector<IssueKernel> mma_issue_kernels(const assay::Issue& issue, int architecture) {
  using namespace mma_forms;
  std::vector<IssueKernel> kernels;
  const bool turing = architecture < 80;
  offer<FloatSums<Bf16>>(kernels, issue, Element::fp32, architecture);
  offer<FloatSums<Fp16>>(kernels, issue, Element::fp32, architecture);
  offer<HalfSums<Fp16InFp16>>(kernels, issue, Element::fp16, architecture);
  offer<ShallowFloatSums<ShallowFp16>>(kernels, issue, Element::fp32, architecture, turing);
  offer<ShallowHalfSums<ShallowFp16InFp16>>(kernels, issue, Element::fp16, architecture, turing);
  offer<FloatSums<Tf32>>(kernels, issue, Element::fp32, architecture);
  offer<IntegerSums<Int8>>(kernels, issue, Element::int32, architecture);
  offer<ShallowIntegerSums<ShallowInt8>>(kernels, issue, Element::int32, architecture, turing);
  offer<FloatSums<E4m3>>(kernels, issue, Element::fp32, architecture);
  offer<FloatSums<E5m2>>(kernels, issue, Element::fp32, architecture);
  offer<HalfSums<E4m3InFp16>>(kernels, issue, Element::fp16, architecture);
  offer<LargeDoubles>(kernels, issue, Element::fp64, architecture);
  offer<SmallDoubles>(kernels, issue, Element::fp64, architecture);
  return kernels;
}

}  // namespace vendor
