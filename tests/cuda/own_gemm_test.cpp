// Own matrix products: the kernel's places, walked through on the host with the matrix load and the matrix instruction
// as the PTX ISA describes them.
// SPDX-License-Identifier: Apache-2.0
#include "cuda/own_gemm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <set>

namespace vendor {
namespace {

using assay::Element;
using assay::Format;
using assay::Gemm;
using assay::Scaling;
using testing::HasSubstr;

Gemm gemm_of(Element element, std::int64_t m, std::int64_t n, std::int64_t k) {
  Gemm gemm;
  gemm.m = m;
  gemm.n = n;
  gemm.k = k;
  gemm.a = gemm.b = {element, Scaling::none};
  gemm.d = {element == Element::int8   ? Element::int32
            : element == Element::tf32 ? Element::fp32
                                       : element,
            Scaling::none};
  if (element == Element::int8) gemm.accumulate = Element::int32;
  if (element == Element::fp64) gemm.accumulate = Element::fp64;
  return gemm;
}

// A block's kernel on the host. Elements are integers, stored in `Stored` as they are.
template <class Stored>
class HostBlock {
 public:
  using Shared = std::vector<std::byte>;
  static constexpr int count = piece_bytes / static_cast<int>(sizeof(Stored));
  static constexpr int tile_k = tile_k_bytes / static_cast<int>(sizeof(Stored));

  explicit HostBlock(const OwnProduct& product) : product_(product), d_(product.m * product.n, -1) {}

  // The tile of D that block `number` makes, put into d().
  void run(std::int64_t number) {
    const TilePlace tile = tile_place(number, product_.tile_rows, product_.tile_columns);
    std::vector<std::int64_t> sums(tile_m * tile_n, 0);
    for (std::int64_t first_k = 0; first_k < product_.k; first_k += tile_k) {
      const Shared a = load(product_.a, tile.row * tile_m, product_.m, first_k);
      const Shared b = load(product_.b, tile.column * tile_n, product_.n, first_k);
      for (int warp = 0; warp < own_threads / 32; ++warp) multiply(a, b, warp_place(warp), sums);
    }
    for (int row = 0; row < tile_m; ++row) {
      for (int column = 0; column < tile_n; ++column) {
        const std::int64_t at_row = tile.row * tile_m + row;
        const std::int64_t at_column = tile.column * tile_n + column;
        if (at_row >= product_.m || at_column >= product_.n) continue;
        std::int64_t& d = d_[static_cast<std::size_t>(at_row * product_.n + at_column)];
        EXPECT_EQ(d, -1) << "written twice";
        d = sums[static_cast<std::size_t>(row * tile_n + column)];
      }
    }
  }

  const std::vector<std::int64_t>& d() const { return d_; }

 private:
  Shared load(const OwnOperand& operand, std::int64_t first_row, std::int64_t rows, std::int64_t first_k) const {
    Shared shared(operand_bytes, std::byte{0x5A});
    std::set<int> offsets;
    const bool along = operand.order == TileOrder::along_k;
    const bool gathered = along && operand.k_stride != 1;
    for (int index = 0; index < pieces; ++index) {
      const Piece piece = gathered ? gathered_piece_of(index) : piece_of(operand.order, index);
      const std::int64_t row = along ? first_row + piece.row : first_row + piece.piece * count;
      const std::int64_t at = along ? first_k + piece.piece * count : first_k + piece.row;
      const int inside = along ? (row < rows ? elements_inside(at, count, product_.k) : 0)
                               : (at < product_.k ? elements_inside(row, count, rows) : 0);
      std::array<Stored, count> values{};
      const std::int64_t step = along ? operand.k_stride : operand.row_stride;
      const std::int64_t start = row * operand.row_stride + at * operand.k_stride;
      if (operand.whole && inside > 0) {
        EXPECT_EQ(step, 1);
        EXPECT_EQ(start * static_cast<std::int64_t>(sizeof(Stored)) % piece_bytes, 0);
      }
      for (int j = 0; j < inside; ++j) {
        values[static_cast<std::size_t>(j)] = static_cast<const Stored*>(operand.memory)[start + j * step];
      }
      const int offset = shared_offset(operand.order, piece);
      EXPECT_TRUE(offsets.insert(offset).second) << "two pieces in one place";
      EXPECT_TRUE(offset >= 0 && offset + piece_bytes <= operand_bytes);
      std::memcpy(shared.data() + offset, values.data(), piece_bytes);
    }
    return shared;
  }

  // ldmatrix.x4: register i of lane l holds bytes 4 (l mod 4) .. +3 of row l / 4 of matrix i; with .trans, of 2-byte
  // elements, those at rows 2 (l mod 4) and the next of column l / 4.
  static std::uint32_t loaded(const Shared& shared, const std::array<int, 32>& offsets, int matrix, int lane,
                              bool transposed) {
    std::uint32_t word = 0;
    if (!transposed) {
      std::memcpy(&word, shared.data() + offsets[static_cast<std::size_t>(matrix * 8 + lane / 4)] + lane % 4 * 4, 4);
      return word;
    }
    for (int half = 0; half < 2; ++half) {
      std::uint16_t element = 0;
      std::memcpy(&element,
                  shared.data() + offsets[static_cast<std::size_t>(matrix * 8 + lane % 4 * 2 + half)] + lane / 4 * 2,
                  2);
      word |= static_cast<std::uint32_t>(element) << (16 * half);
    }
    return word;
  }

  static void expect_no_bank_conflict(const std::array<int, 32>& offsets) {
    for (int matrix = 0; matrix < 4; ++matrix) {
      std::set<int> banks;
      for (int row = 0; row < 8; ++row) banks.insert(offsets[static_cast<std::size_t>(matrix * 8 + row)] % 128 / 16);
      EXPECT_EQ(banks.size(), 8U);
    }
  }

  // m16n8 by 32 bytes of K as the PTX ISA has it: A's registers are rows g and g + 8 of the first 16 bytes, then of the
  // second, B's the first and the second 16 bytes of column g, with g = lane / 4 and bytes 4 (lane mod 4) on.
  void multiply(const Shared& a, const Shared& b, Place warp, std::vector<std::int64_t>& sums) const {
    for (int step = 0; step < steps_a_tile; ++step) {
      for (int i = 0; i < fragments_m; ++i) {
        std::array<int, 32> a_offsets{};
        for (int lane = 0; lane < 32; ++lane) {
          a_offsets[static_cast<std::size_t>(lane)] =
              shared_offset(product_.a.order, a_piece(product_.a.order, warp.row + i * 16, step, lane));
        }
        expect_no_bank_conflict(a_offsets);
        for (int j = 0; j < fragments_n / 2; ++j) {
          std::array<int, 32> b_offsets{};
          for (int lane = 0; lane < 32; ++lane) {
            b_offsets[static_cast<std::size_t>(lane)] =
                shared_offset(product_.b.order, b_piece(product_.b.order, warp.column + j * 16, step, lane));
          }
          expect_no_bank_conflict(b_offsets);
          for (int half = 0; half < 2; ++half) {
            add_product(a, a_offsets, b, b_offsets, half, warp.row + i * 16, warp.column + j * 16 + half * 8, sums);
          }
        }
      }
    }
  }

  void add_product(const Shared& a, const std::array<int, 32>& a_offsets, const Shared& b,
                   const std::array<int, 32>& b_offsets, int half, int first_row, int first_column,
                   std::vector<std::int64_t>& sums) const {
    const bool a_transposed = product_.a.order == TileOrder::across_k;
    const bool b_transposed = product_.b.order == TileOrder::across_k;
    std::array<std::array<std::byte, 32>, 16> a_rows{};
    std::array<std::array<std::byte, 32>, 8> b_columns{};
    for (int lane = 0; lane < 32; ++lane) {
      const auto group = static_cast<std::size_t>(lane / 4);
      const auto byte = static_cast<std::size_t>(lane % 4 * 4);
      for (std::size_t reg = 0; reg < 4; ++reg) {
        const std::uint32_t word = loaded(a, a_offsets, static_cast<int>(reg), lane, a_transposed);
        std::memcpy(a_rows[group + reg % 2 * 8].data() + byte + reg / 2 * 16, &word, 4);
      }
      for (std::size_t reg = 0; reg < 2; ++reg) {
        const std::uint32_t word = loaded(b, b_offsets, half * 2 + static_cast<int>(reg), lane, b_transposed);
        std::memcpy(b_columns[group].data() + byte + reg * 16, &word, 4);
      }
    }
    for (int lane = 0; lane < 32; ++lane) {
      for (int index = 0; index < 4; ++index) {
        const Place place = accumulator_place(lane, index);
        std::int64_t sum = 0;
        for (std::size_t at = 0; at < 32; at += sizeof(Stored)) {
          Stored x{};
          Stored y{};
          std::memcpy(&x, a_rows[static_cast<std::size_t>(place.row)].data() + at, sizeof x);
          std::memcpy(&y, b_columns[static_cast<std::size_t>(place.column)].data() + at, sizeof y);
          sum += static_cast<std::int64_t>(x) * static_cast<std::int64_t>(y);
        }
        sums[static_cast<std::size_t>((first_row + place.row) * tile_n + first_column + place.column)] += sum;
      }
    }
  }

  OwnProduct product_;
  std::vector<std::int64_t> d_;
};

template <class Stored>
void expect_right(const Gemm& gemm) {
  std::vector<Stored> a(static_cast<std::size_t>(gemm.m * gemm.k));
  std::vector<Stored> b(static_cast<std::size_t>(gemm.n * gemm.k));
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<Stored>((i * 7 + i / 5) % 11);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<Stored>((i * 5 + i / 3) % 13);
  MatrixOperands operands;
  operands.a = a.data();
  operands.b = b.data();
  const OwnProduct product = own_product(gemm, operands);
  HostBlock<Stored> block(product);
  for (std::int64_t number = 0; number < product.tile_rows * product.tile_columns; ++number) block.run(number);
  for (std::int64_t row = 0; row < gemm.m; ++row) {
    for (std::int64_t column = 0; column < gemm.n; ++column) {
      std::int64_t sum = 0;
      for (std::int64_t at = 0; at < gemm.k; ++at) {
        sum += static_cast<std::int64_t>(
                   a[static_cast<std::size_t>(gemm.transpose_a ? at * gemm.m + row : row * gemm.k + at)]) *
               static_cast<std::int64_t>(
                   b[static_cast<std::size_t>(gemm.transpose_b ? column * gemm.k + at : at * gemm.n + column)]);
      }
      ASSERT_EQ(block.d()[static_cast<std::size_t>(row * gemm.n + column)], sum) << row << ", " << column;
    }
  }
}

void expect_right_in_all_layouts(Element element, std::int64_t m, std::int64_t n, std::int64_t k) {
  for (int layout = 0; layout < 4; ++layout) {
    Gemm gemm = gemm_of(element, m, n, k);
    gemm.transpose_a = layout % 2 == 1;
    gemm.transpose_b = layout / 2 == 1;
    SCOPED_TRACE(std::to_string(layout));
    if (element == Element::bf16) expect_right<std::uint16_t>(gemm);
    if (element == Element::tf32) expect_right<std::uint32_t>(gemm);
    if (element == Element::int8) expect_right<std::uint8_t>(gemm);
  }
}

TEST(OwnGemm, WholeTilesOfEveryWidthAreRight) {
  expect_right_in_all_layouts(Element::bf16, 128, 128, 64);
  expect_right_in_all_layouts(Element::tf32, 128, 128, 32);
  expect_right_in_all_layouts(Element::int8, 128, 128, 128);
}

TEST(OwnGemm, RaggedShapesOfEveryWidthAreRight) {
  expect_right_in_all_layouts(Element::bf16, 131, 72, 40);  // rows of 80 bytes: aligned, and half a tile of K left
  expect_right_in_all_layouts(Element::bf16, 5, 129, 33);   // nothing aligned
  expect_right_in_all_layouts(Element::tf32, 17, 130, 19);
  expect_right_in_all_layouts(Element::int8, 33, 130, 70);
  expect_right_in_all_layouts(Element::bf16, 1, 1, 1);
}

TEST(OwnGemm, PiecesAreCopiedWholeOnlyWhereMemoryAllows) {
  alignas(16) static const std::array<std::byte, 64> memory{};
  MatrixOperands operands;
  operands.a = operands.b = memory.data();
  Gemm gemm = gemm_of(Element::bf16, 64, 64, 64);
  EXPECT_TRUE(own_product(gemm, operands).a.whole);
  EXPECT_TRUE(own_product(gemm, operands).b.whole);  // across K, which 2-byte elements can be
  EXPECT_EQ(own_product(gemm, operands).b.order, TileOrder::across_k);
  gemm.k = 63;
  EXPECT_FALSE(own_product(gemm, operands).a.whole);
  operands.a = memory.data() + 2;
  gemm.k = 64;
  EXPECT_FALSE(own_product(gemm, operands).a.whole);
  operands.a = memory.data();
  EXPECT_FALSE(own_product(gemm_of(Element::int8, 64, 64, 64), operands).b.whole);
}

TEST(OwnGemm, EveryTileIsMadeOnce) {
  for (const std::int64_t rows : {1, 7, 8, 9, 16, 21}) {
    for (const std::int64_t columns : {1, 5, 8}) {
      std::set<std::array<std::int64_t, 3>> seen;
      for (std::int64_t block = 0; block < 2 * rows * columns; ++block) {
        const TilePlace place = tile_place(block, rows, columns);
        EXPECT_TRUE(place.batch < 2 && place.row < rows && place.column < columns);
        seen.insert({place.batch, place.row, place.column});
      }
      EXPECT_EQ(seen.size(), static_cast<std::size_t>(2 * rows * columns));
    }
  }
}

TEST(OwnGemm, SaysWhatItCannotDo) {
  const Gemm bf16 = gemm_of(Element::bf16, 64, 64, 64);
  EXPECT_TRUE(own_gemm_possible(bf16, 80).yes);
  EXPECT_FALSE(own_gemm_possible(bf16, 75).yes);
  EXPECT_TRUE(own_gemm_possible(gemm_of(Element::fp16, 64, 64, 64), 75).yes);
  EXPECT_FALSE(own_gemm_possible(gemm_of(Element::int8, 64, 64, 64), 75).yes);
  EXPECT_TRUE(own_gemm_possible(gemm_of(Element::fp64, 64, 64, 64), 75).yes);
  Gemm narrow = gemm_of(Element::fp16, 64, 64, 64);
  narrow.accumulate = Element::fp16;
  EXPECT_THAT(own_gemm_possible(narrow, 80).reason, HasSubstr("FP32"));
  Gemm fp8 = gemm_of(Element::fp8_e4m3, 64, 64, 64);
  fp8.d = {Element::bf16, Scaling::none};
  EXPECT_THAT(own_gemm_possible(fp8, 90).reason, HasSubstr("cuBLASLt"));
}

}  // namespace
}  // namespace vendor
