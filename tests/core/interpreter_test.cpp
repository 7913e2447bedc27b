// The interpreter: the same as single results, whatever the op; rounding as memory does; gradients of every op.
// SPDX-License-Identifier: Apache-2.0
#include "core/interpreter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/number.h"
#include "tests/core/random_op.h"

namespace assay {
namespace {

const std::vector<Format> plain_formats{{Element::fp64, Scaling::none},
                                        {Element::fp32, Scaling::none},
                                        {Element::bf16, Scaling::none},
                                        {Element::fp16, Scaling::none}};

Reader reader(const Values& values) {
  return [&values](int operand, std::int64_t index) {
    return values.at(static_cast<std::size_t>(operand)).at(static_cast<std::size_t>(index));
  };
}

// Values may be infinities or NaN where a random op makes them; then both must.
bool alike(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

TEST(Interpreter, AgreesWithEverySingleExpectedElement) {
  test::RandomOps random(4, 6, plain_formats);
  for (std::size_t kind = 0; kind < std::variant_size_v<Op>; ++kind) {
    for (int i = 0; i < 40; ++i) {
      Op op = random.next(kind);
      if (auto* chase = std::get_if<Chase>(&op)) chase->loads = 1;
      const Work work = single(op);
      const Values before = initial_values(work, Pattern::typical, static_cast<std::uint64_t>(i));
      Values after = before;
      interpret(work, after, false);
      const std::vector<Operand> all = operands(op);
      for (std::size_t j = 0; j < all.size(); ++j) {
        for (std::size_t k = 0; k < after[j].size(); ++k) {
          const auto operand = static_cast<int>(j);
          const auto index = static_cast<std::int64_t>(k);
          if (all[j].access == Access::read) {
            ASSERT_TRUE(alike(after[j][k], before[j][k])) << text(op) << " changed " << all[j].name;
          } else {
            ASSERT_TRUE(alike(after[j][k], expected(op, operand, index, reader(before))))
                << text(op) << " " << all[j].name << "[" << k << "]";
          }
        }
      }
    }
  }
}

TEST(Interpreter, RoundedResultsStayWithinTheTolerance) {
  test::RandomOps random(5, 6, plain_formats);
  for (std::size_t kind = 0; kind < std::variant_size_v<Op>; ++kind) {
    for (int i = 0; i < 20; ++i) {
      const Op op = random.next(kind);
      const Work work = single(op);
      const Values before = initial_values(work, Pattern::typical, static_cast<std::uint64_t>(i));
      Values after = before;
      interpret(work, after, true);
      const std::vector<Operand> all = operands(op);
      for (std::size_t j = 0; j < all.size(); ++j) {
        if (all[j].access == Access::read) continue;
        for (std::size_t k = 0; k < after[j].size(); ++k) {
          const auto operand = static_cast<int>(j);
          const auto index = static_cast<std::int64_t>(k);
          const double wanted = expected(op, operand, index, reader(before));
          if (!std::isfinite(wanted)) continue;
          ASSERT_LE(std::abs(after[j][k] - wanted), tolerance(op, operand, index, reader(before)))
              << text(op) << " " << all[j].name << "[" << k << "] is " << wanted;
        }
      }
    }
  }
}

TEST(Interpreter, RoundsWhatAStepWritesAndOnlyThat) {
  // 1 + 2^-9 is 1 in bf16; unrounded it stays
  const Op copy = parse_op("stream kind=copy count=1 format=bf16");
  const double fine = 1 + std::ldexp(1.0, -9);
  Values values{{fine}, {0}};
  interpret(single(copy), values, false);
  EXPECT_EQ(values[1][0], fine);
  interpret(single(copy), values, true);
  EXPECT_EQ(values[1][0], 1);
  EXPECT_EQ(values[0][0], fine);
}

TEST(Interpreter, StartsWithNothingInWhatIsNotPersistent) {
  Work work = single(parse_op("stream kind=copy count=2"));
  work.tensors[1].persistent = false;
  const Values values = initial_values(work, Pattern::exact, 1);
  EXPECT_FALSE(std::isnan(values[0][0]));
  EXPECT_TRUE(std::isnan(values[1][0]));
}

TEST(Interpreter, RefusesOperandsOfTheWrongSize) {
  const Op copy = parse_op("stream kind=copy count=2");
  std::vector<double> two(2);
  std::vector<double> three(3);
  EXPECT_THROW(interpret(copy, {&two, &three}), Error);
  EXPECT_THROW(interpret(copy, {&two}), Error);
  Values values{{1, 2}};
  EXPECT_THROW(interpret(single(copy), values, false), Error);
}

}  // namespace
}  // namespace assay
