// Launches, graphs, allocations and waits.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/launch.h"

#include <string>

#include "core/error.h"
#include "kernels/gpu/empty_kernel.h"

namespace assay::gpu {
namespace {

class Launches : public Chore {
 public:
  Launches(const Launch& launch, vendor::Stream stream) : count_(launch.count), stream_(stream) {}
  void run() override {
    for (std::int64_t i = 0; i < count_; ++i) enqueue_nothing(stream_);
    vendor::synchronise(stream_);
  }
  Choice choice() const override {
    Choice choice;
    choice.method = "empty kernels queued one after the other, then waited for";
    return choice;
  }

 private:
  std::int64_t count_;
  vendor::Stream stream_;
};

class GraphLaunch : public Chore {
 public:
  GraphLaunch(const Launch& launch, vendor::Stream stream) : stream_(stream) {
    enqueue_nothing(stream);  // so that the kernel is loaded before it is captured
    vendor::synchronise(stream);
    Capture capture(stream);
    for (std::int64_t i = 0; i < launch.count; ++i) enqueue_nothing(stream);
    graph_ = capture.end();
  }
  void run() override {
    vendor::launch(graph_.get(), stream_);
    vendor::synchronise(stream_);
  }
  Choice choice() const override {
    Choice choice;
    choice.method = "one graph of empty kernels, launched and waited for";
    return choice;
  }

 private:
  vendor::Stream stream_;
  GraphHandle graph_;
};

class Allocations : public Chore {
 public:
  explicit Allocations(const Launch& launch) : count_(launch.count), bytes_(launch.bytes) {}
  void run() override {
    for (std::int64_t i = 0; i < count_; ++i) vendor::release(vendor::allocate(bytes_));
  }
  Choice choice() const override {
    Choice choice;
    choice.method = "allocated by the driver and released at once";
    return choice;
  }

 private:
  std::int64_t count_;
  std::int64_t bytes_;
};

class Waits : public Chore {
 public:
  Waits(const Launch& launch, vendor::Stream stream) : count_(launch.count), stream_(stream) {}
  void run() override {
    for (std::int64_t i = 0; i < count_; ++i) vendor::synchronise(stream_);
  }
  Choice choice() const override {
    Choice choice;
    choice.method = "waits for a stream that has nothing to do";
    return choice;
  }

 private:
  std::int64_t count_;
  vendor::Stream stream_;
};

}  // namespace

Support launch_support(const Launch& launch) {
  constexpr std::int64_t most_in_a_graph = 100'000;
  switch (launch.kind) {
    case LaunchKind::kernel:
    case LaunchKind::synchronise:
      return {true, ""};
    case LaunchKind::graph:
      if (launch.count > most_in_a_graph) return {false, "graphs of more than 100,000 kernels are not measured"};
      return {true, ""};
    case LaunchKind::allocate:
      if (launch.bytes < 1) return {false, "an allocation must have at least one byte"};
      return {true, ""};
  }
  return {false, "unknown kind of launch"};
}

std::unique_ptr<Chore> make_chore(const Launch& launch, vendor::Stream stream) {
  switch (launch.kind) {
    case LaunchKind::kernel:
      return std::make_unique<Launches>(launch, stream);
    case LaunchKind::graph:
      return std::make_unique<GraphLaunch>(launch, stream);
    case LaunchKind::allocate:
      return std::make_unique<Allocations>(launch);
    case LaunchKind::synchronise:
      return std::make_unique<Waits>(launch, stream);
  }
  throw Error("making ready an unknown kind of launch");
}

}  // namespace assay::gpu
