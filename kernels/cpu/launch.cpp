// Empty parallel regions, barriers and allocations.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/launch.h"

#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>

#include "core/error.h"

namespace assay::cpu {
namespace {

class LaunchKernel : public Kernel {
 public:
  LaunchKernel(const Launch& launch, int threads) : launch_(launch), threads_(threads) {}

  void run() override {
    switch (launch_.kind) {
      case LaunchKind::kernel:
        return regions();
      case LaunchKind::allocate:
        return allocations();
      case LaunchKind::synchronise:
        return barriers();
      case LaunchKind::graph:
        throw Unsupported("a processor has no graphs");
    }
  }

  std::string method() const override {
    const std::string team = std::to_string(threads_) + (threads_ == 1 ? " thread" : " threads");
    switch (launch_.kind) {
      case LaunchKind::kernel:
        return "openmp parallel region, " + team;
      case LaunchKind::allocate:
        return "malloc, one byte written, free";
      case LaunchKind::synchronise:
        return "openmp barrier, " + team;
      case LaunchKind::graph:
        break;
    }
    return "";
  }

 private:
  void regions() const {
    for (std::int64_t i = 0; i < launch_.count; ++i) {
#pragma omp parallel num_threads(threads_)
      { asm volatile("" ::: "memory"); }
    }
  }

  void barriers() const {
#pragma omp parallel num_threads(threads_)
    for (std::int64_t i = 0; i < launch_.count; ++i) {
#pragma omp barrier
    }
  }

  // The byte is written so that the first page is really taken, as it is before any use.
  void allocations() const {
    for (std::int64_t i = 0; i < launch_.count; ++i) {
      auto* memory = static_cast<volatile char*>(std::malloc(static_cast<std::size_t>(launch_.bytes)));
      if (memory == nullptr) {
        throw OutOfMemory("could not allocate " + std::to_string(launch_.bytes) + " bytes");
      }
      *memory = 1;
      std::free(const_cast<char*>(memory));
    }
  }

  Launch launch_;
  int threads_;
};

}  // namespace

Support launch_support(const Launch& launch) {
  switch (launch.kind) {
    case LaunchKind::kernel:
    case LaunchKind::synchronise:
      return {true, ""};
    case LaunchKind::allocate:
      if (launch.bytes < 1) {
        return {false, "an allocation must have at least one byte"};
      }
      return {true, ""};
    case LaunchKind::graph:
      return {false, "a processor has no graphs of launches; its steps run one after the other"};
  }
  return {false, "unknown kind of launch"};
}

std::unique_ptr<Kernel> make_launch_kernel(const Launch& launch, int threads) {
  return std::make_unique<LaunchKernel>(launch, threads);
}

}  // namespace assay::cpu
