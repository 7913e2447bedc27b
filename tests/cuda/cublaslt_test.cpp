// Matrix products in cuBLASLt's terms. Descriptors are made by the real library where it is found: that needs no
// device. SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "core/error.h"
#include "cuda/cublaslt_api.h"
#include "cuda/cublaslt_descriptors.h"
#include "cuda/cublaslt_gemm.h"
#include "cuda/cublaslt_names.h"
#include "cuda/cublaslt_problem.h"
#include "gpu/matrix.h"
#include "tests/machine_root.h"

namespace vendor {
namespace {

using assay::Activation;
using assay::Element;
using assay::Format;
using assay::Gemm;
using assay::MachineRoot;
using assay::Scaling;
using testing::HasSubstr;

constexpr std::size_t version_13 = 130100;
constexpr std::int64_t m = 256;
constexpr std::int64_t n = 512;
constexpr std::int64_t k = 128;

Gemm gemm_of(Element element, Scaling scaling, Element d, Element accumulate) {
  Gemm gemm;
  gemm.m = m;
  gemm.n = n;
  gemm.k = k;
  gemm.a = gemm.b = {element, scaling};
  gemm.d = {d, Scaling::none};
  gemm.accumulate = accumulate;
  return gemm;
}

Gemm bf16() { return gemm_of(Element::bf16, Scaling::none, Element::bf16, Element::fp32); }

Gemm along_k(Gemm gemm) {
  gemm.transpose_b = true;
  return gemm;
}

Gemm fp8() { return along_k(gemm_of(Element::fp8_e4m3, Scaling::tensor, Element::bf16, Element::fp32)); }
Gemm int8() { return along_k(gemm_of(Element::int8, Scaling::none, Element::int32, Element::int32)); }
Gemm mxfp8() { return along_k(gemm_of(Element::fp8_e4m3, Scaling::block32_ue8m0, Element::bf16, Element::fp32)); }
Gemm nvfp4() { return along_k(gemm_of(Element::fp4_e2m1, Scaling::block16_e4m3, Element::bf16, Element::fp32)); }

bool possible(const Gemm& gemm, int architecture) { return cublaslt_possible(gemm, architecture, version_13).yes; }
std::string reason(const Gemm& gemm, int architecture) {
  return cublaslt_possible(gemm, architecture, version_13).reason;
}

TEST(CublasLtProblem, TakesOurOperandsInTheOtherOrder) {
  // Row-major D [m, n] is column-major [n, m]; its first operand is our B, [k, n] row-major, so [n, k] column-major.
  const CublasLtProblem problem = cublaslt_problem(bf16());
  EXPECT_EQ(problem.operation_a, CUBLAS_OP_N);
  EXPECT_EQ(problem.operation_b, CUBLAS_OP_N);
  EXPECT_EQ(problem.a.rows, 512U);
  EXPECT_EQ(problem.a.columns, 128U);
  EXPECT_EQ(problem.a.leading, 512);
  EXPECT_EQ(problem.b.rows, 128U);
  EXPECT_EQ(problem.b.columns, 256U);
  EXPECT_EQ(problem.b.leading, 128);
  EXPECT_EQ(problem.d.rows, 512U);
  EXPECT_EQ(problem.d.columns, 256U);
  EXPECT_EQ(problem.d.leading, 512);
}

TEST(CublasLtProblem, TransposesAreThoseOfTheSwappedOperands) {
  Gemm gemm = bf16();
  gemm.transpose_b = true;  // B is [n, k]: column-major [k, n], to be transposed
  CublasLtProblem problem = cublaslt_problem(gemm);
  EXPECT_EQ(problem.operation_a, CUBLAS_OP_T);
  EXPECT_EQ(problem.operation_b, CUBLAS_OP_N);
  EXPECT_EQ(problem.a.rows, 128U);
  EXPECT_EQ(problem.a.columns, 512U);
  gemm.transpose_b = false;
  gemm.transpose_a = true;  // A is [k, m]: column-major [m, k]
  problem = cublaslt_problem(gemm);
  EXPECT_EQ(problem.operation_a, CUBLAS_OP_N);
  EXPECT_EQ(problem.operation_b, CUBLAS_OP_T);
  EXPECT_EQ(problem.b.rows, 256U);
  EXPECT_EQ(problem.b.columns, 128U);
}

TEST(CublasLtProblem, BatchesLieOneAfterTheOther) {
  Gemm gemm = bf16();
  gemm.batch = 3;
  const CublasLtProblem problem = cublaslt_problem(gemm);
  EXPECT_EQ(problem.batch, 3);
  EXPECT_EQ(problem.a.batch_stride, 512 * 128);
  EXPECT_EQ(problem.b.batch_stride, 128 * 256);
  EXPECT_EQ(problem.d.batch_stride, 512 * 256);
}

TEST(CublasLtProblem, EpiloguesHaveBiasAndActivation) {
  Gemm gemm = bf16();
  EXPECT_EQ(cublaslt_problem(gemm).epilogue, CUBLASLT_EPILOGUE_DEFAULT);
  gemm.activation = Activation::relu;
  EXPECT_EQ(cublaslt_problem(gemm).epilogue, CUBLASLT_EPILOGUE_RELU);
  gemm.bias = true;
  EXPECT_EQ(cublaslt_problem(gemm).epilogue, CUBLASLT_EPILOGUE_RELU_BIAS);
  gemm.activation = Activation::gelu;
  EXPECT_EQ(cublaslt_problem(gemm).epilogue, CUBLASLT_EPILOGUE_GELU_BIAS);
  gemm.activation = Activation::none;
  EXPECT_EQ(cublaslt_problem(gemm).epilogue, CUBLASLT_EPILOGUE_BIAS);
}

TEST(CublasLtProblem, TrueFp32AndTf32AreDifferentProducts) {
  const Gemm fp32 = gemm_of(Element::fp32, Scaling::none, Element::fp32, Element::fp32);
  const Gemm tf32 = gemm_of(Element::tf32, Scaling::none, Element::fp32, Element::fp32);
  EXPECT_EQ(cublaslt_problem(fp32).arithmetic.compute, CUBLAS_COMPUTE_32F);
  EXPECT_EQ(cublaslt_problem(tf32).arithmetic.compute, CUBLAS_COMPUTE_32F_FAST_TF32);
  EXPECT_EQ(cublaslt_problem(fp32).a.type, CUDA_R_32F);
  EXPECT_EQ(cublaslt_problem(tf32).a.type, CUDA_R_32F);
}

TEST(CublasLtProblem, AlphaHasTheTypeOfTheAccumulator) {
  EXPECT_EQ(arithmetic(int8()).scale, CUDA_R_32I);
  EXPECT_EQ(arithmetic(gemm_of(Element::fp64, Scaling::none, Element::fp64, Element::fp64)).scale, CUDA_R_64F);
  EXPECT_EQ(arithmetic(gemm_of(Element::fp16, Scaling::none, Element::fp16, Element::fp16)).scale, CUDA_R_16F);
  EXPECT_EQ(arithmetic(fp8()).scale, CUDA_R_32F);
  const ScaleValue half = scale_value(CUDA_R_16F, 1);  // 0x3C00 is 1 in FP16
  EXPECT_EQ(half.bytes[0], 0x00);
  EXPECT_EQ(half.bytes[1], 0x3C);
  const ScaleValue single = scale_value(CUDA_R_32F, 0.125);  // 0x3E000000
  EXPECT_EQ(single.bytes[3], 0x3E);
  EXPECT_EQ(single.bytes[2], 0x00);
}

TEST(CublasLtProblem, BlockScalesAreOnesPaddedToTilesOf128By4) {
  // K 128 in blocks of 32: 4 scales a row, one tile wide. Our B has 512 rows, our A 256.
  const CublasLtProblem eight = cublaslt_problem(mxfp8());
  EXPECT_EQ(eight.block_scales_a.bytes, 512 * 4);
  EXPECT_EQ(eight.block_scales_b.bytes, 256 * 4);
  EXPECT_EQ(eight.block_scales_a.one, 0x7F);
  // In blocks of 16: 8 scales a row.
  EXPECT_EQ(cublaslt_problem(nvfp4()).block_scales_b.bytes, 256 * 8);
  EXPECT_EQ(cublaslt_problem(nvfp4()).block_scales_b.one, 0x38);
  EXPECT_EQ(tiled_scale_bytes(1, 32, 32), 128 * 4);
  EXPECT_EQ(tiled_scale_bytes(129, 160, 32), 256 * 8);  // 5 scales a row need two tiles
}

TEST(CublasLtProblem, ScaleTilesHoldFourRowsInEachLineOf16Bytes) {
  EXPECT_EQ(tiled_scale_offset(0, 0, 8), 0);
  EXPECT_EQ(tiled_scale_offset(1, 0, 8), 16);
  EXPECT_EQ(tiled_scale_offset(32, 0, 8), 4);
  EXPECT_EQ(tiled_scale_offset(96, 3, 8), 15);
  EXPECT_EQ(tiled_scale_offset(0, 4, 8), 512);     // the next tile along K
  EXPECT_EQ(tiled_scale_offset(128, 0, 8), 1024);  // two tiles a row of tiles
  std::set<std::int64_t> seen;
  for (std::int64_t row = 0; row < 256; ++row) {
    for (std::int64_t block = 0; block < 8; ++block) seen.insert(tiled_scale_offset(row, block, 8));
  }
  EXPECT_EQ(seen.size(), 2048U);
  EXPECT_EQ(*seen.rbegin(), 2047);
}

TEST(CublasLtPossible, FormatsDependOnTheArchitecture) {
  EXPECT_FALSE(possible(bf16(), 75));
  EXPECT_TRUE(possible(bf16(), 80));
  EXPECT_FALSE(possible(fp8(), 80));
  EXPECT_TRUE(possible(fp8(), 89));
  EXPECT_FALSE(possible(mxfp8(), 90));
  EXPECT_TRUE(possible(mxfp8(), 100));
  EXPECT_TRUE(possible(nvfp4(), 120));
  EXPECT_THAT(reason(fp8(), 80), HasSubstr("sm_89"));
  EXPECT_THAT(reason(nvfp4(), 90), HasSubstr("Blackwell"));
}

TEST(CublasLtPossible, Fp8LiesAlongKButOnDataCentreBlackwell) {
  Gemm gemm = fp8();
  gemm.transpose_b = false;
  EXPECT_FALSE(possible(gemm, 90));
  EXPECT_FALSE(possible(gemm, 120));
  EXPECT_TRUE(possible(gemm, 100));
  EXPECT_THAT(reason(gemm, 90), HasSubstr("transpose_b"));
}

TEST(CublasLtPossible, TwoE5m2OperandsAreRefused) {
  Gemm gemm = fp8();
  gemm.a.element = Element::fp8_e5m2;
  EXPECT_TRUE(possible(gemm, 90));
  gemm.b.element = Element::fp8_e5m2;
  EXPECT_FALSE(possible(gemm, 90));
}

TEST(CublasLtPossible, Int8HasNeitherAlphaNorEpilogue) {
  EXPECT_TRUE(possible(int8(), 80));
  Gemm gemm = int8();
  gemm.alpha = 0.5;
  EXPECT_FALSE(possible(gemm, 80));
  gemm = int8();
  gemm.bias = true;
  EXPECT_FALSE(possible(gemm, 80));
}

TEST(CublasLtPossible, FnuzAndGroupScalesAreNotNvidias) {
  EXPECT_FALSE(possible(along_k(gemm_of(Element::fp8_e4m3_fnuz, Scaling::tensor, Element::bf16, Element::fp32)), 90));
  EXPECT_FALSE(possible(along_k(gemm_of(Element::fp8_e4m3, Scaling::group128, Element::bf16, Element::fp32)), 90));
}

TEST(CublasLtPossible, BlockScalesNeedANewLibrary) {
  EXPECT_TRUE(cublaslt_possible(mxfp8(), 100, 120800).yes);
  EXPECT_FALSE(cublaslt_possible(mxfp8(), 100, 120600).yes);
}

TEST(CublasLtApi, VersionsAreReadAndOldAndUnknownOnesRefused) {
  EXPECT_EQ(cublaslt_version_text(130100), "13.1.0");
  EXPECT_EQ(cublaslt_version_text(120304), "12.3.4");
  EXPECT_EQ(cublaslt_refusal(130100), "");
  EXPECT_EQ(cublaslt_refusal(120800), "");
  EXPECT_EQ(cublaslt_refusal(111103), "");
  EXPECT_THAT(cublaslt_refusal(111000), HasSubstr("11.10.0"));
  EXPECT_THAT(cublaslt_refusal(140000), HasSubstr("newer"));
}

TEST(CublasLtApi, AFileThatIsNoLibraryIsPassedOverWithAReason) {
  MachineRoot root;
  root.file("libcublasLt.so.13", "not a library");
  const CublasLtOpened opened = open_cublaslt({(root.path() / "libcublasLt.so.13").string(), "libdoesnotexist.so"});
  EXPECT_EQ(opened.api, nullptr);
  ASSERT_EQ(opened.refused.size(), 1U);
  EXPECT_THAT(opened.refused[0], HasSubstr("libcublasLt.so.13"));
}

TEST(CublasLtApi, ALibraryWithoutTheFunctionsIsPassedOver) {
  const CublasLtOpened opened = open_cublaslt({"libm.so.6"});
  EXPECT_EQ(opened.api, nullptr);
  ASSERT_EQ(opened.refused.size(), 1U);
  EXPECT_THAT(opened.refused[0], HasSubstr("cublasLtGetVersion"));
}

TEST(MatrixLibrary, WithoutALibraryAFactSaysWhatToInstall) {
  const MachineRoot root;
  setenv("ASSAY_CUBLASLT", root.path().c_str(), 1);
  const auto library = open_matrix_library(root.path());
  unsetenv("ASSAY_CUBLASLT");
  const auto facts = library->facts();
  ASSERT_EQ(facts.size(), 1U);
  EXPECT_EQ(facts[0].name, "cublaslt");
  EXPECT_EQ(facts[0].text, "");
  EXPECT_THAT(facts[0].reason, HasSubstr("ASSAY_CUBLASLT"));
  EXPECT_THAT(facts[0].reason, HasSubstr("pip install"));
}

TEST(CublasLtNames, NumbersBecomeTheHeadersNames) {
  EXPECT_EQ(algorithm_text({21, CUBLASLT_MATMUL_TILE_128x256, CUBLASLT_MATMUL_STAGES_64x3, 1, 0}),
            "algo 21 tile 128x256 stages 64x3");
  EXPECT_EQ(
      algorithm_text({66, CUBLASLT_MATMUL_TILE_8x8, CUBLASLT_MATMUL_STAGES_128xAUTO, 4, CUBLASLT_CLUSTER_SHAPE_2x1x1}),
      "algo 66 tile 8x8 stages 128xAUTO splitk 4 cluster 2x1x1");
  EXPECT_EQ(algorithm_text({1, CUBLASLT_MATMUL_TILE_64x768, 0, 0, 0}), "algo 1 tile 64x768");
  EXPECT_EQ(algorithm_text({1, 5000, 0, 0, 0}), "algo 1 tile number 5000");
}

TEST(CublasLtGemm, FlagsOfAnAlgorithmSayWhatMultiplies) {
  NumericalKind kind = numerical_kind(CUBLASLT_NUMERICAL_IMPL_FLAGS_HMMA | CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_TF32 |
                                      CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_32F);
  EXPECT_EQ(kind.multiplies, "tf32");
  EXPECT_EQ(kind.adds, "fp32");
  kind = numerical_kind(0);
  EXPECT_EQ(kind.multiplies, "");
  kind = numerical_kind(CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_8F_E4M3 | CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_8F_E5M2);
  EXPECT_EQ(kind.multiplies, "");  // two kinds: it does not say which
}

TEST(CublasLtGemm, TheEnvironmentsChangesOfArithmeticAreNoted) {
  const auto environment = [](const char* name) -> std::optional<std::string> {
    if (std::string(name) == "NVIDIA_TF32_OVERRIDE") return "1";
    if (std::string(name) == "CUBLAS_EMULATE_DOUBLE_PRECISION") return "1";
    return std::nullopt;
  };
  const Gemm fp32 = gemm_of(Element::fp32, Scaling::none, Element::fp32, Element::fp32);
  const Gemm fp64 = gemm_of(Element::fp64, Scaling::none, Element::fp64, Element::fp64);
  EXPECT_THAT(arithmetic_note(fp32, environment), HasSubstr("NVIDIA_TF32_OVERRIDE=1"));
  EXPECT_THAT(arithmetic_note(fp64, environment), HasSubstr("CUBLAS_EMULATE_DOUBLE_PRECISION=1"));
  EXPECT_EQ(arithmetic_note(bf16(), environment), "");
}

TEST(CublasLtGemm, WorkspaceIsWhatNvidiaRecommends) {
  EXPECT_EQ(recommended_workspace(80), 4194304);
  EXPECT_EQ(recommended_workspace(90), 33554432);
}

// With the library that is really here.
class CublasLtReal : public testing::Test {
 protected:
  void SetUp() override {
    api_ = open_cublaslt(cublaslt_candidates("/", process_environment())).api;
    if (api_ == nullptr) GTEST_SKIP() << "no cuBLASLt on this machine";
  }

  template <class Value>
  Value read(const CublasLtDescriptors& descriptors, cublasLtMatmulDescAttributes_t attribute) {
    Value value{};
    std::size_t written = 0;
    EXPECT_EQ(api_->description_get(descriptors.operation(), attribute, &value, sizeof value, &written),
              CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(written, sizeof value);
    return value;
  }

  template <class Value>
  Value read(cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t attribute) {
    Value value{};
    std::size_t written = 0;
    EXPECT_EQ(api_->layout_get(layout, attribute, &value, sizeof value, &written), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(written, sizeof value);
    return value;
  }

  std::shared_ptr<const CublasLtApi> api_;
};

TEST_F(CublasLtReal, HoldsWhatWasDescribed) {
  Gemm gemm = fp8();
  gemm.batch = 2;
  gemm.bias = true;
  gemm.activation = Activation::gelu;
  const auto* somewhere = reinterpret_cast<const std::byte*>(0x1000);
  const CublasLtDescriptors made(api_, cublaslt_problem(gemm), {somewhere, somewhere + 256, somewhere + 512});
  EXPECT_EQ(read<std::int32_t>(made, CUBLASLT_MATMUL_DESC_TRANSA), CUBLAS_OP_T);
  EXPECT_EQ(read<std::int32_t>(made, CUBLASLT_MATMUL_DESC_TRANSB), CUBLAS_OP_N);
  EXPECT_EQ(read<std::int32_t>(made, CUBLASLT_MATMUL_DESC_COMPUTE_TYPE), CUBLAS_COMPUTE_32F);
  EXPECT_EQ(read<std::int32_t>(made, CUBLASLT_MATMUL_DESC_SCALE_TYPE), CUDA_R_32F);
  EXPECT_EQ(read<std::uint32_t>(made, CUBLASLT_MATMUL_DESC_EPILOGUE), CUBLASLT_EPILOGUE_GELU_BIAS);
  EXPECT_EQ(read<const void*>(made, CUBLASLT_MATMUL_DESC_BIAS_POINTER), somewhere);
  EXPECT_EQ(read<std::int32_t>(made, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE), CUDA_R_16BF);
  EXPECT_EQ(read<const void*>(made, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER), somewhere + 256);
  EXPECT_EQ(read<const void*>(made, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER), somewhere + 512);
  EXPECT_EQ(read<std::uint64_t>(made.a(), CUBLASLT_MATRIX_LAYOUT_ROWS), 128U);  // k of our B
  EXPECT_EQ(read<std::uint64_t>(made.a(), CUBLASLT_MATRIX_LAYOUT_COLS), 512U);
  EXPECT_EQ(read<std::int64_t>(made.a(), CUBLASLT_MATRIX_LAYOUT_LD), 128);
  EXPECT_EQ(read<std::uint32_t>(made.a(), CUBLASLT_MATRIX_LAYOUT_TYPE), CUDA_R_8F_E4M3);
  EXPECT_EQ(read<std::int32_t>(made.d(), CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT), 2);
  EXPECT_EQ(read<std::int64_t>(made.d(), CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET), 512 * 256);
}

TEST_F(CublasLtReal, TakesEveryFormat) {
  for (const Gemm& gemm : {bf16(), fp8(), int8(), gemm_of(Element::fp64, Scaling::none, Element::fp64, Element::fp64),
                           gemm_of(Element::fp32, Scaling::none, Element::fp32, Element::fp32),
                           gemm_of(Element::tf32, Scaling::none, Element::fp32, Element::fp32),
                           gemm_of(Element::fp16, Scaling::none, Element::fp16, Element::fp16)}) {
    EXPECT_NO_THROW(CublasLtDescriptors(api_, cublaslt_problem(gemm), {})) << assay::text(gemm.a);
  }
}

#if CUBLAS_VERSION >= 120800
TEST_F(CublasLtReal, TakesBlockScales) {
  if (api_->version < 120800) GTEST_SKIP() << "cuBLASLt " << cublaslt_version_text(api_->version) << " has none";
  const auto* somewhere = reinterpret_cast<const std::byte*>(0x1000);
  const CublasLtDescriptors eight(api_, cublaslt_problem(mxfp8()), {nullptr, somewhere, somewhere});
  EXPECT_EQ(read<std::int32_t>(eight, CUBLASLT_MATMUL_DESC_A_SCALE_MODE), CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0);
  const CublasLtDescriptors four(api_, cublaslt_problem(nvfp4()), {nullptr, somewhere, somewhere});
  EXPECT_EQ(read<std::int32_t>(four, CUBLASLT_MATMUL_DESC_B_SCALE_MODE), CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3);
}
#endif

TEST_F(CublasLtReal, SaysWhatAlgorithmsMayUse) {
  CublasLtLimits limits;
  limits.workspace = 1234567;
  limits.alignment_d = 16;
  const CublasLtPreference made(api_, limits);
  std::uint64_t workspace = 0;
  std::uint32_t alignment = 0;
  std::size_t written = 0;
  api_->preference_get(made.get(), CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace, sizeof workspace, &written);
  api_->preference_get(made.get(), CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, &alignment, sizeof alignment, &written);
  EXPECT_EQ(workspace, 1234567U);
  EXPECT_EQ(alignment, 16U);
}

TEST_F(CublasLtReal, ARefusedStatusBecomesTheRightException) {
  EXPECT_NO_THROW(check(*api_, CUBLAS_STATUS_SUCCESS, "multiplying"));
  EXPECT_THROW(check(*api_, CUBLAS_STATUS_NOT_SUPPORTED, "multiplying"), assay::Unsupported);
  EXPECT_THROW(check(*api_, CUBLAS_STATUS_ALLOC_FAILED, "multiplying"), assay::OutOfMemory);
  EXPECT_THROW(check(*api_, CUBLAS_STATUS_EXECUTION_FAILED, "multiplying"), assay::Error);
}

}  // namespace
}  // namespace vendor
