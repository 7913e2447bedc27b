// Blocks by place, and tensors in them as planned.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/tensors.h"

#include <algorithm>

#include "core/checked.h"
#include "core/error.h"
#include "core/host.h"

namespace assay::gpu {
namespace {

bool writes(const Step& step, int tensor) {
  const std::vector<Operand> all = operands(step.op);
  for (std::size_t i = 0; i < step.operands.size(); ++i) {
    if (step.operands[i] == tensor && all.at(i).access != Access::read) return true;
  }
  return false;
}

// Host memory is only promised when it is asked for, and taken when it is touched: then it is too late to say no.
void require_host_memory(std::int64_t needed, const std::string& work) {
  constexpr std::int64_t never_too_much = std::int64_t{16} << 20;
  if (needed <= never_too_much) return;
  const std::int64_t usable = usable_memory(host_limits());
  if (needed <= usable) return;
  throw OutOfMemory("preparing " + work + " takes " + std::to_string(needed) + " bytes of host memory, and only " +
                    std::to_string(usable) + " can be had now");
}

}  // namespace

Tensors::Tensors(const Work& work, const Plan& plan, int copies, int device, vendor::Stream stream)
    : work_(work), plan_(plan), contents_(device, stream) {
  for (std::size_t i = 0; i < work.tensors.size(); ++i) {
    const auto found = std::find(places_.begin(), places_.end(), work.tensors[i].place);
    block_of_.push_back(static_cast<std::size_t>(found - places_.begin()));
    if (found == places_.end()) {
      places_.push_back(work.tensors[i].place);
      sizes_.push_back(0);
    }
    std::int64_t& size = sizes_[block_of_.back()];
    size = std::max(size, plan.offset[i] + plan.bytes[i]);
  }
  blocks_.resize(static_cast<std::size_t>(std::max(1, copies)));
  std::int64_t on_host = 0;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (places_[i].kind != PlaceKind::device) on_host += sizes_[i];
  }
  require_host_memory(checked_multiply(on_host, static_cast<std::int64_t>(blocks_.size())), work.name);
  for (std::vector<Block>& blocks : blocks_) {
    for (std::size_t i = 0; i < places_.size(); ++i) {
      blocks.emplace_back(home_of(places_[i], device), sizes_[i], device);
    }
  }
}

const Tensor& Tensors::tensor_at(int tensor) const {
  if (tensor < 0 || static_cast<std::size_t>(tensor) >= work_.tensors.size()) {
    throw Error("there is no tensor " + std::to_string(tensor) + " in " + work_.name);
  }
  return work_.tensors[static_cast<std::size_t>(tensor)];
}

Spot Tensors::spot(int copy, int tensor) const {
  const auto index = static_cast<std::size_t>(tensor);
  const Block& block = blocks_.at(static_cast<std::size_t>(copy)).at(block_of_.at(index));
  return {block.data() + plan_.offset[index], block.home()};
}

Pointers Tensors::operands(int copy, const Step& step) const {
  Pointers pointers;
  for (const int tensor : step.operands) pointers.push_back(spot(copy, tensor).memory);
  return pointers;
}

std::vector<bool> Tensors::constant(const Step& step) const {
  std::vector<bool> list;
  for (const int tensor : step.operands) {
    list.push_back(
        tensor_at(tensor).persistent &&
        std::none_of(work_.steps.begin(), work_.steps.end(), [&](const Step& other) { return writes(other, tensor); }));
  }
  return list;
}

void Tensors::fill(Pattern pattern, std::uint64_t seed) {
  for (int tensor = 0; tensor < static_cast<int>(work_.tensors.size()); ++tensor) {
    const Tensor& target = tensor_at(tensor);
    const Filling values = filling(work_, tensor, pattern, seed);
    for (int copy = 0; copy < copies(); ++copy) {
      if (!target.persistent) {
        contents_.poison(target, spot(copy, tensor));
      } else if (copy == 0) {
        contents_.fill(target, values, spot(copy, tensor));
      } else {
        contents_.copy(spot(0, tensor), spot(copy, tensor), bytes(target));
      }
    }
  }
}

void Tensors::write(int tensor, const std::vector<std::byte>& stored) {
  const Tensor& target = tensor_at(tensor);
  if (!target.persistent) {
    throw Error("writing tensor \"" + target.name + "\" of " + work_.name + ", which is not persistent");
  }
  const std::int64_t wanted = bytes(target);
  if (static_cast<std::int64_t>(stored.size()) != wanted) {
    throw Error("writing " + std::to_string(stored.size()) + " bytes to tensor \"" + target.name + "\", which has " +
                std::to_string(wanted));
  }
  for (int copy = 0; copy < copies(); ++copy) contents_.write(stored, spot(copy, tensor));
}

std::vector<double> Tensors::read(int tensor, std::int64_t first, std::int64_t count) {
  return contents_.read(tensor_at(tensor), spot(0, tensor), first, count);
}

std::int64_t Tensors::planned() const {
  std::int64_t total = 0;
  for (const std::int64_t size : sizes_) total += size;
  return total * copies();
}

std::int64_t Tensors::allocated() const {
  std::int64_t total = 0;
  for (const std::vector<Block>& blocks : blocks_) {
    for (const Block& block : blocks) total += block.bytes();
  }
  return total;
}

std::string Tensors::note() const {
  std::string text;
  for (const Block& block : blocks_.front()) {
    if (block.home().kind == PlaceKind::device || block.home().index < 0) continue;
    const auto node = block.node();
    if (!text.empty()) text += "; ";
    text += "host memory asked for on NUMA node " + std::to_string(block.home().index);
    if (!node) text += ", the kernel does not say where it lies";
    if (node && *node != block.home().index) text += ", and it lies on node " + std::to_string(*node);
  }
  return text;
}

}  // namespace assay::gpu
