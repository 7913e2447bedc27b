// Transfers: which are possible, and by which means.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/transfer.h"

#include <array>

#include "core/error.h"
#include "kernels/gpu/copy_kernel.h"
#include "kernels/gpu/handles.h"
#include "kernels/gpu/memory.h"

namespace assay::gpu {
namespace {

bool on_host(Home home) { return home.kind != PlaceKind::device; }
bool pageable(Home home) { return home.kind == PlaceKind::host_pageable; }

Support place_support(Home home, int devices) {
  if (on_host(home)) return node_support(home.index);
  if (home.index >= devices) {
    return {false,
            "there is no device " + std::to_string(home.index) + "; this machine has " + std::to_string(devices)};
  }
  return {true, ""};
}

// The number of the other device, or -1 where both ends are this device or the host.
int peer_of(Home from, Home to, int device) {
  if (!on_host(from) && from.index != device) return from.index;
  if (!on_host(to) && to.index != device) return to.index;
  return -1;
}

class TransferKernel : public Kernel {
 public:
  TransferKernel(const Transfer& transfer, const Pointers& operands, const KernelSetup& setup)
      : transfer_(transfer),
        operands_(operands),
        device_(setup.device),
        from_(home_of(transfer.from, setup.device)),
        to_(home_of(transfer.to, setup.device)) {
    const int peer = peer_of(from_, to_, device_);
    if (peer >= 0) open(peer);
    if (!transfer.both_ways) return;
    back_ = new_stream();
    begun_ = new_event();
    done_ = new_event();
  }

  void enqueue(vendor::Stream stream) override {
    if (!transfer_.both_ways) return one_way(0, 1, from_, to_, stream);
    vendor::record(begun_.get(), stream);
    vendor::wait(back_.get(), begun_.get());
    one_way(2, 3, to_, from_, back_.get());
    one_way(0, 1, from_, to_, stream);
    vendor::record(done_.get(), back_.get());
    vendor::wait(stream, done_.get());
  }

  Choice choice() const override {
    Choice choice;
    if (transfer_.path == CopyPath::engine) {
      choice.method = pageable(from_) || pageable(to_) ? "driver copy, pageable" : "driver copy";
    } else {
      choice.method = "own kernel, 16-byte loads and stores";
      if (!on_host(from_) && from_.index != device_) choice.method += ", loads from the peer";
      if (!on_host(to_) && to_.index != device_) choice.method += ", stores to the peer";
    }
    if (transfer_.both_ways) choice.method += ", two streams";
    choice.note = note_;
    return choice;
  }

  int launches() const override { return transfer_.both_ways ? 6 : 1; }
  bool blocks_host() const override { return pageable(from_) || pageable(to_); }

 private:
  // Without access the driver copies through the host, which is worth a number too, under its own name.
  void open(int peer) {
    const Support access = vendor::peer_access(device_, peer);
    if (!access.yes) {
      note_ = "no peer access, the driver copies through the host: " + access.reason;
      return;
    }
    vendor::enable_peer_access(peer);
    if (!vendor::peer_access(peer, device_).yes) return;
    vendor::use(peer);
    try {
      vendor::enable_peer_access(device_);
    } catch (...) {
      vendor::use(device_);
      throw;
    }
    vendor::use(device_);
  }

  void one_way(std::size_t source, std::size_t target, Home from, Home to, vendor::Stream stream) {
    std::byte* const into = operands_.at(target);
    const std::byte* const out_of = operands_.at(source);
    if (transfer_.path == CopyPath::kernel) return enqueue_copy(into, out_of, transfer_.bytes, device_, stream);
    if (!on_host(from) && !on_host(to) && from.index != to.index) {
      return vendor::copy_peer(into, to.index, out_of, from.index, transfer_.bytes, stream);
    }
    vendor::copy(into, out_of, transfer_.bytes, stream);
  }

  Transfer transfer_;
  Pointers operands_;
  int device_;
  Home from_;
  Home to_;
  std::string note_;
  StreamHandle back_;
  EventHandle begun_;
  EventHandle done_;
};

}  // namespace

Support transfer_support(const Transfer& transfer, int device, int devices) {
  const Home from = home_of(transfer.from, device);
  const Home to = home_of(transfer.to, device);
  for (const Home home : {from, to}) {
    if (const Support place = place_support(home, devices); !place.yes) return place;
  }
  if (on_host(from) && on_host(to)) {
    return {false, "copies from host memory to host memory are measured on the processor"};
  }
  if (!on_host(from) && !on_host(to) && from.index != device && to.index != device) {
    return {false, "a copy between devices is measured on one of the two"};
  }
  const int peer = peer_of(from, to, device);
  if (peer >= 0 && (on_host(from) || on_host(to))) {
    return {false, "copies between the host and a device are measured on that device"};
  }
  if (pageable(from) || pageable(to)) {
    if (transfer.path == CopyPath::kernel) return {false, "kernels cannot reach pageable memory of the host"};
    if (transfer.both_ways) {
      return {false, "copies of pageable memory keep the host busy, so that both ways at once are one after the other"};
    }
  }
  if (peer >= 0 && transfer.path == CopyPath::kernel) return vendor::peer_access(device, peer);
  return {true, ""};
}

std::unique_ptr<Kernel> make_transfer_kernel(const Transfer& transfer, const Pointers& operands,
                                             const KernelSetup& setup) {
  return std::make_unique<TransferKernel>(transfer, operands, setup);
}

}  // namespace assay::gpu
