// Devices and facts, on the pretended machine.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/survey.h"

#include <algorithm>

#include "core/error.h"
#include "gpu/runtime.h"
#include "kernels/gpu/clock.h"
#include "tests/kernels/gpu_host.h"

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using vendor::host::Call;
using vendor::host::Fault;
using vendor::host::Settings;

constexpr std::int64_t mebibyte = std::int64_t{1} << 20;

Fact named(const std::vector<Fact>& facts, const std::string& name) {
  for (const Fact& fact : facts) {
    if (fact.name == name) return fact;
  }
  ADD_FAILURE() << "there is no fact " << name;
  return {};
}

class GpuDevices : public GpuOnHost {};

TEST_F(GpuDevices, AreDescribedWithWhatTheManagementLibraryKnows) {
  Settings settings;
  settings.devices = 2;
  start(settings);
  const auto devices = backend().devices();
  ASSERT_THAT(devices, SizeIs(2));
  EXPECT_EQ(devices[1].id, "hostgpu:1");
  EXPECT_EQ(devices[1].memory_total, 64 * mebibyte);
  EXPECT_EQ(named(devices[1].facts, "management").text, "pretended for 0000:01:00.0 HOST-1");
  EXPECT_EQ(named(backend().diagnosis(), "hostgpu_devices").text, "2");
  EXPECT_EQ(named(backend().diagnosis(), "matrix_library").text, "pretended library 1.0");
}

// The cases are chosen by these: who else is there, and what the pretended matrix unit takes.
TEST_F(GpuDevices, NameTheirPeersAndTheFormatsOfTheirMatrixUnits) {
  Settings settings;
  settings.devices = 3;
  start(settings);
  const auto devices = backend().devices();
  ASSERT_THAT(devices, SizeIs(3));
  EXPECT_EQ(named(devices[0].facts, "peer_devices").text, "1,2");
  EXPECT_EQ(named(devices[1].facts, "peer_devices").text, "0,2");
  EXPECT_EQ(named(devices[1].facts, "matrix_formats").text, "bf16");
}

TEST_F(GpuDevices, WhereThereIsNoneTheReasonAndTheCureAreSaid) {
  Settings settings;
  settings.devices = 0;
  settings.reason = "the driver is asleep";
  settings.cure = "wake it";
  start(settings);
  EXPECT_THAT(backend().devices(), IsEmpty());
  const Fact fact = named(backend().diagnosis(), "hostgpu_devices");
  EXPECT_EQ(fact.reason, "the driver is asleep; to mend it: wake it");
  EXPECT_FALSE(fact.value.has_value());
  const Op op = parse_op("launch kind=kernel count=1");
  EXPECT_FALSE(backend().supports(op, 0).yes);
  EXPECT_THAT(backend().supports(op, 0).reason, HasSubstr("the driver is asleep"));
  EXPECT_THROW(prepare(single(op)), Unsupported);
}

TEST_F(GpuDevices, OneThatCannotBeUsedKeepsItsPlaceAndSaysWhy) {
  Settings settings;
  settings.devices = 2;
  start(settings);
  machine().fail(Call::describe, 1, Fault::error);
  const auto devices = backend().devices();
  ASSERT_THAT(devices, SizeIs(2));
  EXPECT_EQ(devices[0].id, "hostgpu:0");
  EXPECT_EQ(named(devices[0].facts, "usable").text, "no");
  EXPECT_THAT(named(devices[0].facts, "usable").reason, HasSubstr("describing device 0"));
  EXPECT_EQ(devices[1].name, "Pretended device");
}

class GpuSurvey : public GpuOnHost {
 protected:
  static gpu::SurveyLimits small(std::int64_t margin) {
    gpu::SurveyLimits limits;
    limits.margin = margin;
    limits.step = 16 * mebibyte;
    limits.clock = gpu::monotonic_seconds;
    return limits;
  }
};

TEST_F(GpuSurvey, TakesAllButTheMarginAndGivesItBack) {
  vendor::use(0);
  // 64 MiB in steps of 16: three, and 4 MiB of the fourth, so that 12 MiB stay.
  const auto facts = gpu::survey_capacity(small(12 * mebibyte), 0);
  EXPECT_EQ(named(facts, "allocatable_bytes").value, 52.0 * mebibyte);
  EXPECT_THAT(named(facts, "allocatable_bytes").reason, HasSubstr("12 MiB left"));
  EXPECT_EQ(named(facts, "free_bytes").value, 64.0 * mebibyte);
  EXPECT_EQ(vendor::memory_state().free, 64 * mebibyte);
}

TEST_F(GpuSurvey, TakesLessWhereTheMemoryIsTheHostsToo) {
  vendor::use(0);
  gpu::SurveyLimits limits = small(mebibyte);
  limits.share = 0.5;
  EXPECT_EQ(named(gpu::survey_capacity(limits, 0), "allocatable_bytes").value, 32.0 * mebibyte);
}

TEST_F(GpuSurvey, TriesSmallerPiecesWhereLargeOnesAreRefused) {
  vendor::use(0);
  machine().fail(Call::allocate, 1, Fault::out_of_memory);
  EXPECT_EQ(named(gpu::survey_capacity(small(16 * mebibyte), 0), "allocatable_bytes").value, 48.0 * mebibyte);
}

TEST_F(GpuSurvey, StopsWhenItsTimeIsOver) {
  vendor::use(0);
  gpu::SurveyLimits limits = small(mebibyte);
  double now = 0;
  limits.clock = [&now] { return now += 4; };  // 4 s when it begins, then 8 and 12: two steps are within 10 s
  const auto facts = gpu::survey_capacity(limits, 0);
  EXPECT_EQ(named(facts, "allocatable_bytes").value, 32.0 * mebibyte);
  EXPECT_THAT(named(facts, "allocatable_bytes").reason, HasSubstr("time was over"));
}

TEST_F(GpuSurvey, FindsHowTheAllocatorRounds) {
  Settings settings;
  settings.memory = 256 * mebibyte;
  start(settings);
  const auto facts = backend().survey(Question::rounding, 0);
  EXPECT_EQ(named(facts, "one_byte_takes_bytes").value, 65'536);
  EXPECT_EQ(named(facts, "odd_block_takes_bytes").value, 2.0 * mebibyte + 65'536);
  EXPECT_GT(named(facts, "allocation_step_bytes").value.value_or(0), 0);
  EXPECT_EQ(named(facts, "fragmentation_share").value, 0);
  EXPECT_GT(named(facts, "stream_ordered_allocation_seconds").value.value_or(0), 0);
}

TEST_F(GpuSurvey, FindsSoundMemorySound) {
  vendor::use(0);
  const auto facts = gpu::survey_integrity(small(56 * mebibyte), 0);
  EXPECT_EQ(named(facts, "tested_bytes").value, 8.0 * mebibyte);
  EXPECT_EQ(named(facts, "wrong_words").value, 0);
}

TEST_F(GpuSurvey, FindsABitThatIsStuck) {
  Settings settings;
  settings.stuck_byte = 1'000'000;
  start(settings);
  vendor::use(0);
  try {
    gpu::survey_integrity(small(60 * mebibyte), 0);
    FAIL() << "a stuck bit was not found";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("the device's memory is faulty"));
    EXPECT_THAT(error.what(), HasSubstr(", 1 did not hold"));
    EXPECT_THAT(error.what(), HasSubstr("word 125000 differs in bits 1"));  // byte 1,000,000 is in word 125,000
  }
}

TEST_F(GpuSurvey, AnswersEveryQuestion) {
  Settings settings;
  settings.memory = 80 * mebibyte;
  start(settings);
  // 64 MiB is the least margin of a real device, so that 16 MiB are taken.
  EXPECT_EQ(named(backend().survey(Question::capacity, 0), "allocatable_bytes").value, 16.0 * mebibyte);
  const auto cost = backend().survey(Question::context_cost, 0);
  EXPECT_EQ(named(cost, "context_bytes").value, 0);  // pretending takes nothing
  EXPECT_GT(named(cost, "context_seconds").value.value_or(0), 0);
  EXPECT_EQ(named(backend().survey(Question::integrity, 0), "tested_bytes").value, 16.0 * mebibyte);
  EXPECT_EQ(named(backend().survey(Question::limits, 0), "integrated").text, "no");
  EXPECT_THROW(backend().survey(Question::limits, 1), Error);
}

}  // namespace
}  // namespace assay
