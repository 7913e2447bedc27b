// What tensors hold on a GPU: equal to the last bit to what every other back end puts there.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/fill.h"

#include <cmath>
#include <cstring>

#include "core/number.h"
#include "kernels/gpu/layout.h"
#include "tests/kernels/gpu_host.h"

namespace assay {
namespace {

class GpuFill : public GpuOnHost {};

Work one_tensor(Format format, std::vector<std::int64_t> shape, Initial initial, Place place = {}) {
  Work work;
  work.name = "one tensor";
  Tensor tensor;
  tensor.name = "t";
  tensor.format = format;
  tensor.shape = std::move(shape);
  tensor.initial = initial;
  tensor.bound = 9;
  tensor.persistent = true;
  tensor.place = place;
  work.tensors = {tensor};
  return work;
}

void expect_initial(Program& program, const Work& work, Pattern pattern) {
  program.fill(pattern, 5);
  const auto got = program.read(0, 0, elements(work.tensors[0]));
  for (std::int64_t index = 0; index < elements(work.tensors[0]); ++index) {
    const double value = got[static_cast<std::size_t>(index)];
    const double want = initial_value(work, 0, index, pattern, 5);
    ASSERT_TRUE(value == want || (std::isnan(value) && std::isnan(want)))
        << text(work.tensors[0].format) << " " << text(pattern) << " at " << index << " is " << value << ", not "
        << want;
  }
}

constexpr Pattern patterns[] = {Pattern::exact,    Pattern::typical, Pattern::integer,
                                Pattern::constant, Pattern::probe,   Pattern::zero};

TEST_F(GpuFill, EqualsInitialValueForEveryElementPatternAndKindOfTensor) {
  for (const Element element : elements()) {
    for (const Initial initial :
         {Initial::pattern, Initial::index, Initial::one, Initial::zero, Initial::rope_table, Initial::adam_scalars}) {
      const Work work = one_tensor({element, Scaling::none}, {41, 33}, initial);  // rows that are no whole bytes
      const auto program = prepare(work);
      for (const Pattern pattern : patterns) expect_initial(*program, work, pattern);
    }
  }
}

TEST_F(GpuFill, ReachesEveryKindOfPlace) {
  vendor::host::Settings settings;
  settings.devices = 2;
  start(settings);
  for (const Place place : {Place{PlaceKind::device, 0}, Place{PlaceKind::device, 1}, Place{PlaceKind::host_pinned, -1},
                            Place{PlaceKind::host_pinned, 0}, Place{PlaceKind::host_pageable, -1}}) {
    SCOPED_TRACE(static_cast<int>(place.kind) * 10 + place.index);
    const Work work = one_tensor({Element::int8, Scaling::none}, {5000}, Initial::pattern, place);
    const auto program = prepare(work);
    expect_initial(*program, work, Pattern::typical);
    std::vector<std::byte> image(5000, std::byte{7});
    program->write(0, image);
    EXPECT_THAT(program->read(0, 4998, 2), ::testing::ElementsAre(7, 7));
  }
}

TEST_F(GpuFill, FillsLargeHostMemoryPieceByPiece) {
  vendor::host::Settings settings;
  settings.memory = std::int64_t{128} << 20;
  start(settings);
  const std::int64_t count = (std::int64_t{64} << 20) + 4096;  // one piece more than the staging block of 64 MiB
  const Work work =
      one_tensor({Element::int8, Scaling::none}, {count}, Initial::pattern, Place{PlaceKind::host_pageable, -1});
  const auto program = prepare(work);
  program->fill(Pattern::exact, 5);
  for (const std::int64_t index : {std::int64_t{0}, (std::int64_t{64} << 20) - 1, std::int64_t{64} << 20, count - 1}) {
    EXPECT_EQ(program->read(0, index, 1)[0], initial_value(work, 0, index, Pattern::exact, 5)) << index;
  }
}

TEST_F(GpuFill, PutsOnesIntoTheScales) {
  Tensor tensor;
  tensor.name = "t";
  tensor.persistent = true;
  const int device = 0;
  vendor::use(device);
  const auto stream = vendor::make_stream();
  gpu::Contents contents(device, stream);
  const auto scales = [&](Format format, std::int64_t rows, std::int64_t columns) {
    tensor.format = format;
    tensor.shape = {rows, columns};
    Work work;
    work.tensors = {tensor};
    const std::int64_t size = bytes(tensor);
    const gpu::Block block({PlaceKind::device, device}, size, device);
    contents.fill(tensor, filling(work, 0, Pattern::exact, 1), {block.data(), block.home()});
    std::vector<std::byte> image(static_cast<std::size_t>(size));
    vendor::copy(image.data(), block.data(), size, stream);
    vendor::synchronise(stream);
    return std::vector<std::byte>(image.begin() + gpu::scales_offset(tensor), image.end());
  };
  const auto one = [](const std::vector<std::byte>& bytes, std::size_t at) {
    float value = 0;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
  };
  // One float for the tensor.
  EXPECT_EQ(one(scales({Element::fp8_e4m3, Scaling::tensor}, 2, 20), 0), 1);
  EXPECT_EQ(one(scales({Element::fp8_e4m3, Scaling::tensor}, 3, 7), 0), 1)
      << "behind 21 bytes, where no word is aligned";
  // 2 rows of 40 elements: two blocks of 32 a row, each a power of two: 127 stands for 2^0.
  EXPECT_EQ(scales({Element::fp8_e4m3, Scaling::block32_ue8m0}, 2, 40), std::vector<std::byte>(4, std::byte{127}));
  // 2 rows of 20: two blocks of 16 a row, each 1 as E4M3 (exponent 7, bias 7: 0x38), and a float.
  const auto blocks = scales({Element::fp4_e2m1, Scaling::block16_e4m3}, 2, 20);
  ASSERT_EQ(blocks.size(), 8U);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(blocks[i], std::byte{0x38});
  EXPECT_EQ(one(blocks, 4), 1);
  // 1 row of 200: two groups of 128.
  const auto groups = scales({Element::int8, Scaling::group128}, 1, 200);
  ASSERT_EQ(groups.size(), 8U);
  EXPECT_EQ(one(groups, 0), 1);
  EXPECT_EQ(one(groups, 4), 1);
  vendor::destroy(stream);
}

}  // namespace
}  // namespace assay
