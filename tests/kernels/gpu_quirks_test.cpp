// AMD's quirks on the pretended vendor: dies and partitions that are devices of their own, and FP8 in the FNUZ dialect.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "bench/case_formats.h"
#include "bench/case_sizes.h"
#include "core/error.h"
#include "core/op.h"
#include "gpu/runtime.h"
#include "tests/kernels/gpu_host.h"

namespace assay {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::SizeIs;
using vendor::host::Settings;

constexpr std::int64_t mebibyte = std::int64_t{1} << 20;

class AmdQuirks : public GpuOnHost {
 protected:
  std::vector<DeviceInfo> devices_of(const Settings& settings) {
    start(settings);
    return backend().devices();
  }
  Support issue(const std::string& format, int device = 0) {
    return backend().supports(parse_op("issue operands=" + format + " unit=matrix count=1000"), device);
  }
};

TEST_F(AmdQuirks, TwoDiesOfACardAreTwoDevicesEachWithItsOwnMemory) {
  Settings settings;
  settings.devices = 2;
  settings.memory = 64 * mebibyte;
  settings.die.name = "AMD Instinct MI250X";
  settings.die.architecture = "gfx90a";
  settings.die.architecture_number = 910;
  settings.die.multiprocessors = 110;  // of the card's 220
  const auto devices = devices_of(settings);
  ASSERT_THAT(devices, SizeIs(2));
  EXPECT_NE(devices[0].id, devices[1].id);
  EXPECT_NE(devices[0].unique_id, devices[1].unique_id);
  for (const DeviceInfo& device : devices) {
    EXPECT_EQ(device.memory_total, 64 * mebibyte);
    EXPECT_EQ(device.compute_units, 110);
  }
  vendor::use(1);
  void* taken = vendor::allocate(16 * mebibyte);
  EXPECT_EQ(vendor::memory_state().free, 48 * mebibyte);
  vendor::use(0);
  EXPECT_EQ(vendor::memory_state().free, 64 * mebibyte);  // the other die's memory is its own
  vendor::release(taken);
}

// A card with 512 MiB of cache whole, and cut into eight devices in four pools of memory: what must not fit into the
// cache is sized by the device's own.
TEST_F(AmdQuirks, APartitionIsMeasuredByItsOwnUnitsMemoryAndCache) {
  Settings settings;
  settings.memory = 65536 * mebibyte;
  settings.die.multiprocessors = 304;
  settings.die.last_cache = 512 * mebibyte;
  const DeviceInfo whole = devices_of(settings).front();
  EXPECT_EQ(dram_set(whole, ProfileKind::full).bytes, 2048 * mebibyte);  // four times the cache
  settings.devices = 8;
  settings.memory = 8192 * mebibyte;
  settings.die.multiprocessors = 38;
  settings.die.last_cache = 128 * mebibyte;
  const auto parts = devices_of(settings);
  ASSERT_THAT(parts, SizeIs(8));
  EXPECT_EQ(parts[7].compute_units, 38);
  EXPECT_EQ(parts[7].memory_total, 8192 * mebibyte);
  EXPECT_EQ(dram_set(parts[7], ProfileKind::full).bytes, 1024 * mebibyte);  // the least that is taken
  EXPECT_TRUE(dram_set(parts[7], ProfileKind::full).far);
  settings.memory = 1024 * mebibyte;
  const DeviceInfo small = devices_of(settings).front();
  EXPECT_EQ(dram_set(small, ProfileKind::full).bytes, 256 * mebibyte);  // a quarter of its memory, twice its cache
  EXPECT_FALSE(dram_set(small, ProfileKind::full).far);
}

std::vector<std::string> names_of(const DeviceInfo& device) {
  std::vector<std::string> names;
  for (const ProductFormat& format : product_formats(device)) names.push_back(format.name);
  return names;
}

TEST_F(AmdQuirks, Fp8IsAskedInTheOneDialectThatTheUnitsHave) {
  Settings settings;
  settings.die.matrix_elements = {Element::bf16, Element::fp8_e4m3_fnuz, Element::fp8_e5m2_fnuz};
  const DeviceInfo fnuz = devices_of(settings).front();
  EXPECT_TRUE(issue("fp8_e4m3_fnuz").yes);
  EXPECT_THAT(issue("fp8_e4m3").reason, HasSubstr("fp8_e4m3"));
  EXPECT_TRUE(has_fnuz(fnuz));
  EXPECT_THAT(names_of(fnuz), Contains("fp8_e4m3_fnuz"));
  EXPECT_THAT(names_of(fnuz), testing::Not(Contains("fp8_e4m3")));
  settings.die.matrix_elements = {Element::bf16, Element::fp8_e4m3, Element::fp8_e5m2};
  const DeviceInfo ocp = devices_of(settings).front();
  EXPECT_FALSE(has_fnuz(ocp));
  EXPECT_FALSE(issue("fp8_e4m3_fnuz").yes);
  EXPECT_THAT(names_of(ocp), Contains("fp8_e4m3"));
  EXPECT_THAT(names_of(ocp), testing::Not(Contains("fp8_e4m3_fnuz")));
}

}  // namespace
}  // namespace assay
