// Where cuBLASLt is looked for, over made-up folders.
// SPDX-License-Identifier: Apache-2.0
#include "cuda/cublaslt_places.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/machine_root.h"

namespace vendor {
namespace {

using assay::MachineRoot;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Environment variables(std::map<std::string, std::string> values) {
  return [values](const char* name) -> std::optional<std::string> {
    const auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional<std::string>(found->second);
  };
}

std::string below(const MachineRoot& root, const std::string& path) { return (root.path() / path).string(); }

TEST(CublasLtPlaces, AnEmptyMachineLeavesTheLoadersNames) {
  const MachineRoot root;
  EXPECT_THAT(cublaslt_candidates(root.path(), variables({})),
              ElementsAre("libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"));
}

TEST(CublasLtPlaces, ComeInTheOrderLoaderToolkitOptPython) {
  MachineRoot root;
  root.file("usr/lib/python3/dist-packages/nvidia/cublas/lib/libcublasLt.so.12", "");
  root.file("opt/cuda/lib64/libcublasLt.so.13", "");
  root.file("usr/local/cuda/lib64/libcublasLt.so.13", "");
  EXPECT_THAT(cublaslt_candidates(root.path(), variables({})),
              ElementsAre("libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so",
                          below(root, "usr/local/cuda/lib64/libcublasLt.so.13"),
                          below(root, "opt/cuda/lib64/libcublasLt.so.13"),
                          below(root, "usr/lib/python3/dist-packages/nvidia/cublas/lib/libcublasLt.so.12")));
}

TEST(CublasLtPlaces, AGivenFileIsTheOnlyOne) {
  MachineRoot root;
  root.file("usr/local/cuda/lib64/libcublasLt.so.13", "");
  EXPECT_THAT(cublaslt_candidates(root.path(), variables({{"ASSAY_CUBLASLT", "/some/libcublasLt.so.12"}})),
              ElementsAre("/some/libcublasLt.so.12"));
}

TEST(CublasLtPlaces, AGivenFolderGivesItsNewestFirst) {
  MachineRoot root;
  root.file("mine/libcublasLt.so.12", "");
  root.file("mine/libcublasLt.so.13", "");
  EXPECT_THAT(cublaslt_candidates(root.path(), variables({{"ASSAY_CUBLASLT", below(root, "mine")}})),
              ElementsAre(below(root, "mine/libcublasLt.so.13"), below(root, "mine/libcublasLt.so.12")));
}

TEST(CublasLtPlaces, AGivenFolderWithoutItGivesNothing) {
  MachineRoot root;
  root.file("mine/other.so", "");
  EXPECT_THAT(cublaslt_candidates(root.path(), variables({{"ASSAY_CUBLASLT", below(root, "mine")}})), IsEmpty());
}

TEST(CublasLtPlaces, TheNewerOfTwoToolkitsComesFirst) {
  MachineRoot root;
  root.file("usr/local/cuda-12.9/lib64/libcublasLt.so.12", "");
  root.file("usr/local/cuda-12.10/lib64/libcublasLt.so.12", "");  // 10 is newer than 9, though not by letters
  const auto found = cublaslt_candidates(root.path(), variables({}));
  ASSERT_EQ(found.size(), 5U);
  EXPECT_THAT(found[3], HasSubstr("cuda-12.10"));
  EXPECT_THAT(found[4], HasSubstr("cuda-12.9"));
}

TEST(CublasLtPlaces, WheelsOfBothMajorVersionsAreFoundInTheActiveEnvironment) {
  MachineRoot root;
  root.file("venv/lib/python3.11/site-packages/nvidia/cublas/lib/libcublasLt.so.12", "");
  root.file("venv/lib/python3.11/site-packages/nvidia/cu13/lib/libcublasLt.so.13", "");
  const auto found = cublaslt_candidates("/nowhere", variables({{"VIRTUAL_ENV", below(root, "venv")}}));
  ASSERT_EQ(found.size(), 5U);
  EXPECT_THAT(found[3], HasSubstr("nvidia/cu13/lib/libcublasLt.so.13"));
  EXPECT_THAT(found[4], HasSubstr("nvidia/cublas/lib/libcublasLt.so.12"));
}

TEST(CublasLtPlaces, UserPackagesAndCondaCount) {
  MachineRoot root;
  root.file("home/.local/lib/python3.12/site-packages/nvidia/cublas/lib/libcublasLt.so.12", "");
  root.file("conda/lib/libcublasLt.so.12", "");
  const auto found = cublaslt_candidates(
      "/nowhere", variables({{"HOME", below(root, "home")}, {"CONDA_PREFIX", below(root, "conda")}}));
  EXPECT_THAT(found, Contains(below(root,
                                    "home/.local/lib/python3.12/site-packages/nvidia/cublas/lib/"
                                    "libcublasLt.so.12")));
  EXPECT_THAT(found, Contains(below(root, "conda/lib/libcublasLt.so.12")));
}

TEST(CublasLtPlaces, NothingIsNamedTwice) {
  MachineRoot root;
  root.file("usr/local/cuda/lib64/libcublasLt.so.13", "");
  const auto found = cublaslt_candidates(root.path(), variables({{"CUDA_HOME", below(root, "usr/local/cuda")},
                                                                 {"CUDA_PATH", below(root, "usr/local/cuda")}}));
  EXPECT_EQ(found.size(), 4U);
}

}  // namespace
}  // namespace vendor
