// The catalogue of cards: its figures against published ones, and its names as people and drivers write them.
// SPDX-License-Identifier: Apache-2.0
#include "reports/catalogue.h"

#include <gtest/gtest.h>

#include <set>

#include "core/error.h"

namespace assay {
namespace {

std::string found(const std::string& wanted) { return find_gpu(wanted).name; }

std::string complaint(const std::string& wanted) {
  try {
    find_gpu(wanted);
  } catch (const BadInput& error) {
    return error.what();
  }
  return "";
}

TEST(Catalogue, EveryLineHasANameOfItsOwnAndASource) {
  std::set<std::string> names;
  for (const Gpu& gpu : builtin_gpus()) {
    EXPECT_TRUE(names.insert(gpu.name).second) << gpu.name;
    EXPECT_TRUE(gpu.sources.front().starts_with("http")) << gpu.name;
    EXPECT_EQ(found(gpu.name), gpu.name);
  }
  EXPECT_EQ(names.size(), 70U);
}

TEST(Catalogue, KeepsThePublishedFiguresOfTheH100) {
  // The maker's data sheet: 80 GB, 3.35 TB/s, 989 TFLOP/s BF16 and 1,979 TFLOP/s FP8 without sparsity, 700 W, 900 GB/s
  // NVLink in both directions together.
  const Gpu& gpu = find_gpu("H100 SXM5 80GB");
  EXPECT_EQ(gpu.memory, 80.0 * 1024 * 1024 * 1024);
  EXPECT_EQ(gpu.bandwidth, 3.35e12);
  EXPECT_NEAR(*peak(gpu, Element::bf16), 989e12, 1e12);
  EXPECT_NEAR(*peak(gpu, Element::fp8_e4m3), 1979e12, 1e12);
  EXPECT_EQ(gpu.watts, 700);
  EXPECT_EQ(gpu.link_bandwidth, 450e9);
  EXPECT_EQ(gpu.ecc, Ecc::yes);
  EXPECT_EQ(gpu.kind, GpuClass::server);
  EXPECT_FALSE(peak(gpu, Element::fp4_e2m1).has_value());
}

TEST(Catalogue, CountsTheLanesOfPciExpress) {
  // Fourth generation: 16 GT/s x 16 lanes / 8 bits x 128/130 = 31.5 GB/s each way.
  EXPECT_NEAR(*find_gpu("A100 SXM4 80GB").host_bandwidth, 31.5e9, 0.1e9);
  EXPECT_NEAR(*find_gpu("T4").host_bandwidth, 15.75e9, 0.05e9);
}

TEST(Catalogue, TellsConsumerCardsApart) {
  const Gpu& consumer = find_gpu("rtx 3090");
  EXPECT_EQ(consumer.kind, GpuClass::consumer);
  EXPECT_EQ(consumer.ecc, Ecc::no);
  // GA102 as GeForce sums FP16 products in FP32 at half the rate: 71 against 142 TFLOP/s.
  EXPECT_NEAR(*consumer.fp16_accumulate / *consumer.fp16, 2, 0.01);
  EXPECT_EQ(find_gpu("RTX A6000").kind, GpuClass::workstation);
}

TEST(Catalogue, FindsACardAsPeopleAndDriversWriteIt) {
  EXPECT_EQ(found("h100 sxm"), "H100 SXM5 80GB");
  EXPECT_EQ(found("H100-80GB-SXM"), "H100 SXM5 80GB");
  EXPECT_EQ(found("rtx4090"), "GeForce RTX 4090");
  EXPECT_EQ(found("a100 80 sxm"), "A100 SXM4 80GB");
  EXPECT_EQ(found("mi300x"), "Instinct MI300X");
  ASSERT_NE(recognise_gpu("NVIDIA H200"), nullptr);
  EXPECT_EQ(recognise_gpu("NVIDIA H200")->name, "H200 SXM 141GB");
  EXPECT_EQ(recognise_gpu("NVIDIA H100 80GB HBM3")->name, "H100 SXM5 80GB");
  EXPECT_EQ(recognise_gpu("NVIDIA A100-SXM4-80GB")->name, "A100 SXM4 80GB");
  EXPECT_EQ(recognise_gpu("NVIDIA A100 80GB PCIe")->name, "A100 PCIe 80GB");
  EXPECT_EQ(recognise_gpu("NVIDIA GeForce RTX 3090 Ti")->name, "GeForce RTX 3090 Ti");
  EXPECT_EQ(recognise_gpu("AMD Instinct MI300X"), &find_gpu("MI300X"));
}

TEST(Catalogue, NeverGuessesAMeasuredDevice) {
  EXPECT_EQ(recognise_gpu("NVIDIA H100"), nullptr);
  EXPECT_EQ(recognise_gpu("NVIDIA A10 Prototype"), nullptr);
  EXPECT_EQ(recognise_gpu("Intel(R) Xeon(R) Processor"), nullptr);
  EXPECT_EQ(recognise_gpu("nvidia"), nullptr);
  EXPECT_EQ(recognise_gpu(""), nullptr);
}

TEST(Catalogue, AsksWhichOneWhereSeveralAreMeantAndNamesTheNearestWhereNoneIs) {
  EXPECT_NE(complaint("h100").find("H100 PCIe 80GB"), std::string::npos);
  EXPECT_NE(complaint("h100").find("H100 SXM5 80GB"), std::string::npos);
  EXPECT_NE(complaint("h10O").find("nearest"), std::string::npos) << complaint("h10O");
  EXPECT_NE(complaint("RTX 4909").find("GeForce RTX 4090"), std::string::npos) << complaint("RTX 4909");
  EXPECT_NE(complaint("").find("nearest"), std::string::npos);
  EXPECT_EQ(complaint("\x1b[31m").find('\x1b'), std::string::npos);
}

TEST(Catalogue, RefusesALineThatIsNotWhole) {
  const std::string head =
      "name,aliases,vendor,class,architecture,capability,year,memory_gib,memory_kind,bandwidth_gb_s,fp64,fp64_matrix,"
      "fp32,"
      "tf32,fp16,bf16,fp8,int8,fp4,fp16_accumulate,units,boost_mhz,cache_mib,watts,host_link,link,link_gb_s,ecc,form,"
      "confidence,source\n";
  EXPECT_THROW(parse_gpus(head + "X,,V,server,a,1.0\n"), Error);  // too few cells
  const std::string cells = "X,,V,server,a,1.0,2020,8,M,100,,,,,1,1,,,,,1,1,1,1,4.0 x16,,,yes,card,A,";
  EXPECT_EQ(parse_gpus(head + cells + "https://a b\n").size(), 1U);
  EXPECT_THROW(parse_gpus(head + cells + "\n"), Error);  // no source
}

}  // namespace
}  // namespace assay
