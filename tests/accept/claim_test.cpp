// Claims in the words of offers, and what is refused.
// SPDX-License-Identifier: Apache-2.0
#include "reports/accept/claim.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr double gib = 1024.0 * 1024 * 1024;

std::string complaint(const std::string& text) {
  try {
    parse_claim(text);
  } catch (const BadInput& error) {
    return error.what();
  }
  return "";
}

TEST(Claim, ReadsAWholeOffer) {
  const Claim claim =
      parse_claim("8x H100 SXM 80GB, 2 TB NVMe, 26 vCPU, 240 GB RAM, NVLink, PCIe Gen5 x16, 2.49 USD/h");
  EXPECT_EQ(claim.devices, 8);
  ASSERT_THAT(claim.gpus, SizeIs(1));
  EXPECT_EQ(claim.gpus.front()->name, "H100 SXM5 80GB");
  EXPECT_EQ(claim.memory, 80 * gib);  // as sold: makers write GB for GiB
  EXPECT_EQ(claim.storage, 2e12);     // disks are sold in powers of ten
  EXPECT_EQ(claim.storage_kind, "nvme");
  EXPECT_EQ(claim.cores, 26);
  EXPECT_EQ(claim.ram, 240 * gib);
  EXPECT_EQ(claim.link, "NVLink");
  EXPECT_EQ(claim.pcie_generation, 5);
  EXPECT_EQ(claim.pcie_lanes, 16);
  EXPECT_EQ(claim.price_per_hour, 2.49);
  EXPECT_EQ(claim.currency, "USD");
}

TEST(Claim, TakesCountsHoweverTheyAreWritten) {
  for (const char* text :
       {"4x RTX 4090", "4 x RTX 4090", "4 RTX 4090", "4X rtx 4090", "4\xC3\x97 NVIDIA GeForce RTX 4090"}) {
    const Claim claim = parse_claim(text);
    EXPECT_EQ(claim.devices, 4) << text;
    ASSERT_THAT(claim.gpus, SizeIs(1)) << text;
    EXPECT_EQ(claim.gpus.front()->name, "GeForce RTX 4090") << text;
  }
  EXPECT_FALSE(parse_claim("RTX 4090").devices.has_value());
}

TEST(Claim, TakesPricesInDollarsAndEuros) {
  EXPECT_EQ(parse_claim("$2.49/h").price_per_hour, 2.49);
  EXPECT_EQ(parse_claim("1.9 EUR/hour").currency, "EUR");
}

TEST(Claim, KeepsAllCardsThatAShortNameCanMean) {
  const Claim claim = parse_claim("2x H100");
  EXPECT_GT(claim.gpus.size(), 1U);  // PCIe, SXM and NVL
  EXPECT_EQ(parse_claim("1x H200").gpus.front()->name, "H200 SXM 141GB");
  EXPECT_THAT(parse_claim("1x A10").gpus, SizeIs(1));  // and not the A100
}

TEST(Claim, ReadsAClaimOfSpeed) {
  const Claim claim = parse_claim("H100 is 30x A100 at inference");
  ASSERT_TRUE(claim.speed.has_value());
  EXPECT_EQ(claim.speed->fast, "H100");
  EXPECT_EQ(claim.speed->slow, "A100");
  EXPECT_EQ(claim.speed->factor, 30);
  EXPECT_FALSE(claim.speed->training);
  EXPECT_TRUE(parse_claim("H100 SXM is 3.5x faster than A100 SXM at training").speed->training);
}

TEST(Claim, RefusesWhatItDoesNotUnderstandWithTheNearestNameAndAnExample) {
  EXPECT_THAT(complaint("8x H10O SXM"), HasSubstr("'8x H10O SXM' is not understood"));
  EXPECT_THAT(complaint("8x H10O SXM"), HasSubstr("did you mean 'H100"));
  EXPECT_THAT(complaint("8x H100 SXM, lots of RAM"), HasSubstr("'lots of RAM'"));
  EXPECT_THAT(complaint("8x H100 SXM, 2 TB"), HasSubstr("'2 TB'"));
  EXPECT_THAT(complaint("8x H100 SXM, 26 vCPU more"), HasSubstr("26 vCPU more"));
  EXPECT_THAT(complaint("H100 SXM, A100 SXM"), HasSubstr("names two cards"));
  EXPECT_THAT(complaint(" , "), HasSubstr("empty"));
  EXPECT_THAT(complaint("0x H100"), HasSubstr("not understood"));
  EXPECT_THAT(complaint("PCIe 44"), HasSubstr("not understood"));
  EXPECT_THAT(complaint("-3 vCPU"), HasSubstr("not understood"));
}

}  // namespace
}  // namespace assay
