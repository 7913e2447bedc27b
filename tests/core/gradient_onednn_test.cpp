// The backward ops against oneDNN's own: a second implementation, by other people, of the same derivatives.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/interpreter.h"
#include "core/op.h"

namespace assay {
namespace {

using Vector = std::vector<double>;
using Dims = dnnl::memory::dims;

constexpr auto plain = dnnl::memory::data_type::f32;
constexpr std::int64_t rows = 6;
constexpr std::int64_t columns = 40;

// Numbers of about 1 that FP32 holds exactly, so that both sides begin with the same.
Vector numbers(std::int64_t count, std::uint64_t seed) {
  Vector result;
  for (std::int64_t i = 0; i < count; ++i) {
    result.push_back(static_cast<float>(normal_like(seed, static_cast<std::uint64_t>(i))));
  }
  return result;
}

Values run(const std::string& canonical, Values values) {
  std::vector<Vector*> pointers;
  for (Vector& value : values) pointers.push_back(&value);
  interpret(parse_op(canonical), pointers);
  return values;
}

// Sums of some 40 products of numbers of about 1, in FP32.
void expect_near(const Vector& ours, const Vector& theirs) {
  ASSERT_EQ(ours.size(), theirs.size());
  for (std::size_t i = 0; i < ours.size(); ++i) EXPECT_NEAR(ours[i], theirs[i], 2e-5 * (1 + std::abs(ours[i]))) << i;
}

class OneDnn : public ::testing::Test {
 protected:
  static dnnl::memory::desc matrix(std::int64_t high, std::int64_t wide) {
    return {Dims{high, wide}, plain, Dims{wide, 1}};
  }
  static dnnl::memory::desc line(std::int64_t count) { return {Dims{count}, plain, Dims{1}}; }

  dnnl::memory memory(const dnnl::memory::desc& layout, const Vector& values) {
    dnnl::memory made(layout, engine_);
    const std::vector<float> narrow(values.begin(), values.end());
    std::memcpy(made.get_data_handle(), narrow.data(), narrow.size() * sizeof(float));
    return made;
  }
  dnnl::memory memory(const dnnl::memory::desc& layout) { return {layout, engine_}; }

  static Vector read(const dnnl::memory& memory) {
    const auto* first = static_cast<const float*>(memory.get_data_handle());
    return {first, first + memory.get_desc().get_size() / sizeof(float)};
  }

  void execute(const dnnl::primitive& primitive, const std::unordered_map<int, dnnl::memory>& arguments) {
    primitive.execute(stream_, arguments);
    stream_.wait();
  }

  // dx of an activation of x.
  Vector eltwise(dnnl::algorithm kind, const Vector& x, const Vector& dy) {
    const auto layout = line(static_cast<std::int64_t>(x.size()));
    const dnnl::eltwise_forward::primitive_desc forward({dnnl::prop_kind::forward_training, kind, layout, 1.0F, 0.0F},
                                                        engine_);
    const dnnl::eltwise_backward::primitive_desc backward({kind, layout, layout, 1.0F, 0.0F}, engine_, forward);
    const dnnl::memory dx = memory(layout);
    execute(dnnl::eltwise_backward(backward),
            {{DNNL_ARG_SRC, memory(layout, x)}, {DNNL_ARG_DIFF_DST, memory(layout, dy)}, {DNNL_ARG_DIFF_SRC, dx}});
    return read(dx);
  }

  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
};

TEST_F(OneDnn, HasTheGradientOfGelu) {
  const Vector x = numbers(columns, 1);
  const Vector dy = numbers(columns, 2);
  const Vector ours = run("pointwise kind=gelu_backward columns=40", {dy, x, Vector(columns)})[2];
  expect_near(ours, eltwise(dnnl::algorithm::eltwise_gelu_tanh, x, dy));
}

// y = swish(gate) up: the gate's gradient is that of a swish whose dy is dy up.
TEST_F(OneDnn, HasTheGradientOfTheGateOfSwiglu) {
  const Vector gate_up = numbers(2 * columns, 3);
  const Vector dy = numbers(columns, 4);
  Vector both = run("pointwise kind=swiglu_backward rows=1 columns=40", {dy, gate_up, Vector(2 * columns)})[2];
  both.resize(columns);
  Vector slopes;
  for (std::size_t i = 0; i < dy.size(); ++i) slopes.push_back(dy[i] * gate_up[columns + i]);
  expect_near(both,
              eltwise(dnnl::algorithm::eltwise_swish, Vector(gate_up.begin(), gate_up.begin() + columns), slopes));
}

TEST_F(OneDnn, HasTheGradientOfSoftmax) {
  const Vector x = numbers(rows * columns, 5);
  const Vector dy = numbers(rows * columns, 6);
  const Vector y = run("softmax rows=6 columns=40", {x, Vector(rows * columns)})[1];
  const Vector ours = run("softmax direction=backward rows=6 columns=40", {dy, y, Vector(rows * columns)})[2];

  const auto layout = matrix(rows, columns);
  const dnnl::softmax_forward::primitive_desc forward({dnnl::prop_kind::forward_training, layout, 1}, engine_);
  const dnnl::softmax_backward::primitive_desc backward({layout, layout, 1}, engine_, forward);
  const dnnl::memory dx = memory(layout);
  execute(dnnl::softmax_backward(backward),
          {{DNNL_ARG_DST, memory(layout, y)}, {DNNL_ARG_DIFF_DST, memory(layout, dy)}, {DNNL_ARG_DIFF_SRC, dx}});
  expect_near(ours, read(dx));
}

TEST_F(OneDnn, HasTheGradientsOfLayerNorm) {
  const Vector x = numbers(rows * columns, 7);
  const Vector weight = numbers(columns, 8);
  const Vector bias = numbers(columns, 9);
  const Vector dy = numbers(rows * columns, 10);
  const std::string shape = " kind=layer rows=6 columns=40";
  const Vector statistics = run("norm" + shape, {x, weight, bias, Vector(rows * columns), Vector(2 * rows)})[4];
  const Vector dx = run("norm kind=layer direction=backward rows=6 columns=40",
                        {dy, x, weight, statistics, Vector(rows * columns)})[4];
  const Values parameters = run("norm_weights" + shape, {dy, x, statistics, Vector(columns), Vector(columns)});

  // It wants means and variances apart and makes them itself; weight and bias are the two rows of one matrix.
  const auto layout = matrix(rows, columns);
  const auto flags = dnnl::normalization_flags::use_scale_shift;
  const dnnl::layer_normalization_forward::primitive_desc forward(
      {dnnl::prop_kind::forward_training, layout, 1e-5F, flags}, engine_);
  const dnnl::layer_normalization_backward::primitive_desc backward(
      {dnnl::prop_kind::backward, layout, layout, 1e-5F, flags}, engine_, forward);
  Vector scale_shift = weight;
  scale_shift.insert(scale_shift.end(), bias.begin(), bias.end());
  const dnnl::memory both = memory(matrix(2, columns), scale_shift);
  const dnnl::memory source = memory(layout, x);
  const dnnl::memory mean = memory(forward.mean_desc());
  const dnnl::memory variance = memory(forward.variance_desc());
  const dnnl::memory slopes = memory(layout);
  const dnnl::memory both_slopes = memory(matrix(2, columns));
  execute(dnnl::layer_normalization_forward(forward), {{DNNL_ARG_SRC, source},
                                                       {DNNL_ARG_SCALE_SHIFT, both},
                                                       {DNNL_ARG_DST, memory(layout)},
                                                       {DNNL_ARG_MEAN, mean},
                                                       {DNNL_ARG_VARIANCE, variance}});
  execute(dnnl::layer_normalization_backward(backward), {{DNNL_ARG_SRC, source},
                                                         {DNNL_ARG_SCALE_SHIFT, both},
                                                         {DNNL_ARG_MEAN, mean},
                                                         {DNNL_ARG_VARIANCE, variance},
                                                         {DNNL_ARG_DIFF_DST, memory(layout, dy)},
                                                         {DNNL_ARG_DIFF_SRC, slopes},
                                                         {DNNL_ARG_DIFF_SCALE_SHIFT, both_slopes}});
  expect_near(dx, read(slopes));
  Vector ours = parameters[3];
  ours.insert(ours.end(), parameters[4].begin(), parameters[4].end());
  expect_near(ours, read(both_slopes));
}

// y [6, 5] = x [6, 40] w [40, 5] + b: what a layer's way back asks of two products and a sum down the columns.
TEST_F(OneDnn, HasTheGradientsOfALinearLayer) {
  const std::int64_t wide = 5;
  const Vector x = numbers(rows * columns, 11);
  const Vector weight = numbers(columns * wide, 12);
  const Vector dy = numbers(rows * wide, 13);
  const Vector dx = run("gemm m=6 n=40 k=5 transpose_b=true accumulate=fp64", {dy, weight, Vector(rows * columns)})[2];
  const Vector dweight = run("gemm m=40 n=5 k=6 transpose_a=true accumulate=fp64", {x, dy, Vector(columns * wide)})[2];
  const Vector dbias = run("column_sum rows=6 columns=5", {dy, Vector(wide)})[1];

  const auto input = matrix(rows, columns);
  const auto output = matrix(rows, wide);
  const dnnl::memory::desc weights(Dims{wide, columns}, plain, Dims{1, wide});  // theirs is [out, in], ours [in, out]
  const dnnl::inner_product_forward::primitive_desc forward(
      {dnnl::prop_kind::forward_training, input, weights, line(wide), output}, engine_);
  const dnnl::inner_product_backward_data::primitive_desc data({input, weights, output}, engine_, forward);
  const dnnl::inner_product_backward_weights::primitive_desc parameters({input, weights, line(wide), output}, engine_,
                                                                        forward);
  const dnnl::memory slopes = memory(output, dy);
  const dnnl::memory their_dx = memory(input);
  const dnnl::memory their_dweight = memory(weights);
  const dnnl::memory their_dbias = memory(line(wide));
  execute(dnnl::inner_product_backward_data(data),
          {{DNNL_ARG_DIFF_DST, slopes}, {DNNL_ARG_WEIGHTS, memory(weights, weight)}, {DNNL_ARG_DIFF_SRC, their_dx}});
  execute(dnnl::inner_product_backward_weights(parameters), {{DNNL_ARG_SRC, memory(input, x)},
                                                             {DNNL_ARG_DIFF_DST, slopes},
                                                             {DNNL_ARG_DIFF_WEIGHTS, their_dweight},
                                                             {DNNL_ARG_DIFF_BIAS, their_dbias}});
  expect_near(dx, read(their_dx));
  expect_near(dweight, read(their_dweight));
  expect_near(dbias, read(their_dbias));
}

}  // namespace
}  // namespace assay
