// The PTX of the issue-rate kernels: the loop holds the instructions that are meant, and nothing else that takes time.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "tests/run_program.h"

namespace assay {
namespace {

using testing::IsEmpty;

struct Loop {
  std::string kernel;
  int products = 0;
  std::string instruction;          // up to its operands
  std::vector<std::string> others;  // lines that are neither products nor counting
};

std::string trimmed(const std::string& line) {
  const std::size_t first = line.find_first_not_of(" \t");
  return first == std::string::npos ? "" : line.substr(first);
}

// Counting a loop, constants, and what orders wgmma: none of them competes with the matrix unit.
bool is_harmless(const std::string& line) {
  if (line.empty()) return true;
  for (const char* start : {"//", ".pragma", "add.s32", "setp.", "@%p", "mov.b32", "mov.u32", "mov.s32", "wgmma.fence",
                            "wgmma.commit_group", "wgmma.wait_group"}) {
    if (line.rfind(start, 0) == 0) return true;
  }
  return false;
}

// The text between `before` and the next of `until`, or "".
std::string between(const std::string& line, const std::string& before, const char* until) {
  const std::size_t at = line.find(before);
  if (at == std::string::npos) return "";
  const std::size_t from = at + before.size();
  return line.substr(from, line.find_first_of(until, from) - from);
}

// Loops that hold products. PTX labels blocks "$L__BB0_3:"; a loop is a block that branches back to its own label.
std::vector<Loop> loops_with(const std::string& ptx, const std::string& product) {
  std::vector<Loop> found;
  std::istringstream lines(ptx);
  std::string line;
  std::string kernel;
  std::string label;
  Loop loop;
  while (std::getline(lines, line)) {
    line = trimmed(line);
    if (line.find(".entry ") != std::string::npos) kernel = between(line, ".entry ", "( ");
    if (line.rfind("$L__BB", 0) == 0 && line.back() == ':') {
      label = line.substr(0, line.size() - 1);
      loop = Loop{kernel, 0, "", {}};
      continue;
    }
    if (line.rfind(product, 0) == 0) {
      ++loop.products;
      loop.instruction = line.substr(0, line.find_first_of(" {["));
    } else if (!label.empty() && line.find("bra") != std::string::npos && line.find(label + ";") != std::string::npos) {
      if (loop.products > 0) found.push_back(loop);
      label.clear();
    } else if (!is_harmless(line)) {
      loop.others.push_back(line);
    }
  }
  return found;
}

std::string ptx_of(const std::string& source, const std::string& architecture) {
  const TemporaryFolder folder;
  const std::string out = (folder.path() / "kernels.ptx").string();
  const std::string root = ASSAY_SOURCE_DIR;
  const Ended ended = run_program(ASSAY_NVCC,
                                  {"-std=c++17", "-arch=compute_" + architecture, "-ptx", "-I" + root,
                                   "-I" + root + "/cuda", root + "/cuda/" + source, "-o", out},
                                  {}, folder.path());
  EXPECT_EQ(ended.code, 0) << ended.err;
  return read_whole(out);
}

// Instructions of all loops and how many products each holds; whatever else stands in a loop is a failure.
std::map<std::string, int> products_of(const std::string& ptx, const std::string& product) {
  std::map<std::string, int> result;
  for (const Loop& loop : loops_with(ptx, product)) {
    EXPECT_THAT(loop.others, IsEmpty()) << loop.kernel;
    result[loop.instruction] = loop.products;
  }
  return result;
}

TEST(IssuePtx, MmaLoopsHoldSixteenProductsAndNothingElse) {
  const std::map<std::string, int> expected = {
      {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 16},
      {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 16},
      {"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", 16},
      {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", 16},
      {"mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16", 16},
      {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 16},
      {"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", 16},
      {"mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32", 16},
      {"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", 16},
      {"mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32", 16},
      {"mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e4m3.f16", 16},
      {"mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64", 8},
      {"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", 16},
  };
  EXPECT_EQ(products_of(ptx_of("mma_issue.cu", "90"), "mma.sync"), expected);
}

TEST(IssuePtx, WgmmaLoopsHoldEightProductsAndNothingElse) {
  const std::string ptx = ptx_of("wgmma_issue.cu", "90a");
  const std::map<std::string, int> expected = {
      {"wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16", 8},
      {"wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16", 8},
      {"wgmma.mma_async.sync.aligned.m64n256k16.f16.f16.f16", 8},
      {"wgmma.mma_async.sync.aligned.m64n256k8.f32.tf32.tf32", 8},
      {"wgmma.mma_async.sync.aligned.m64n256k32.f32.e4m3.e4m3", 8},
      {"wgmma.mma_async.sync.aligned.m64n256k32.f32.e5m2.e5m2", 8},
      {"wgmma.mma_async.sync.aligned.m64n256k32.f16.e4m3.e4m3", 8},
      {"wgmma.mma_async.sync.aligned.m64n256k32.s32.s8.s8", 8},
  };
  EXPECT_EQ(products_of(ptx, "wgmma.mma_async"), expected);
  EXPECT_EQ(loops_with(ptx, "wgmma.mma_async").size(), 16U);  // each from shared memory and from registers
}

TEST(IssuePtx, Tcgen05LoopsHoldProductsAndNothingElse) {
  const std::string start = "tcgen05.mma.cta_group::1.";
  const std::map<std::string, int> expected = {
      {start + "kind::f16", 8},
      {start + "kind::tf32", 8},
      {start + "kind::f8f6f4", 8},
      {start + "kind::i8", 8},
      {start + "kind::mxf8f6f4.block_scale.scale_vec::1X", 8},
      {start + "kind::mxf4.block_scale.scale_vec::2X", 8},
      {start + "kind::mxf4nvf4.block_scale.scale_vec::4X", 8},
  };
  EXPECT_EQ(products_of(ptx_of("tcgen05_issue.cu", "100a"), "tcgen05.mma"), expected);
}

TEST(IssuePtx, OnSm103ThereIsTheDeeperFp4ProductAndNoInt8) {
  const auto products = products_of(ptx_of("tcgen05_issue.cu", "103a"), "tcgen05.mma");
  EXPECT_EQ(products.count("tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block16"), 1U);
  EXPECT_EQ(products.count("tcgen05.mma.cta_group::1.kind::i8"), 0U);
}

TEST(IssuePtx, BlockScaledMmaLoopsHoldSixteenProductsAndNothingElse) {
  const std::string start = "mma.sync.aligned.";
  const std::map<std::string, int> expected = {
      {start + "kind::f8f6f4.m16n8k32.row.col.f32.e4m3.e4m3.f32", 16},
      {start + "kind::f8f6f4.m16n8k32.row.col.f32.e5m2.e5m2.f32", 16},
      {start + "kind::mxf8f6f4.block_scale.scale_vec::1X.m16n8k32.row.col.f32.e4m3.e4m3.f32.ue8m0", 16},
      {start + "kind::mxf4.block_scale.scale_vec::2X.m16n8k64.row.col.f32.e2m1.e2m1.f32.ue8m0", 16},
      {start + "kind::mxf4nvf4.block_scale.scale_vec::4X.m16n8k64.row.col.f32.e2m1.e2m1.f32.ue4m3", 16},
  };
  EXPECT_EQ(products_of(ptx_of("block_mma_issue.cu", "120a"), "mma.sync"), expected);
}

}  // namespace
}  // namespace assay
