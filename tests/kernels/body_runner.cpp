// Runs an op's body by every team there is.
// SPDX-License-Identifier: Apache-2.0
#include "tests/kernels/body_runner.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <new>

#include "core/fill.h"
#include "core/number.h"
#include "kernels/cpu/bodies.h"

namespace assay {
namespace {

constexpr std::size_t guard_bytes = 128;
constexpr int guard_value = 0xA5;

// The stored bytes of one operand with a guard behind them, aligned as a back end aligns.
class Stored {
 public:
  Stored(const Operand& operand, const std::vector<double>& values)
      : operand_(operand),
        size_(static_cast<std::size_t>(bits(operand.format.element)) / 8),
        count_(values.size()),
        memory_(static_cast<std::byte*>(::operator new (count_* size_ + guard_bytes, std::align_val_t{64}))) {
    for (std::size_t i = 0; i < count_; ++i) {
      const std::uint64_t code = encode(operand.format.element, values[i]);
      std::memcpy(memory_.get() + i * size_, &code, size_);  // little-endian: the low bytes come first
    }
    std::memset(memory_.get() + count_ * size_, guard_value, guard_bytes);
    before_.assign(memory_.get(), memory_.get() + count_ * size_);
  }

  std::byte* data() const { return memory_.get(); }

  std::vector<double> values() const {
    std::vector<double> result;
    for (std::size_t i = 0; i < count_; ++i) {
      std::uint64_t code = 0;
      std::memcpy(&code, memory_.get() + i * size_, size_);
      result.push_back(decode(operand_.format.element, code));
    }
    return result;
  }

  void check() const {
    for (std::size_t i = 0; i < guard_bytes; ++i) {
      ASSERT_EQ(memory_.get()[count_ * size_ + i], std::byte{guard_value})
          << operand_.name << " was written " << i << " bytes behind its end";
    }
    if (operand_.access == Access::read && count_ > 0) {
      EXPECT_EQ(std::memcmp(before_.data(), memory_.get(), before_.size()), 0) << operand_.name << " is only read";
    }
  }

 private:
  struct Free {
    void operator()(std::byte* memory) const { ::operator delete (memory, std::align_val_t{64}); }
  };
  Operand operand_;
  std::size_t size_;
  std::size_t count_;
  std::unique_ptr<std::byte, Free> memory_;
  std::vector<std::byte> before_;
};

std::size_t elements_of(const Operand& operand) {
  std::int64_t count = 1;
  for (const std::int64_t dimension : operand.shape) count *= dimension;
  return static_cast<std::size_t>(count);
}

std::unique_ptr<cpu::Kernel> make_kernel_of(const Runner& runner, const Op& op, const cpu::Pointers& pointers) {
  if (runner.name == "serial") return cpu::make_body_kernel(op, pointers, runner.threads, serial_table());
  if (runner.name == "shuffling") return cpu::make_body_kernel(op, pointers, runner.threads, shuffling_table());
  return cpu::make_body_kernel(op, pointers, runner.threads, runner.name);
}

}  // namespace

std::vector<Runner> runners() {
  std::vector<Runner> all = {{"serial", 1}, {"shuffling", 1}};
  for (const std::string& level : cpu::body_levels()) {
    for (const int threads : {1, 2, 3, 4}) {
      if (level == cpu::body_level() || threads % 2 == 1) all.push_back({level, threads});
    }
  }
  return all;
}

OperandValues run_body(const Runner& runner, const Op& op, OperandValues values) {
  const std::vector<Operand> all = operands(op);
  values.resize(all.size());
  std::vector<std::unique_ptr<Stored>> stored;
  cpu::Pointers pointers;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (values[i].empty()) values[i].assign(elements_of(all[i]), std::numeric_limits<double>::quiet_NaN());
    EXPECT_EQ(values[i].size(), elements_of(all[i])) << all[i].name;
    stored.push_back(std::make_unique<Stored>(all[i], values[i]));
    pointers.push_back(stored.back()->data());
  }
  make_kernel_of(runner, op, pointers)->run();
  OperandValues after;
  for (const auto& operand : stored) {
    operand->check();
    after.push_back(operand->values());
  }
  return after;
}

std::vector<double> typical(Element element, std::int64_t count, std::uint64_t seed, double magnitude) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < count; ++i) {
    values.push_back(rounded(element, fill_value(Pattern::typical, seed, i, magnitude)));
  }
  return values;
}

void expect_close(const std::vector<double>& got, const std::vector<double>& want, Element element, double relative,
                  double absolute) {
  ASSERT_EQ(got.size(), want.size());
  // Under the smallest normal number, steps of fp16 are no longer relative.
  const double step = element == Element::fp16 ? std::ldexp(1.0, -25) : 0.0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(want[i])) {
      ASSERT_TRUE(std::isnan(got[i])) << "element " << i << " is " << got[i] << " and must be NaN";
    } else if (std::isinf(want[i])) {
      ASSERT_EQ(got[i], want[i]) << "element " << i;
    } else {
      const double allowed = (unit_roundoff(element) + relative) * std::abs(want[i]) + absolute + step;
      ASSERT_LE(std::abs(got[i] - want[i]), allowed)
          << "element " << i << " is " << got[i] << " and must be " << want[i];
    }
  }
}

}  // namespace assay
