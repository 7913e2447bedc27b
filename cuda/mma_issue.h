// The loop that all kernels of mma.sync share.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "matrix_issue_data.h"
#include "matrix_issue_keep.h"
#include "matrix_issue_kernels.h"

namespace vendor {

constexpr unsigned mma_threads = 256;

template <class Form>
__device__ inline void fill_operand(typename Form::Word* words, int count, std::uint32_t seed, int first) {
  for (int j = 0; j < count; ++j) {
    const auto index = static_cast<std::uint64_t>(first + j) * 32 + threadIdx.x % 32;
    words[j] = Form::word(seed, index);
  }
}

// Operands are numbered by word and lane: A of set s from s * a_words, B of set s from here + s * b_words.
constexpr int first_word_of_b = 32;

// A form says how many words of A, B and D one lane holds, and multiplies. `chains` accumulators are independent, so
// that no instruction waits for the one before. Products with A and with minus A take turns, so that sums stay small:
// after any number of turns chain i holds A[i % 2] by B[i / 2 % 2].
template <class Form>
__device__ inline void mma_issue_body(int turns, std::uint32_t seed, std::uint32_t* out) {
  using Word = typename Form::Word;
  using Sum = typename Form::Sum;
  Word a[2][Form::a_words];
  Word minus_a[2][Form::a_words];
  Word b[2][Form::b_words];
  Sum d[Form::chains][Form::d_words] = {};
  for (int set = 0; set < 2; ++set) {
    fill_operand<Form>(a[set], Form::a_words, seed, set * Form::a_words);
    fill_operand<Form>(b[set], Form::b_words, seed, first_word_of_b + set * Form::b_words);
    for (int j = 0; j < Form::a_words; ++j) {
      minus_a[set][j] = Form::negated(a[set][j]);
      keep(minus_a[set][j]);
    }
  }
#pragma unroll
  for (int i = 0; i < Form::chains; ++i) Form::multiply(d[i], a[i % 2], b[i / 2 % 2]);
#pragma unroll 1
  for (int turn = 0; turn < turns; ++turn) {
#pragma unroll
    for (int i = 0; i < Form::chains; ++i) Form::multiply(d[i], a[i % 2], b[i / 2 % 2]);
#pragma unroll
    for (int i = 0; i < Form::chains; ++i) Form::multiply(d[i], minus_a[i % 2], b[i / 2 % 2]);
  }
  if (out == nullptr) return;
  auto* sums = reinterpret_cast<Sum*>(out) +
               (static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x) * Form::chains * Form::d_words;
  for (int i = 0; i < Form::chains; ++i) {
    for (int j = 0; j < Form::d_words; ++j) sums[i * Form::d_words + j] = d[i][j];
  }
}

template <class Form>
IssueKernel mma_issue_kernel(const void* entry, const std::string& instruction, assay::Element sum) {
  constexpr auto k_bytes = static_cast<int>(Form::k * element_bits(Form::element) / 8);
  IssueKernel kernel;
  kernel.shape = {IssueFamily::mma, Form::element, sum,           Form::m,      Form::n, Form::k, k_bytes, 1,
                  Form::chains,     Form::a_words, Form::b_words, Form::d_words};
  kernel.entry = entry;
  kernel.instruction = instruction;
  kernel.threads = mma_threads;
  kernel.blocks_a_multiprocessor = 2;
  kernel.multiply_adds_a_turn = 2.0 * Form::chains * Form::m * Form::n * Form::k * (mma_threads / 32.0);
  kernel.words_out = sizeof(typename Form::Sum) / 4 * mma_threads * Form::chains * Form::d_words;
  return kernel;
}

// Operands in 32-bit words.
template <assay::Element element>
struct PackedWords {
  using Word = std::uint32_t;
  __device__ static Word word(std::uint32_t seed, std::uint64_t index) { return typical_word(element, seed, index); }
  __device__ static Word negated(Word word) { return negated_word(element, word); }
};

// m16n8, A in four registers, B in two, D four FP32.
template <class Types>
struct FloatSums : PackedWords<Types::element>, Types {
  using Sum = float;
  static constexpr int m = 16, n = 8, a_words = 4, b_words = 2, d_words = 4, chains = 8;
  __device__ static void multiply(float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
    asm volatile("mma.sync.aligned.%10 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "C"(Types::ptx));
  }
};

}  // namespace vendor
