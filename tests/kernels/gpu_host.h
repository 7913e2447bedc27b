// The pretended GPU for one test: fresh before, and empty after.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "core/backend.h"
#include "kernels/gpu/backend.h"
#include "tests/host_vendor/machine.h"

namespace assay {

class GpuOnHost : public testing::Test {
 protected:
  void SetUp() override { start({}); }

  void TearDown() override {
    backend_.reset();
    EXPECT_EQ(machine().live().all(), 0) << "something is left on the device";
    EXPECT_THAT(machine().complaints(), testing::IsEmpty());
    machine().reset();
  }

  void start(const vendor::host::Settings& settings) {
    backend_.reset();
    machine().reset(settings);
    backend_ = gpu::make_backend();
  }

  static vendor::host::Machine& machine() { return vendor::host::machine(); }
  Backend& backend() { return *backend_; }
  std::unique_ptr<Program> prepare(const Work& work, const Preparation& preparation = {}) {
    return backend_->prepare(work, 0, preparation);
  }

 private:
  std::unique_ptr<Backend> backend_;
};

inline std::vector<std::byte> stored_floats(const std::vector<float>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

inline Tensor float_vector(const std::string& name, std::int64_t count, bool persistent) {
  Tensor tensor;
  tensor.name = name;
  tensor.format = {Element::fp32, Scaling::none};
  tensor.shape = {count};
  tensor.persistent = persistent;
  return tensor;
}

inline Stream stream_of(StreamKind kind, std::int64_t count) {
  Stream stream;
  stream.kind = kind;
  stream.count = count;
  stream.format = {Element::fp32, Scaling::none};
  return stream;
}

// y = 3 x, then z = 3 y: y lives in between only.
inline Work two_steps(std::int64_t count) {
  Work work;
  work.name = "two steps";
  work.tensors = {float_vector("x", count, true), float_vector("y", count, false), float_vector("z", count, true)};
  work.steps = {Step{stream_of(StreamKind::scale, count), {0, 1}, 0, "forward"},
                Step{stream_of(StreamKind::scale, count), {1, 2}, 0, "forward"}};
  return work;
}

// A ring between two lanes: b = 3 a, c = 3 b on the other lane, d = b + c, a = d on the other lane again, so that an
// execution makes a twelve times as large. Every step must wait for the other lane, and the first for the execution
// before.
inline Work two_lanes(std::int64_t count) {
  Work work;
  work.name = "two lanes";
  work.lanes = 2;
  work.tensors = {float_vector("a", count, true), float_vector("b", count, false), float_vector("c", count, false),
                  float_vector("d", count, false)};
  work.steps = {Step{stream_of(StreamKind::scale, count), {0, 1}, 0, "forward"},
                Step{stream_of(StreamKind::scale, count), {1, 2}, 1, "forward"},
                Step{stream_of(StreamKind::add, count), {1, 2, 3}, 0, "forward"},
                Step{stream_of(StreamKind::copy, count), {3, 0}, 1, "forward"}};
  return work;
}

}  // namespace assay
