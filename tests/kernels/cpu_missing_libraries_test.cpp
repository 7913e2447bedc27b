// The CPU plug-in on a machine without math libraries, and the choice of OpenBLAS's kernels.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>

#include "core/error.h"
#include "kernels/cpu/backend.h"
#include "tests/kernels/check_op.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

const char* const core_type = "OPENBLAS_CORETYPE";

cpu::BackendSetup without(bool onednn, bool openblas) {
  cpu::BackendSetup setup;
  if (onednn) {
    setup.libraries.onednn = {"libassay-test-no-such-dnnl.so.2"};
  }
  if (openblas) {
    setup.libraries.openblas = {"/no/such/folder/libopenblas.so.0", "libassay-test-no-such-blas.so"};
  }
  return setup;
}

TEST(CpuMissingLibraries, AreNamedTogetherWithThePackageThatBringsThem) {
  const auto backend = cpu::make_backend(without(true, true));
  const Support bf16 = backend->supports(parse_op("gemm m=8 n=8 k=8 a=bf16 b=bf16 d=bf16"), 0);
  EXPECT_FALSE(bf16.yes);
  EXPECT_THAT(bf16.reason, HasSubstr("oneDNN is not there"));
  EXPECT_THAT(bf16.reason, HasSubstr("libdnnl"));
  const Support fp64 = backend->supports(parse_op("gemm m=8 n=8 k=8 a=fp64 b=fp64 d=fp64 accumulate=fp64"), 0);
  EXPECT_FALSE(fp64.yes);
  EXPECT_THAT(fp64.reason, HasSubstr("OpenBLAS is not there"));
  EXPECT_THAT(fp64.reason, HasSubstr("libopenblas0-openmp"));
}

TEST(CpuMissingLibraries, MakePreparingASkipAndNotACrash) {
  const auto backend = cpu::make_backend(without(true, true));
  EXPECT_THROW(backend->prepare(single(parse_op("gemm m=8 n=8 k=8 a=fp32 b=fp32 d=fp32")), 0, {}), Unsupported);
}

TEST(CpuMissingLibraries, LeaveEverythingElseWorking) {
  const auto backend = cpu::make_backend(without(true, true));
  EXPECT_EQ(backend->devices().size(), 1U);
  expect_right(*backend, "stream kind=triad count=1000 format=fp32", Pattern::exact);
}

TEST(CpuMissingLibraries, LeaveFp32ToOpenBlasWhereOnlyOneDnnIsMissing) {
  const auto backend = cpu::make_backend(without(true, false));
  for (const char* extra : {"", " bias=true activation=gelu", " transpose_a=true beta=1"}) {
    expect_right(*backend, std::string("gemm m=21 n=33 k=13 a=fp32 b=fp32 d=fp32") + extra, Pattern::typical);
  }
  const auto program = backend->prepare(single(parse_op("gemm m=8 n=8 k=8 a=fp32 b=fp32 d=fp32 bias=true")), 0, {});
  EXPECT_THAT(program->choice().method, ::testing::MatchesRegex("openblas .* \\+ own bias"));
}

TEST(CpuMissingLibraries, ShowInTheDiagnosisWhatWasLookedUp) {
  const auto backend = cpu::make_backend(without(true, true));
  std::string all;
  for (const Fact& fact : backend->diagnosis()) {
    all += fact.name + ": " + fact.text + " " + fact.reason + "\n";
  }
  EXPECT_THAT(all, HasSubstr("libassay-test-no-such-dnnl.so.2"));
  EXPECT_THAT(all, HasSubstr("libassay-test-no-such-blas.so"));
}

// Puts the variable back as it was.
class CoreTypeVariable : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const char* value = std::getenv(core_type)) {
      before_ = value;
    }
    unsetenv(core_type);
  }
  void TearDown() override {
    if (before_) {
      setenv(core_type, before_->c_str(), 1);
    } else {
      unsetenv(core_type);
    }
  }

 private:
  std::optional<std::string> before_;
};

TEST_F(CoreTypeVariable, FollowsTheInstructionSet) {
  cpu::Features features;
  EXPECT_EQ(cpu::openblas_core_type(features), "");
  features.avx2_fma = true;
  features.vendor = "GenuineIntel";
  EXPECT_EQ(cpu::openblas_core_type(features), "Haswell");
  features.vendor = "AuthenticAMD";
  EXPECT_EQ(cpu::openblas_core_type(features), "Zen");
  features.avx512 = true;
  EXPECT_EQ(cpu::openblas_core_type(features), "SkylakeX");
}

// The two tests below load the real library, which reads the variable once in a process; so each is its own program run
// by CTest only in part. Here it is enough that nothing is left behind.
TEST_F(CoreTypeVariable, IsGoneAgainWhenTheLibraryIsLoaded) {
  const cpu::OpenBlas openblas;
  EXPECT_EQ(std::getenv(core_type), nullptr);
}

TEST_F(CoreTypeVariable, OfTheUserIsHonouredAndNamedAlsoWhenItIsEmpty) {
  setenv(core_type, "", 1);
  const cpu::OpenBlas openblas;
  ASSERT_NE(std::getenv(core_type), nullptr);
  EXPECT_THAT(openblas.note(), HasSubstr("OPENBLAS_CORETYPE was set to \"\" by the user"));
}

}  // namespace
}  // namespace assay
