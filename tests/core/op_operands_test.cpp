// Which tensors ops take.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "core/op.h"

namespace assay {
namespace {

// "a:bf16[1,3,5] b:... d:...!": an exclamation mark is written, a plus is read and written.
std::string taken(const char* canonical) {
  std::string result;
  for (const Operand& operand : operands(parse_op(canonical))) {
    std::string shape;
    for (const std::int64_t extent : operand.shape) shape += (shape.empty() ? "" : ",") + std::to_string(extent);
    result += (result.empty() ? "" : " ") + operand.name + ":" + text(operand.format) + "[" + shape + "]";
    if (operand.access == Access::write) result += "!";
    if (operand.access == Access::read_write) result += "+";
  }
  return result;
}

TEST(Operands, OfAProductFollowTransposesBiasAndBeta) {
  EXPECT_EQ(taken("gemm m=3 n=4 k=5 a=bf16 b=fp16"), "a:bf16[1,3,5] b:fp16[1,5,4] d:fp32[1,3,4]!");
  EXPECT_EQ(taken("gemm batch=2 m=3 n=4 k=5 transpose_a=true transpose_b=true beta=1 bias=true d=bf16"),
            "a:fp32[2,5,3] b:fp32[2,4,5] bias:bf16[4] d:bf16[2,3,4]+");
}

TEST(Operands, OfStreamsAndTransfers) {
  EXPECT_EQ(taken("stream count=7 format=bf16"), "x:bf16[7] y:bf16[7] z:bf16[7]!");
  EXPECT_EQ(taken("stream kind=read count=7"), "x:fp32[7] sum:fp64[1]!");
  EXPECT_EQ(taken("stream kind=write count=7"), "y:fp32[7]!");
  EXPECT_EQ(taken("chase bytes=640"), "ring:int64[80]");
  EXPECT_EQ(taken("transfer bytes=9"), "from:int8[9] to:int8[9]!");
  EXPECT_EQ(taken("transfer bytes=9 both_ways=true"), "from:int8[9] to:int8[9]! back_from:int8[9] back_to:int8[9]!");
  EXPECT_EQ(taken("launch count=2"), "");
  EXPECT_EQ(taken("issue count=2"), "");
}

TEST(Operands, OfPointwiseOps) {
  EXPECT_EQ(taken("pointwise columns=6"), "x:fp32[6] y:fp32[6]!");
  EXPECT_EQ(taken("pointwise kind=gelu_backward columns=6"), "dy:fp32[6] x:fp32[6] dx:fp32[6]!");
  EXPECT_EQ(taken("pointwise kind=swiglu rows=1 columns=6"), "gate_up:fp32[1,12] y:fp32[1,6]!");
  EXPECT_EQ(taken("pointwise kind=swiglu_backward rows=2 columns=6"),
            "dy:fp32[2,6] gate_up:fp32[2,12] dgate_up:fp32[2,12]!");
  EXPECT_EQ(taken("cast count=5 from=bf16 to=fp8_e4m3.tensor"), "x:bf16[5] scale:fp32[1] y:fp8_e4m3.tensor[5]!");
  EXPECT_EQ(taken("adamw count=5"), "scalars:fp32[8] gradient:fp32[5] master:fp32[5]+ first:fp32[5]+ second:fp32[5]+");
  EXPECT_EQ(taken("adamw count=5 weight=bf16 gradient=bf16"),
            "scalars:fp32[8] gradient:bf16[5] master:fp32[5]+ first:fp32[5]+ second:fp32[5]+ weight:bf16[5]!");
}

TEST(Operands, OfRowsAndColumns) {
  EXPECT_EQ(taken("softmax rows=2 columns=3"), "x:fp32[2,3] y:fp32[2,3]!");
  EXPECT_EQ(taken("softmax direction=backward rows=2 columns=3"), "dy:fp32[2,3] y:fp32[2,3] dx:fp32[2,3]!");
  EXPECT_EQ(taken("norm rows=2 columns=3 format=bf16"),
            "x:bf16[2,3] weight:bf16[3] y:bf16[2,3]! statistics:fp32[2,2]!");
  EXPECT_EQ(taken("norm kind=layer rows=2 columns=3"),
            "x:fp32[2,3] weight:fp32[3] bias:fp32[3] y:fp32[2,3]! statistics:fp32[2,2]!");
  EXPECT_EQ(taken("norm kind=layer direction=backward rows=2 columns=3"),
            "dy:fp32[2,3] x:fp32[2,3] weight:fp32[3] statistics:fp32[2,2] dx:fp32[2,3]!");
  EXPECT_EQ(taken("norm direction=backward rows=2 columns=3 accumulate=true"),
            "dy:fp32[2,3] x:fp32[2,3] weight:fp32[3] statistics:fp32[2,2] dx:fp32[2,3]+");
  EXPECT_EQ(taken("norm_weights kind=layer rows=2 columns=3"),
            "dy:fp32[2,3] x:fp32[2,3] statistics:fp32[2,2] dweight:fp32[3]! dbias:fp32[3]!");
  EXPECT_EQ(taken("column_sum rows=2 columns=3"), "x:fp32[2,3] y:fp32[3]!");
  EXPECT_EQ(taken("cross_entropy rows=2 columns=3 format=bf16"),
            "logits:bf16[2,3] targets:int32[2] losses:fp32[2]! dlogits:bf16[2,3]!");
}

TEST(Operands, OfAttentionAndItsCache) {
  const std::string shape = "batch=2 query_length=3 key_length=4 heads=6 kv_heads=2 head_size=5 value_size=7";
  EXPECT_EQ(taken(("attention " + shape + " format=bf16 cache=fp8_e4m3").c_str()),
            "q:bf16[2,6,3,5] k:fp8_e4m3[2,2,4,5] v:fp8_e4m3[2,2,4,7] y:bf16[2,6,3,7]! logsumexp:fp32[2,6,3]!");
  EXPECT_EQ(taken(("attention direction=backward " + shape).c_str()),
            "dy:fp32[2,6,3,7] q:fp32[2,6,3,5] k:fp32[2,2,4,5] v:fp32[2,2,4,7] y:fp32[2,6,3,7] logsumexp:fp32[2,6,3] "
            "dq:fp32[2,6,3,5]! dk:fp32[2,2,4,5]! dv:fp32[2,2,4,7]!");
  EXPECT_EQ(taken("cache_append heads=2 length=3 capacity=9 position=6 head_size=5 from=bf16 to=fp8_e4m3"),
            "x:bf16[1,2,3,5] cache:fp8_e4m3[1,2,9,5]+");
}

TEST(Operands, OfATrainingStepsOwnOps) {
  EXPECT_EQ(taken("gemm m=3 n=4 k=5 a=fp8_e4m3.tensor b=fp8_e4m3.tensor d=bf16 scales=true bias=true"),
            "a:fp8_e4m3.tensor[1,3,5] b:fp8_e4m3.tensor[1,5,4] scale_a:fp32[1] scale_b:fp32[1] bias:bf16[4] "
            "d:bf16[1,3,4]!");
  EXPECT_EQ(taken("sum_squares count=5 format=bf16"), "x:bf16[5] total:fp32[1]!");
  EXPECT_EQ(taken("sum_squares count=5 accumulate=true"), "x:fp32[5] total:fp32[1]+");
  EXPECT_EQ(taken("adam_control"), "total:fp32[1] scalars:fp32[8]+");
  EXPECT_EQ(taken("tensor_scale count=5 from=bf16 to=fp8_e4m3"), "x:bf16[5] scale:fp32[1]!");
  EXPECT_EQ(taken("adamw8 count=130 weight=bf16"),
            "scalars:fp32[8] gradient:fp32[130] master:fp32[130]+ first:fp8_e4m3[130]+ first_scale:fp32[2]+ "
            "second:fp8_e4m3[130]+ second_scale:fp32[2]+ weight:bf16[130]!");
  EXPECT_EQ(taken("cross_entropy rows=2 columns=3 parts=4 scaled=true"),
            "logits:fp32[2,3] targets:int32[2] losses:fp32[2]! dlogits:fp32[2,3]! scalars:fp32[8]");
  EXPECT_EQ(taken("column_sum rows=2 columns=3 accumulate=true"), "x:fp32[2,3] y:fp32[3]+");
  EXPECT_EQ(taken("norm_weights rows=2 columns=3 accumulate=true"),
            "dy:fp32[2,3] x:fp32[2,3] statistics:fp32[2,2] dweight:fp32[3]+");
  EXPECT_EQ(taken("pointwise kind=zero columns=6"), "y:fp32[6]!");
}

TEST(Operands, OfTokensAndHeads) {
  EXPECT_EQ(taken("embedding rows=2 vocabulary=9 columns=3"), "tokens:int32[2] table:fp32[9,3] y:fp32[2,3]!");
  EXPECT_EQ(taken("embedding direction=backward rows=2 vocabulary=9 columns=3"),
            "tokens:int32[2] dy:fp32[2,3] dtable:fp32[9,3]+");
  EXPECT_EQ(taken("rope batch=2 length=5 heads=4 kv_heads=2 head_size=6"),
            "packed:fp32[10,48] table:fp32[5,6] q:fp32[2,4,5,6]! k:fp32[2,2,5,6]! v:fp32[2,2,5,6]!");
  EXPECT_EQ(taken("rope direction=backward batch=2 length=5 heads=4 kv_heads=2 head_size=6 rotate=false"),
            "dq:fp32[2,4,5,6] dk:fp32[2,2,5,6] dv:fp32[2,2,5,6] dpacked:fp32[10,48]!");
  EXPECT_EQ(taken("heads batch=2 length=5 heads=4 head_size=6"), "x:fp32[2,4,5,6] y:fp32[10,24]!");
  EXPECT_EQ(taken("heads direction=backward batch=2 length=5 heads=4 head_size=6"), "dy:fp32[10,24] dx:fp32[2,4,5,6]!");
}

}  // namespace
}  // namespace assay
