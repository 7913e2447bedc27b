// The kernels of own products by MFMA and WMMA.
// SPDX-License-Identifier: Apache-2.0
#include "own_gemm.h"

#include <type_traits>

#include "gpu/lane_gemm_kernel.h"
#include "gpu/lane_issue.h"
#include "matrix_issue_forms.h"

namespace vendor {
namespace {

constexpr int threads = 256;
constexpr int tile = 128;

template <class Form>
constexpr int lanes_of = Form::since < 1000 ? 64 : 32;

// An instruction of the issue rates as gpu/lane_gemm_kernel.h wants it.
template <class Issued>
struct Laid : Issued {
  static constexpr bool whole = Issued::element == Element::int8;
  using Number = std::conditional_t<whole, std::int32_t, float>;
  using Stored = std::conditional_t<whole, std::uint8_t, std::uint16_t>;
  __device__ static int row(int lane, int index) {
    IssueShape shape;
    shape.lanes = lanes_of<Issued>;
    shape.size = Issued::size;
    shape.split = Issued::since >= 1200;
    return row_of_sum(shape, lane, index);
  }
};

template <class Form>
__global__ void __launch_bounds__(threads) own_product(PlainProduct product) {
  if constexpr (forms::compiled_for >= Form::since && forms::compiled_for <= Form::until) {
    multiply_tile<Laid<Form>, tile, threads, lanes_of<Form>>(product);
  }
}

template <class Form>
void start(const PlainProduct& product, unsigned blocks, Stream stream) {
  launch(own_product<Form>, blocks, threads, 0, stream, product);
}

template <class... Forms>
std::optional<TileKernel> first_of(Element element, int architecture) {
  std::optional<TileKernel> found;
  const auto offer = [&](bool fits, const char* name, auto* launcher) {
    if (fits && !found) found = TileKernel{tile, name, launcher};
  };
  (offer(Forms::element == element && architecture >= Forms::since && architecture <= Forms::until, Forms::name,
         start<Forms>),
   ...);
  return found;
}

}  // namespace

std::optional<TileKernel> own_tile_kernel(const assay::Gemm& gemm, int architecture) {
  using namespace forms;
  return first_of<MfmaFp16, MfmaBf16, MfmaFirstBf16, MfmaInt8, MfmaFirstInt8, WmmaFp16, WmmaBf16, WmmaInt8,
                  SplitWmmaFp16, SplitWmmaBf16, SplitWmmaInt8>(gemm.a.element, architecture);
}

}  // namespace vendor
