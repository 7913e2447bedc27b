// The pretended vendor itself: it must see what a real device would not forgive.
// SPDX-License-Identifier: Apache-2.0
#include "vendor.h"

#include <array>

#include "core/error.h"
#include "tests/host_vendor/queue.h"
#include "tests/kernels/gpu_host.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class PretendedVendor : public GpuOnHost {
 protected:
  void SetUp() override {
    GpuOnHost::SetUp();
    vendor::use(0);
    stream_ = vendor::make_stream();
    memory_ = static_cast<float*>(vendor::allocate(4096));
  }
  void TearDown() override {
    vendor::destroy(stream_);
    vendor::release(memory_);
    GpuOnHost::TearDown();
  }
  std::vector<float> read(std::size_t count) {
    std::vector<float> values(count);
    vendor::copy(values.data(), memory_, static_cast<std::int64_t>(count * sizeof(float)), stream_);
    vendor::synchronise(stream_);
    return values;
  }
  void forgive() { vendor::host::machine().reset(); }  // after a complaint that was wanted

  vendor::Stream stream_ = nullptr;
  float* memory_ = nullptr;
};

// The sum over the block in every lane: by exchange within warps, through shared memory between them.
void add_up(float* to) {
  auto* shared = reinterpret_cast<float*>(vendor::shared_memory());
  float sum = static_cast<float>(vendor::thread_index() + 1);
  for (unsigned mask = 1; mask < vendor::lanes_per_warp(); mask *= 2) sum += vendor::exchange(sum, mask);
  if (vendor::thread_index() % vendor::lanes_per_warp() == 0) {
    shared[vendor::thread_index() / vendor::lanes_per_warp()] = sum;
  }
  vendor::wait_for_block();
  float total = 0;
  for (unsigned i = 0; i < vendor::threads_per_block() / vendor::lanes_per_warp(); ++i) total += shared[i];
  if (vendor::thread_index() == vendor::threads_per_block() - 1) to[vendor::block_index()] = total;
}

TEST_F(PretendedVendor, LanesWaitAndExchange) {
  vendor::launch(add_up, 3, 32, 256, stream_, memory_);
  EXPECT_THAT(read(3), ElementsAre(528, 528, 528));  // 1 + ... + 32
}

void leave_early(float*) {
  if (vendor::thread_index() != 0) vendor::wait_for_block();
}

TEST_F(PretendedVendor, SeesAThreadThatLeavesWhileOthersWait) {
  vendor::launch(leave_early, 1, 16, 0, stream_, memory_);
  EXPECT_THROW(vendor::synchronise(stream_), DeviceLost);
  ASSERT_THAT(machine().complaints(), SizeIs(1));
  EXPECT_THAT(machine().complaints()[0], HasSubstr("15 of 16 threads wait"));
  forgive();
  SetUp();
}

TEST_F(PretendedVendor, RunsNothingBeforeSomebodyWaits) {
  vendor::set_bytes(memory_, 0, 16, stream_);
  vendor::synchronise(stream_);
  static bool ran;
  ran = false;
  vendor::launch(
      +[](int) { ran = true; }, 1, 1, 0, stream_, 1);
  EXPECT_FALSE(ran);
  vendor::synchronise(stream_);
  EXPECT_TRUE(ran);
}

TEST_F(PretendedVendor, SeesWritesBehindABlock) {
  void* small = vendor::allocate(10);
  vendor::set_bytes(small, 1, 11, stream_);
  vendor::synchronise(stream_);
  vendor::release(small);
  ASSERT_THAT(machine().complaints(), SizeIs(1));
  EXPECT_THAT(machine().complaints()[0], HasSubstr("byte 10 behind a block of 10"));
  forgive();
  SetUp();
}

TEST_F(PretendedVendor, RefusesAGraphThatLeavesAStreamBehind) {
  const auto other = vendor::make_stream();
  const auto event = vendor::make_event();
  vendor::begin_capture(stream_);
  vendor::record(event, stream_);
  vendor::wait(other, event);
  vendor::set_bytes(memory_, 0, 4, other);
  EXPECT_THROW(vendor::end_capture(stream_), Error);
  vendor::destroy(event);
  vendor::destroy(other);
}

TEST_F(PretendedVendor, RefusesToTimeEventsThatHaveNotPassed) {
  const auto first = vendor::make_event();
  vendor::record(first, stream_);
  EXPECT_THROW(vendor::seconds_between(first, first), Error);
  vendor::synchronise(stream_);
  EXPECT_EQ(vendor::seconds_between(first, first), 0);
  vendor::destroy(first);
}

using PretendedVendorDeathTest = PretendedVendor;

TEST_F(PretendedVendorDeathTest, KeepsTheHostOutOfDeviceMemory) {
  EXPECT_DEATH(*const_cast<volatile float*>(memory_) = 1, "");
}

TEST_F(PretendedVendorDeathTest, KeepsKernelsOutOfPeersThatWereNotOpened) {
  vendor::host::Settings settings;
  settings.devices = 2;
  vendor::destroy(stream_);
  vendor::release(memory_);
  start(settings);
  vendor::use(1);
  float* far = static_cast<float*>(vendor::allocate(64));
  vendor::use(0);
  stream_ = vendor::make_stream();
  memory_ = static_cast<float*>(vendor::allocate(4096));
  const auto store = +[](float* to) { *to = 2; };
  EXPECT_DEATH(
      {
        vendor::launch(store, 1, 1, 0, stream_, far);
        vendor::synchronise(stream_);
      },
      "");
  vendor::enable_peer_access(1);
  vendor::launch(store, 1, 1, 0, stream_, far);
  vendor::synchronise(stream_);
  vendor::release(far);
}

}  // namespace
}  // namespace assay
