// Pointer chase on a GPU: one thread, each load needing the value of the one before.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/kernels_common.h"
#include "kernels/gpu/kernels_ring.h"

namespace assay::gpu {
namespace {

constexpr std::int64_t sector = 32;  // what a GPU brings at least: slots share none

// Every thread writes its places of the tour into the ring; a slot holds the byte offset of the next.
__global__ static void build_ring_kernel(std::byte* ring, RingOrder order, std::int64_t stride) {
  const std::uint64_t step = std::uint64_t{vendor::blocks()} * vendor::threads_per_block();
  std::uint64_t place = std::uint64_t{vendor::block_index()} * vendor::threads_per_block() + vendor::thread_index();
  for (; place < order.slots; place += step) {
    const std::uint64_t next = place + 1 == order.slots ? 0 : place + 1;
    std::byte* const slot = ring + static_cast<std::int64_t>(ring_slot(order, place)) * stride;
    *reinterpret_cast<std::int64_t*>(slot) = static_cast<std::int64_t>(ring_slot(order, next)) * stride;
  }
}

// Counts the slots that hold the offset of a slot. The ring was -1 everywhere, so all of them do only where the tour
// went to every slot; and a tour through all of them is one cycle.
__global__ static void count_slots_kernel(const std::byte* ring, std::int64_t slots, std::int64_t stride,
                                          unsigned long long* found) {
  const std::int64_t step = std::int64_t{vendor::blocks()} * vendor::threads_per_block();
  std::int64_t slot = std::int64_t{vendor::block_index()} * vendor::threads_per_block() + vendor::thread_index();
  unsigned long long own = 0;
  for (; slot < slots; slot += step) {
    const std::int64_t next = *reinterpret_cast<const std::int64_t*>(ring + slot * stride);
    own += next >= 0 && next % stride == 0 && next / stride < slots ? 1 : 0;
  }
  vendor::add_atomically(found, own);
}

// Goes on where the last run ended, so that short runs too see the whole ring.
__global__ static void chase_kernel(const std::byte* ring, std::int64_t loads, std::int64_t* at) {
  std::int64_t offset = *at;
  const auto follow = [&] { offset = *reinterpret_cast<const std::int64_t*>(ring + offset); };
  std::int64_t left = loads;
  for (; left >= 8; left -= 8) {
    follow();
    follow();
    follow();
    follow();
    follow();
    follow();
    follow();
    follow();
  }
  for (; left > 0; --left) follow();
  *at = offset;
}

constexpr unsigned build_threads = 256;

void build_ring(std::byte* ring, const Chase& op, const OwnMemory& state, const BodySetup& setup) {
  const vendor::Stream stream = setup.kernel.stream;
  const std::int64_t slots = op.bytes / op.stride;
  const unsigned threads = setup.threads_or(build_threads);
  const unsigned blocks = grid_over(ceiling(slots, threads) < 65536 ? ceiling(slots, threads) : 65536);
  vendor::set_bytes(ring, 0xFF, op.bytes, stream);
  vendor::set_bytes(state.as<std::byte>(), 0, state.bytes(), stream);
  vendor::launch(build_ring_kernel, blocks, threads, 0, stream, ring, ring_order(static_cast<std::uint64_t>(slots)),
                 op.stride);
  vendor::launch(count_slots_kernel, blocks, threads, 0, stream, ring, slots, op.stride,
                 state.as<unsigned long long>() + 1);
  unsigned long long found = 0;
  vendor::copy(&found, state.as<unsigned long long>() + 1, sizeof found, stream);
  vendor::synchronise(stream);
  if (found != static_cast<unsigned long long>(slots)) {
    throw Error("building the ring of a pointer chase: " + std::to_string(found) + " of " + std::to_string(slots) +
                " slots lead to another; the device's memory does not keep what is written to it");
  }
}

}  // namespace

std::string objection(const Chase& op) {
  if (op.stride < sector || op.stride % 8 != 0) {
    return "the slots of a pointer chase are at least one sector of 32 bytes apart on a GPU, and a multiple of 8";
  }
  return op.bytes / op.stride < 2 ? "a pointer chase needs at least two slots" : "";
}

Prepared prepare(const Chase& op, const Pointers& operands, const BodySetup& setup) {
  const OwnMemoryPointer state = own_memory(2 * static_cast<std::int64_t>(sizeof(std::int64_t)));  // where, found
  std::byte* const ring = operands.at(0);
  Prepared prepared;
  prepared.workspace = state->bytes();
  prepared.note = "random cycle, one thread";
  prepared.refresh = [=] { build_ring(ring, op, *state, setup); };
  prepared.enqueue = [=](vendor::Stream stream) {
    vendor::launch(chase_kernel, 1, 1, 0, stream, ring, op.loads, state->as<std::int64_t>());
  };
  return prepared;
}

}  // namespace assay::gpu
