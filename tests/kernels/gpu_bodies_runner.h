// Runs one op by the GPU's own kernels, on numbers given and returned as doubles, and judges what it wrote.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "core/fill.h"
#include "core/number.h"
#include "core/op.h"
#include "core/work.h"
#include "kernels/gpu/kernels_prepared.h"

namespace assay {

// One vector an operand, in the order of operands(op).
using DeviceValues = std::vector<std::vector<double>>;

// A stream of the first device, which is in use from now on.
class TestStream {
 public:
  TestStream() {
    vendor::use(0);
    stream_ = vendor::make_stream();
  }
  ~TestStream() { vendor::destroy(stream_); }
  TestStream(const TestStream&) = delete;
  TestStream& operator=(const TestStream&) = delete;
  vendor::Stream get() const { return stream_; }

 private:
  vendor::Stream stream_{};
};

// One operand in device memory, with bytes behind it that nobody may write.
class DeviceOperand {
 public:
  DeviceOperand(const Operand& operand, const std::vector<double>& values, vendor::Stream stream)
      : operand_(operand), stream_(stream), size_(static_cast<std::size_t>(bits(operand.format.element)) / 8) {
    before_.assign(values.size() * size_ + guard, std::byte{0xA5});
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::uint64_t code = encode(operand.format.element, values[i]);
      std::memcpy(before_.data() + i * size_, &code, size_);  // little-endian: the low bytes come first
    }
    memory_ = vendor::allocate(length());
    vendor::copy(memory_, before_.data(), length(), stream_);
    vendor::synchronise(stream_);
  }
  ~DeviceOperand() { vendor::release(memory_); }
  DeviceOperand(const DeviceOperand&) = delete;
  DeviceOperand& operator=(const DeviceOperand&) = delete;

  std::byte* data() const { return static_cast<std::byte*>(memory_); }

  std::vector<std::byte> stored() const {
    std::vector<std::byte> bytes(before_.size());
    vendor::copy(bytes.data(), memory_, length(), stream_);
    vendor::synchronise(stream_);
    return bytes;
  }

  // Fails the test where a byte behind the end, or of an operand that is only read, has changed.
  std::vector<double> values() const {
    const std::vector<std::byte> bytes = stored();
    const std::size_t untouched = operand_.access == Access::read ? 0 : bytes.size() - guard;
    for (std::size_t i = untouched; i < bytes.size(); ++i) {
      if (bytes[i] != before_[i]) {
        ADD_FAILURE() << operand_.name << " was written at byte " << i << " of " << bytes.size() - guard;
        break;
      }
    }
    std::vector<double> result((bytes.size() - guard) / size_);
    for (std::size_t i = 0; i < result.size(); ++i) {
      std::uint64_t code = 0;
      std::memcpy(&code, bytes.data() + i * size_, size_);
      result[i] = decode(operand_.format.element, code);
    }
    return result;
  }

 private:
  static constexpr std::size_t guard = 128;
  std::int64_t length() const { return static_cast<std::int64_t>(before_.size()); }

  Operand operand_;
  vendor::Stream stream_;
  std::size_t size_;
  std::vector<std::byte> before_;
  void* memory_ = nullptr;
};

// What a program fills before the op runs.
inline DeviceValues filled(const Op& op, Pattern pattern, std::uint64_t seed = 7) {
  const Work work = single(op);
  DeviceValues values;
  for (const int tensor : work.steps.at(0).operands) {
    const Filling value = filling(work, tensor, pattern, seed);
    values.emplace_back();
    const std::int64_t count = elements(work.tensors.at(static_cast<std::size_t>(tensor)));
    for (std::int64_t i = 0; i < count; ++i) values.back().push_back(value(i));
  }
  return values;
}

// The operands after `runs` executions, with so many threads a block (0: what the kernel chooses).
inline DeviceValues run_on_device(const Op& op, const DeviceValues& before, unsigned threads = 0, int runs = 1) {
  const std::vector<Operand> all = operands(op);
  const TestStream stream;
  std::vector<std::unique_ptr<DeviceOperand>> memory;
  gpu::Pointers pointers;
  for (std::size_t i = 0; i < all.size(); ++i) {
    memory.push_back(std::make_unique<DeviceOperand>(all[i], before.at(i), stream.get()));
    pointers.push_back(memory.back()->data());
  }
  gpu::BodySetup setup;
  setup.kernel.stream = stream.get();
  setup.kernel.constant.assign(all.size(), true);
  setup.threads = threads;
  {
    const std::unique_ptr<gpu::Kernel> kernel = gpu::make_body_kernel(op, pointers, setup);
    kernel->refresh();
    for (int run = 0; run < runs; ++run) kernel->enqueue(stream.get());
    vendor::synchronise(stream.get());
  }
  DeviceValues after;
  for (const auto& operand : memory) after.push_back(operand->values());
  return after;
}

// Elements of an operand that are worth a look: all of a small one; of a large one every few, the last always. And
// those of a gradient where the targets are.
inline std::vector<std::int64_t> places_to_check(const Op& op, const DeviceValues& before, std::size_t operand) {
  const auto count = static_cast<std::int64_t>(before[operand].size());
  const std::int64_t step = count <= 300 ? 1 : (count / 60) | 1;
  std::vector<std::int64_t> places;
  for (std::int64_t index = count - 1; index >= 0; index -= step) places.push_back(index);
  const auto* entropy = std::get_if<CrossEntropy>(&op);
  if (entropy != nullptr && operand == 3) {
    for (std::int64_t row = 0; row < entropy->rows; ++row) {
      places.push_back(row * entropy->columns + static_cast<std::int64_t>(before[1][static_cast<std::size_t>(row)]));
    }
  }
  return places;
}

// Fails the test where a written element is further from expected() than tolerance() allows.
inline void expect_as_core_says(const Op& op, const DeviceValues& before, const DeviceValues& after) {
  const Reader reader = [&](int operand, std::int64_t index) {
    return before.at(static_cast<std::size_t>(operand)).at(static_cast<std::size_t>(index));
  };
  const std::vector<Operand> all = operands(op);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].access == Access::read) continue;
    for (const std::int64_t index : places_to_check(op, before, i)) {
      const double want = expected(op, static_cast<int>(i), index, reader);
      const double got = after[i][static_cast<std::size_t>(index)];
      ASSERT_LE(std::abs(got - want), tolerance(op, static_cast<int>(i), index, reader))
          << all[i].name << " at " << index << " is " << got << " and must be " << want;
    }
  }
}

inline void expect_right(const std::string& op_text, Pattern pattern = Pattern::typical, unsigned threads = 0) {
  SCOPED_TRACE(op_text + " with " + text(pattern) + " data and blocks of " + std::to_string(threads));
  const Op op = parse_op(op_text);
  const Support support = gpu::body_support(op, 0);
  ASSERT_TRUE(support.yes) << support.reason;
  const DeviceValues before = filled(op, pattern);
  expect_as_core_says(op, before, run_on_device(op, before, threads));
}

// Block sizes for the tests: the kernel's own choice, one warp, an odd one, and several warps.
inline const std::vector<unsigned>& block_sizes() {
  static const std::vector<unsigned> sizes = {0, 32, 45, 128};
  return sizes;
}

}  // namespace assay
