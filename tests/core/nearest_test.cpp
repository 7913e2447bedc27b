// Names that are nearly right.
// SPDX-License-Identifier: Apache-2.0
#include "core/nearest.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(Nearest, CountsInsertionsDeletionsReplacementsAndSwaps) {
  EXPECT_EQ(edit_distance("gemm", "gemm"), 0U);
  EXPECT_EQ(edit_distance("gem", "gemm"), 1U);
  EXPECT_EQ(edit_distance("gemmm", "gemm"), 1U);
  EXPECT_EQ(edit_distance("gexm", "gemm"), 1U);
  EXPECT_EQ(edit_distance("egmm", "gemm"), 1U);
  EXPECT_EQ(edit_distance("GEMM", "gemm"), 0U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);  // the usual example: k-s, e-i, +g
  EXPECT_EQ(edit_distance("", "abc"), 3U);
}

TEST(Nearest, GivesTheNearestFirstAndNothingThatIsFar) {
  const std::vector<std::string> names{"llama-3-70b", "llama-3-8b", "gpt-2"};
  EXPECT_EQ(nearest("llama-3-9b", names, 2), (std::vector<std::string>{"llama-3-8b", "llama-3-70b"}));
  EXPECT_EQ(nearest("llama-3-9b", names), (std::vector<std::string>{"llama-3-8b"}));
  EXPECT_EQ(nearest("gpt", names), (std::vector<std::string>{"gpt-2"}));  // a beginning is near
  EXPECT_TRUE(nearest("zzzzzz", names).empty());
  EXPECT_TRUE(nearest("", names).empty());
  EXPECT_TRUE(nearest(std::string(100000, 'x'), names).empty());
}

TEST(Nearest, EndsAMessage) {
  EXPECT_EQ(did_you_mean("gem", {"gemm"}), ", did you mean 'gemm'?");
  EXPECT_EQ(did_you_mean("zzz", {"gemm"}), "");
}

}  // namespace
}  // namespace assay
