// The program's own products on the vector units, and how libraries are asked one after the other, on the pretended
// vendor with AMD's quirks. SPDX-License-Identifier: Apache-2.0
#include "gpu/plain_gemm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "core/error.h"
#include "core/op.h"
#include "gpu/lane_gemm_kernel.h"
#include "gpu/matrix_chain.h"
#include "tests/kernels/gpu_host.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using vendor::MatrixLibrary;
using vendor::MatrixOperands;
using vendor::MatrixSource;

Gemm gemm_of(const std::string& text) { return std::get<Gemm>(parse_op(text)); }

MatrixSource own_kernels() {
  MatrixSource source;
  source.there = true;
  source.possible = [](const Gemm& gemm, int) { return vendor::plain_gemm_possible(gemm); };
  source.describe = [](const Gemm& gemm, const MatrixOperands& operands, std::optional<std::int64_t>, int) {
    return vendor::make_plain_product(gemm, operands, "no library served it");
  };
  return source;
}

MatrixSource missing(const std::string& name) {
  MatrixSource source;
  source.name = name;
  source.refused = {"/opt/lib" + name + ".so.1: it has no function create"};
  source.without = "; install it";
  return source;
}

// A library that takes every product and then has no kernel for it.
MatrixSource without_kernels(const std::string& name) {
  MatrixSource source = own_kernels();
  source.name = name;
  source.path = "/opt/lib" + name + ".so.1";
  source.possible = [](const Gemm&, int) { return Support{true, ""}; };
  source.describe = [name](const Gemm&, const MatrixOperands&, std::optional<std::int64_t>,
                           int) -> std::unique_ptr<vendor::MatrixProduct> {
    throw Unsupported(name + " has no kernel for this card");
  };
  return source;
}

class PlainGemm : public GpuOnHost {
 protected:
  void SetUp() override {
    GpuOnHost::SetUp();
    vendor::use(0);
    stream_ = vendor::make_stream();
  }
  void TearDown() override {
    vendor::destroy(stream_);
    for (void* memory : memory_) vendor::release(memory);
    GpuOnHost::TearDown();
  }

  template <class Number>
  Number* on_device(const std::vector<Number>& values) {
    const auto bytes = static_cast<std::int64_t>(values.size() * sizeof(Number));
    memory_.push_back(vendor::allocate(bytes));
    vendor::copy(memory_.back(), values.data(), bytes, stream_);
    return static_cast<Number*>(memory_.back());
  }
  template <class Number>
  std::vector<Number> from_device(const void* memory, std::size_t count) {
    std::vector<Number> values(count);
    vendor::copy(values.data(), memory, static_cast<std::int64_t>(count * sizeof(Number)), stream_);
    vendor::synchronise(stream_);
    return values;
  }
  void multiply(const Gemm& gemm, const MatrixOperands& operands) {
    vendor::make_plain_product(gemm, operands, "")->enqueue(0, nullptr, stream_);
  }
  std::unique_ptr<vendor::MatrixProduct> describe(MatrixLibrary& library, const Gemm& gemm) {
    return library.describe(gemm, {}, std::nullopt, 0, stream_);
  }

  vendor::Stream stream_ = nullptr;
  std::vector<void*> memory_;
};

TEST_F(PlainGemm, MultipliesEachOrderOfOperands) {
  // A is {1 2 3; 4 5 6}, B is {1 0; 0 1; 2 2}: the first row of D is 1 + 6 and 2 + 6, the second 4 + 12 and 5 + 12.
  const auto d = on_device<float>({0, 0, 0, 0});
  const auto a = on_device<float>({1, 2, 3, 4, 5, 6});
  const auto b = on_device<float>({1, 0, 0, 1, 2, 2});
  multiply(gemm_of("gemm m=2 n=2 k=3 a=fp32 b=fp32 d=fp32"), {a, b, nullptr, d});
  EXPECT_THAT(from_device<float>(d, 4), ElementsAre(7, 8, 16, 17));
  const auto a_turned = on_device<float>({1, 4, 2, 5, 3, 6});
  const auto b_turned = on_device<float>({1, 0, 2, 0, 1, 2});
  Gemm turned = gemm_of("gemm m=2 n=2 k=3 a=fp32 b=fp32 d=fp32");
  turned.transpose_a = turned.transpose_b = true;
  multiply(turned, {a_turned, b_turned, nullptr, d});
  EXPECT_THAT(from_device<float>(d, 4), ElementsAre(7, 8, 16, 17));
}

TEST_F(PlainGemm, AddsUpAlongAllOfKBeyondOneTile) {
  constexpr std::size_t m = 65;  // one row and one column more than a tile
  constexpr std::size_t k = 35;  // three more than two pieces of K
  Gemm gemm = gemm_of("gemm m=65 n=65 k=35 a=int8 b=int8 d=int32 accumulate=int32");
  const auto a = on_device<std::int8_t>(std::vector<std::int8_t>(m * k, -2));
  const auto b = on_device<std::int8_t>(std::vector<std::int8_t>(k * m, 3));
  const auto d = on_device<std::int32_t>(std::vector<std::int32_t>(m * m, 1));
  multiply(gemm, {a, b, nullptr, d});
  EXPECT_THAT(from_device<std::int32_t>(d, m * m), testing::Each(-210));  // -2 * 3 * 35
}

TEST_F(PlainGemm, HalvesHaveScaleBiasAndActivation) {
  Gemm gemm = gemm_of("gemm m=1 n=2 k=2 a=fp16 b=fp16 d=fp16");
  gemm.alpha = 0.5;
  gemm.beta = 1;
  gemm.bias = true;
  gemm.activation = Activation::relu;
  constexpr std::uint16_t one = 0x3C00, two = 0x4000, four = 0x4400, minus_four = 0xC400;
  const auto a = on_device<std::uint16_t>({one, two});
  const auto b = on_device<std::uint16_t>({two, two, one, one});  // sums: 2 + 2 and 2 + 2
  const auto bias = on_device<std::uint16_t>({one, minus_four});
  const auto d = on_device<std::uint16_t>({one, one});
  multiply(gemm, {a, b, bias, d});
  EXPECT_THAT(from_device<std::uint16_t>(d, 2), ElementsAre(four, 0));  // 2 + 1 + 1, and 2 + 1 - 4 is below 0
}

// A matrix instruction of 4 x 4 sums over 4 of K in warps of 8 lanes: two groups of lanes with two of K each, two sums
// a lane. Every lane looks at the words of all others.
struct PretendedForm {
  using Stored = std::uint16_t;
  using Number = float;
  struct Sums {
    float value[2];
    float operator[](int i) const { return value[i]; }
  };
  static constexpr int size = 4, k = 4, words = 1, groups = 2;
  static int row(int lane, int index) { return index * 2 + lane / 4; }
  static Sums multiply(const std::uint32_t (&a)[1], const std::uint32_t (&b)[1], Sums d) {
    std::uint32_t all_a[8];
    std::uint32_t all_b[8];
    const unsigned lane = vendor::thread_index() % 8;
    for (unsigned mask = 0; mask < 8; ++mask) {
      all_a[lane ^ mask] = vendor::exchange(a[0], mask);
      all_b[lane ^ mask] = vendor::exchange(b[0], mask);
    }
    for (int i = 0; i < 2; ++i) {
      for (int group = 0; group < 2; ++group) {
        for (unsigned half = 0; half < 32; half += 16) {
          const std::uint32_t in_a = all_a[group * 4 + row(static_cast<int>(lane), i)] >> half & 0xFFFFU;
          const std::uint32_t in_b = all_b[group * 4 + static_cast<int>(lane) % 4] >> half & 0xFFFFU;
          d.value[i] += vendor::half_to_float(static_cast<std::uint16_t>(in_a)) *
                        vendor::half_to_float(static_cast<std::uint16_t>(in_b));
        }
      }
    }
    return d;
  }
};

void pretended_tile(vendor::PlainProduct product) { vendor::multiply_tile<PretendedForm, 8, 16, 8>(product); }
void start_pretended(const vendor::PlainProduct& product, unsigned blocks, vendor::Stream stream) {
  vendor::launch(pretended_tile, blocks, 16, 0, stream, product);
}

// A[i, k] is i + 1 where k is i, else 0; B[k, j] is k + 2 j: D[i, j] is (i + 1)(i + 2 j). Neither extent is whole tiles
// and each batch has its own A, with twice the numbers.
TEST_F(PlainGemm, MatrixInstructionsMakeTheSameThroughSharedMemory) {
  constexpr int m = 9, n = 11, k = 13, batches = 2;
  const auto half = [](int value) { return vendor::float_to_half(static_cast<float>(value)); };
  for (const bool turned : {false, true}) {
    std::vector<std::uint16_t> a(batches * m * k), b(batches * k * n);
    std::vector<float> wanted;
    for (int batch = 0; batch < batches; ++batch) {
      for (int i = 0; i < m; ++i) {
        const int at = turned ? i * m + i : i * k + i;
        a[static_cast<std::size_t>(batch * m * k + at)] = half((batch + 1) * (i + 1));
        for (int j = 0; j < n; ++j) wanted.push_back(static_cast<float>((batch + 1) * (i + 1) * (i + 2 * j)));
      }
      for (int in_k = 0; in_k < k; ++in_k) {
        for (int j = 0; j < n; ++j) {
          const int at = turned ? j * k + in_k : in_k * n + j;
          b[static_cast<std::size_t>(batch * k * n + at)] = half(in_k + 2 * j);
        }
      }
    }
    Gemm gemm = gemm_of("gemm m=9 n=11 k=13 a=fp16 b=fp16 d=fp32");
    gemm.batch = batches;
    gemm.transpose_a = gemm.transpose_b = turned;
    const auto d = on_device<float>(std::vector<float>(wanted.size(), -1));
    const auto product = vendor::make_tile_product(gemm, {on_device(a), on_device(b), nullptr, d},
                                                   {8, "pretended_4x4x4", start_pretended}, "no library");
    EXPECT_EQ(product->choice(0).method, "own pretended_4x4x4, tile 8x8");
    product->enqueue(0, nullptr, stream_);
    EXPECT_EQ(from_device<float>(d, wanted.size()), wanted) << turned;
  }
}

TEST_F(PlainGemm, RefusesWhatItHasNoUnitFor) {
  Gemm gemm = gemm_of("gemm m=2 n=2 k=2 a=fp32 b=fp32 d=fp32");
  gemm.a.element = gemm.b.element = Element::fp8_e4m3_fnuz;
  EXPECT_THAT(vendor::plain_gemm_possible(gemm).reason, HasSubstr("fp8_e4m3_fnuz"));
  EXPECT_THROW(vendor::make_plain_product(gemm, {}, ""), Unsupported);
}

TEST_F(PlainGemm, TheNextLibraryStandsInForOneThatIsMissingOrHasNoKernel) {
  const Gemm gemm = gemm_of("gemm m=2 n=2 k=2 a=fp32 b=fp32 d=fp32");
  const auto library = vendor::make_matrix_chain([] {
    return std::vector<MatrixSource>{missing("first"), without_kernels("second"), own_kernels()};
  });
  EXPECT_TRUE(library->supports(gemm, 0).yes);
  const Choice choice = describe(*library, gemm)->choice(0);
  EXPECT_EQ(choice.method, "own multiply-adds, tile 64x64");
  EXPECT_THAT(choice.note, HasSubstr("no library served it"));
  const auto facts = library->facts();
  ASSERT_THAT(facts, SizeIs(2));  // own kernels are no library
  EXPECT_THAT(facts[0].text, IsEmpty());
  EXPECT_EQ(facts[0].reason, "libfirst.so was not found (/opt/libfirst.so.1: it has no function create); install it");
  EXPECT_EQ(facts[1].source, "/opt/libsecond.so.1");
}

TEST_F(PlainGemm, WhereNothingStandsInTheFirstRefusalIsTold) {
  Gemm gemm = gemm_of("gemm m=2 n=2 k=2 a=fp32 b=fp32 d=fp32");
  gemm.a.element = gemm.b.element = Element::fp8_e4m3;
  const auto library = vendor::make_matrix_chain([] {
    return std::vector<MatrixSource>{without_kernels("second"), own_kernels()};
  });
  try {
    describe(*library, gemm);
    FAIL() << "nobody multiplies that";
  } catch (const Unsupported& error) {
    EXPECT_STREQ(error.what(), "second has no kernel for this card");
  }
}

class MatrixChain : public GpuOnHost {};

// With none, hipBLASLt ends the process as soon as a handle is made.
TEST_F(MatrixChain, NoLibraryIsLookedForWhereThereIsNoDevice) {
  vendor::host::Settings settings;
  settings.devices = 0;
  start(settings);
  int looked = 0;
  const auto library = vendor::make_matrix_chain([&] {
    ++looked;
    return std::vector<MatrixSource>{own_kernels()};
  });
  EXPECT_EQ(looked, 0);
  EXPECT_THAT(library->facts(), IsEmpty());
}

}  // namespace
}  // namespace assay
