// Issue rate of MFMA and WMMA instructions.
// SPDX-License-Identifier: Apache-2.0
#include "matrix_issue.h"

#include <type_traits>

#include "architectures.h"
#include "gpu/lane_issue_kernel.h"
#include "matrix_issue_forms.h"

namespace vendor {
namespace {

using assay::Element;
using assay::Issue;
using assay::Scaling;

template <class Form>
__global__ void __launch_bounds__(issue_threads) issue_matrix(int turns, std::uint32_t seed, void* out) {
  if constexpr (forms::compiled_for >= Form::since && forms::compiled_for <= Form::until) {
    issue_body<Form>(turns, seed, static_cast<typename Form::Sums*>(out));
  }
}

template <class Form>
void offer(std::vector<IssueKernel>& kernels, const Issue& issue, int architecture) {
  // FP8 with one scale a tensor is FP8: the unit never sees that scale.
  const bool plain = issue.operands.scaling == Scaling::none || issue.operands.scaling == Scaling::tensor;
  const bool scaled_alike = Form::by_blocks ? issue.operands.scaling == Scaling::block32_ue8m0 : plain;
  if (!scaled_alike || issue.operands.element != Form::element || issue.accumulate != Form::sum) return;
  if (architecture < Form::since || architecture > Form::until) return;
  IssueKernel kernel;
  kernel.entry = reinterpret_cast<const void*>(&issue_matrix<Form>);
  kernel.instruction = Form::name;
  kernel.shape.element = Form::element;
  kernel.shape.sum = Form::sum;
  kernel.shape.scale = Form::scale;
  kernel.shape.lanes = Form::since < 1000 ? 64 : 32;
  kernel.shape.size = Form::size;
  kernel.shape.k = Form::k;
  kernel.shape.words = Form::words;
  kernel.shape.groups = Form::groups;
  kernel.shape.sums = Form::size * Form::size / kernel.shape.lanes;
  kernel.shape.split = Form::since >= 1200;
  const double wavefronts = static_cast<double>(issue_threads) / kernel.shape.lanes;
  kernel.multiply_adds_a_turn = 2.0 * issue_chains * Form::size * Form::size * Form::k * wavefronts;
  kernel.words_out = sizeof(typename Form::Sums) / sizeof(std::uint32_t) * issue_chains * issue_threads;
  kernels.push_back(kernel);
}

}  // namespace

std::vector<IssueKernel> matrix_issue_kernels(const Issue& issue, int architecture) {
  using namespace forms;
  std::vector<IssueKernel> kernels;
#if __has_builtin(__builtin_amdgcn_mfma_f32_32x32x16_f16)
  offer<MfmaDeepFp16>(kernels, issue, architecture);
  offer<MfmaDeepBf16>(kernels, issue, architecture);
  offer<MfmaDeepInt8>(kernels, issue, architecture);
#endif
#if __has_builtin(__builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4)
  offer<MfmaMxfp8>(kernels, issue, architecture);
  offer<MfmaMxfp4>(kernels, issue, architecture);
#endif
  offer<MfmaFp16>(kernels, issue, architecture);
  offer<MfmaBf16>(kernels, issue, architecture);
  offer<MfmaFirstBf16>(kernels, issue, architecture);
  offer<MfmaFp32>(kernels, issue, architecture);
  offer<MfmaXf32>(kernels, issue, architecture);
  offer<MfmaInt8>(kernels, issue, architecture);
  offer<MfmaFirstInt8>(kernels, issue, architecture);
  offer<MfmaE4m3<Element::fp8_e4m3_fnuz, 940, 942>>(kernels, issue, architecture);
  offer<MfmaE5m2<Element::fp8_e5m2_fnuz, 940, 942>>(kernels, issue, architecture);
  offer<MfmaE4m3<Element::fp8_e4m3, 950, 950>>(kernels, issue, architecture);
  offer<MfmaE5m2<Element::fp8_e5m2, 950, 950>>(kernels, issue, architecture);
  offer<MfmaFp64>(kernels, issue, architecture);
  offer<WmmaFp16>(kernels, issue, architecture);
  offer<WmmaHalfFp16>(kernels, issue, architecture);
  offer<WmmaBf16>(kernels, issue, architecture);
  offer<WmmaInt8>(kernels, issue, architecture);
  offer<SplitWmmaFp16>(kernels, issue, architecture);
  offer<SplitWmmaBf16>(kernels, issue, architecture);
  offer<SplitWmmaInt8>(kernels, issue, architecture);
  offer<SplitWmmaE4m3>(kernels, issue, architecture);
  offer<SplitWmmaE5m2>(kernels, issue, architecture);
  return kernels;
}

assay::Support matrix_issue_possible(const Issue& issue, int architecture) {
  if (!matrix_issue_kernels(issue, architecture).empty()) return {true, ""};
  return {false, "the matrix units of " + architecture_text(architecture) + " do not multiply " +
                     assay::text(issue.operands) + " into " + assay::text(issue.accumulate) +
                     ", or this program has no kernel for that"};
}

}  // namespace vendor
