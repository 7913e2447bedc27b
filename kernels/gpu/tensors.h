// The memory of a work: one block for each place and copy, and what the tensors in it hold.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "kernels/gpu/fill.h"
#include "kernels/gpu/kernel.h"

namespace assay::gpu {

class Tensors {
 public:
  static constexpr std::int64_t alignment = 256;  // bytes

  // Takes the memory for `copies` sets of all tensors. The work outlives it.
  Tensors(const Work& work, const Plan& plan, int copies, int device, vendor::Stream stream);

  int copies() const { return static_cast<int>(blocks_.size()); }
  Pointers operands(int copy, const Step& step) const;
  // By operand of the step: persistent, and no step of the work writes it.
  std::vector<bool> constant(const Step& step) const;

  void fill(Pattern pattern, std::uint64_t seed);
  void write(int tensor, const std::vector<std::byte>& stored);
  std::vector<double> read(int tensor, std::int64_t first, std::int64_t count);

  std::int64_t planned() const;    // bytes of all places and copies
  std::int64_t allocated() const;  // bytes of the blocks
  std::string note() const;        // on which NUMA nodes host memory lies, where some was chosen

 private:
  const Tensor& tensor_at(int tensor) const;
  Spot spot(int copy, int tensor) const;

  const Work& work_;
  const Plan& plan_;
  Contents contents_;
  std::vector<Place> places_;               // by block
  std::vector<std::int64_t> sizes_;         // by block
  std::vector<std::size_t> block_of_;       // by tensor
  std::vector<std::vector<Block>> blocks_;  // by copy and place
};

}  // namespace assay::gpu
