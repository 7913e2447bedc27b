// Embedding, rotary positions and heads by every team.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "core/number.h"
#include "tests/kernels/body_runner.h"

namespace assay {
namespace {

constexpr Format fp32{Element::fp32, Scaling::none};
const std::vector<Element> common = {Element::fp32, Element::bf16, Element::fp16};

class Tokens : public testing::TestWithParam<Runner> {};
INSTANTIATE_TEST_SUITE_P(All, Tokens, testing::ValuesIn(runners()));

std::size_t unsign(std::int64_t value) { return static_cast<std::size_t>(value); }

// Token ids that come again unevenly: 0 in every third row.
std::vector<double> token_ids(std::int64_t rows, std::int64_t vocabulary) {
  std::vector<double> tokens;
  for (std::int64_t row = 0; row < rows; ++row) {
    tokens.push_back(row % 3 == 0 ? 0.0 : static_cast<double>(row * row % vocabulary));
  }
  return tokens;
}

TEST_P(Tokens, EmbeddingCopiesTheRowOfEachToken) {
  for (const Element element : common) {
    for (const auto& [rows, columns] : {std::pair{1, 1}, {5, 33}, {200, 129}}) {
      const std::int64_t vocabulary = 50;
      const std::vector<double> tokens = token_ids(rows, vocabulary);
      const std::vector<double> table = typical(element, vocabulary * columns, 40);
      std::vector<double> want;
      for (const double token : tokens) {
        for (std::size_t i = 0; i < unsign(columns); ++i) {
          want.push_back(table[static_cast<std::size_t>(token) * unsign(columns) + i]);
        }
      }
      const Embedding op{Direction::forward, rows, vocabulary, columns, {element, Scaling::none}};
      ASSERT_EQ(run_body(GetParam(), op, {tokens, table})[2], want);
    }
  }
}

// Rounded once after all rows of a token were added, and untouched where a token does not occur.
TEST_P(Tokens, EmbeddingGradientAddsTheRowsOfEachToken) {
  for (const Element element : common) {
    for (const auto& [rows, columns] : {std::pair{1, 1}, {7, 33}, {300, 129}}) {
      const std::int64_t vocabulary = 50;
      const std::vector<double> tokens = token_ids(rows, vocabulary);
      const std::vector<double> dy = typical(element, 1LL * rows * columns, 41);
      const std::vector<double> before = typical(element, vocabulary * columns, 42);
      std::vector<double> want = before;
      for (std::size_t row = 0; row < tokens.size(); ++row) {
        for (std::size_t i = 0; i < unsign(columns); ++i) {
          want[static_cast<std::size_t>(tokens[row]) * unsign(columns) + i] += dy[row * unsign(columns) + i];
        }
      }
      const Embedding op{Direction::backward, rows, vocabulary, columns, {element, Scaling::none}};
      const auto after = run_body(GetParam(), op, {tokens, dy, before})[2];
      expect_close(after, want, element, 1e-6, 2e-5);
      for (std::size_t i = 0; i < unsign(columns); ++i) {  // 3 is no square modulo 50, and not 0
        ASSERT_EQ(after[3 * unsign(columns) + i], before[3 * unsign(columns) + i]);
      }
    }
  }
}

TEST(EmbeddingGradient, IsTheSameToTheBitOnAnyNumberOfThreads) {
  const std::vector<double> tokens = token_ids(500, 20);
  const std::vector<double> dy = typical(Element::bf16, 500 * 193, 43);
  const std::vector<double> before(20 * 193, 0.0);
  const Embedding op{Direction::backward, 500, 20, 193, {Element::bf16, Scaling::none}};
  const std::string level = runners().back().name;
  const auto alone = run_body({level, 1}, op, {tokens, dy, before})[2];
  for (int threads = 2; threads <= 4; ++threads) {
    EXPECT_EQ(run_body({level, threads}, op, {tokens, dy, before})[2], alone) << threads;
  }
}

TEST_P(Tokens, RefusesIndicesThatPointOutside) {
  const std::vector<double> table(12, 1.0);
  EXPECT_THROW(run_body(GetParam(), Embedding{Direction::forward, 2, 4, 3, fp32}, {{0, 4}, table}), Error);
  EXPECT_THROW(run_body(GetParam(), Embedding{Direction::forward, 2, 4, 3, fp32}, {{-1, 0}, table}), Error);
  EXPECT_THROW(run_body(GetParam(), Embedding{Direction::backward, 2, 4, 3, fp32}, {{0, 4}, {1, 1, 1, 1, 1, 1}, table}),
               Error);
  EXPECT_THROW(run_body(GetParam(), CrossEntropy{3, 4, fp32}, {table, {0, 3, 4}}), Error);
}

// Element (b, l, h, s) of the heads' own layout [batch, heads, length, head_size].
std::size_t apart(const Rope& op, std::int64_t b, std::int64_t l, std::int64_t h, std::int64_t heads, std::int64_t s) {
  return unsign(((b * heads + h) * op.length + l) * op.head_size + s);
}

// The angles of core/ops/tokens.h: position 10000^(-2 i / head_size), cosines and then sines.
std::vector<double> angle_table(const Rope& op) {
  std::vector<double> table;
  for (std::int64_t position = 0; position < op.length; ++position) {
    for (const bool sines : {false, true}) {
      for (std::int64_t i = 0; i < op.head_size / 2; ++i) {
        const double angle = static_cast<double>(position) *
                             std::pow(10000.0, -2.0 * static_cast<double>(i) / static_cast<double>(op.head_size));
        table.push_back(rounded(Element::fp32, sines ? std::sin(angle) : std::cos(angle)));
      }
    }
  }
  return table;
}

const std::vector<Rope> ropes = {
    {Direction::forward, 1, 1, 1, 1, 2, fp32, true},    {Direction::forward, 2, 5, 4, 2, 6, fp32, true},
    {Direction::forward, 1, 33, 3, 1, 66, fp32, true},  {Direction::forward, 2, 3, 2, 2, 8, fp32, false},
    {Direction::forward, 3, 17, 4, 4, 64, fp32, false},
};

struct Parts {
  std::vector<double> q, k, v;
};

// Straight from the definition, one element at a time.
Parts split(const Rope& op, const std::vector<double>& packed, const std::vector<double>& table) {
  Parts parts{std::vector<double>(unsign(op.batch * op.heads * op.length * op.head_size)),
              std::vector<double>(unsign(op.batch * op.kv_heads * op.length * op.head_size)),
              std::vector<double>(unsign(op.batch * op.kv_heads * op.length * op.head_size))};
  const std::int64_t half = op.head_size / 2;
  for (std::int64_t b = 0; b < op.batch; ++b) {
    for (std::int64_t l = 0; l < op.length; ++l) {
      const std::int64_t row = (b * op.length + l) * (op.heads + 2 * op.kv_heads) * op.head_size;
      const auto turned = [&](std::int64_t first, std::int64_t s) {
        if (!op.rotate) return packed[unsign(first + s)];
        const std::int64_t pair = s % half;
        const double cosine = table[unsign(l * op.head_size + pair)];
        const double sine = table[unsign(l * op.head_size + half + pair)];
        const double low = packed[unsign(first + pair)];
        const double high = packed[unsign(first + half + pair)];
        return s < half ? low * cosine - high * sine : high * cosine + low * sine;
      };
      for (std::int64_t s = 0; s < op.head_size; ++s) {
        for (std::int64_t h = 0; h < op.heads; ++h) {
          parts.q[apart(op, b, l, h, op.heads, s)] = turned(row + h * op.head_size, s);
        }
        for (std::int64_t h = 0; h < op.kv_heads; ++h) {
          const std::int64_t keys = row + (op.heads + h) * op.head_size;
          parts.k[apart(op, b, l, h, op.kv_heads, s)] = turned(keys, s);
          parts.v[apart(op, b, l, h, op.kv_heads, s)] = packed[unsign(keys + op.kv_heads * op.head_size + s)];
        }
      }
    }
  }
  return parts;
}

TEST_P(Tokens, RopeSplitsAndRotates) {
  for (Rope op : ropes) {
    for (const Element element : common) {
      op.format = {element, Scaling::none};
      SCOPED_TRACE(text(op));
      const std::int64_t packed_count = op.batch * op.length * (op.heads + 2 * op.kv_heads) * op.head_size;
      const std::vector<double> packed = typical(element, packed_count, 44);
      const std::vector<double> table = angle_table(op);
      const Parts want = split(op, packed, table);
      const auto after = run_body(GetParam(), op, op.rotate ? OperandValues{packed, table} : OperandValues{packed});
      const std::size_t first = op.rotate ? 2 : 1;
      expect_close(after[first], want.q, element, 0, 1e-6);
      expect_close(after[first + 1], want.k, element, 0, 1e-6);
      EXPECT_EQ(after[first + 2], want.v);
    }
  }
}

// A rotation does not change the length, so the way back from what came forward is the beginning.
TEST_P(Tokens, RopeBackwardUndoesRopeForward) {
  for (Rope op : ropes) {
    SCOPED_TRACE(text(op));
    const std::int64_t packed_count = op.batch * op.length * (op.heads + 2 * op.kv_heads) * op.head_size;
    const std::vector<double> packed = typical(Element::fp32, packed_count, 45);
    const std::vector<double> table = angle_table(op);
    const Parts forward = split(op, packed, table);
    OperandValues values = {forward.q, forward.k, forward.v};
    for (auto& part : values) {
      for (double& value : part) value = rounded(Element::fp32, value);
    }
    if (op.rotate) values.push_back(table);
    op.direction = Direction::backward;
    expect_close(run_body(GetParam(), op, values).back(), packed, Element::fp32, 0, 2e-6);
  }
}

TEST_P(Tokens, HeadsMergeAndComeApartAgain) {
  for (const Element element : common) {
    for (const auto& [batch, length, heads, size] :
         {std::array<std::int64_t, 4>{1, 1, 1, 1}, {2, 3, 4, 5}, {2, 33, 3, 65}}) {
      const std::int64_t count = batch * length * heads * size;
      const std::vector<double> x = typical(element, count, 46);
      std::vector<double> merged(x.size());
      for (std::int64_t b = 0; b < batch; ++b) {
        for (std::int64_t l = 0; l < length; ++l) {
          for (std::int64_t h = 0; h < heads; ++h) {
            for (std::int64_t s = 0; s < size; ++s) {
              merged[unsign(((b * length + l) * heads + h) * size + s)] =
                  x[unsign(((b * heads + h) * length + l) * size + s)];
            }
          }
        }
      }
      Heads op{Direction::forward, batch, length, heads, size, {element, Scaling::none}};
      ASSERT_EQ(run_body(GetParam(), op, {x})[1], merged);
      op.direction = Direction::backward;
      ASSERT_EQ(run_body(GetParam(), op, {merged})[1], x);
    }
  }
}

}  // namespace
}  // namespace assay
