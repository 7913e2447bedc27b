// The kernel of the gate.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/gate.h"

#include <cstring>

#include "vendor.h"

namespace assay::gpu {
namespace {

constexpr std::int64_t patience_cycles = std::int64_t{5} << 30;  // two to five seconds

struct Flags {
  std::uint32_t open;
  std::uint32_t gave_up;
};

Flags* flags_in(const Block& block) { return reinterpret_cast<Flags*>(block.data()); }

__global__ static void wait_at_gate(Flags* flags, std::int64_t patience) {
  const std::int64_t begin = vendor::cycles();
  while (vendor::load_fresh(&flags->open) == 0) {
    if (vendor::cycles() - begin > patience) {
      flags->gave_up = 1;
      vendor::publish();
      return;
    }
  }
}

}  // namespace

Gate::Gate(int device) : flags_({PlaceKind::host_pinned, -1}, sizeof(Flags), device) {
  std::memset(flags_.data(), 0, sizeof(Flags));
}

void Gate::close(vendor::Stream stream) {
  __atomic_store_n(&flags_in(flags_)->open, 0U, __ATOMIC_RELEASE);
  vendor::launch(wait_at_gate, 1, 1, 0, stream, flags_in(flags_), patience_cycles);
}

void Gate::open() noexcept { __atomic_store_n(&flags_in(flags_)->open, 1U, __ATOMIC_RELEASE); }

bool Gate::gave_up() const { return __atomic_load_n(&flags_in(flags_)->gave_up, __ATOMIC_ACQUIRE) != 0; }

}  // namespace assay::gpu
