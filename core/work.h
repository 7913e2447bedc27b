// A piece of work: tensors and the steps that use them. One op alone is a microbenchmark; 300 steps are a training
// step. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/fill.h"
#include "core/op.h"

namespace assay {

enum class Category : std::uint8_t { weight, gradient, optimizer, activation, kv_cache, workspace, input };
std::string text(Category category);

// What a tensor holds when Program::fill has run.
enum class Initial : std::uint8_t {
  pattern,           // the pattern asked for
  index,             // integers below `bound`, uniform: token ids and targets
  one,               // norm weights
  zero,              // accumulated gradients, optimizer moments
  rope_table,        // cosines, then sines, of position times frequency
  adam_scalars,      // of the first step of a run: what AdamW alone needs
  training_scalars,  // before any step; the loss scale is the tensor's magnitude (1 where that is 0)
  constant,          // the tensor's magnitude
  position,          // bound + column: the position of a token whose row is a sequence
  last_position,     // (index + 1) bound - 1: the last token of each sequence of `bound`
};

struct Tensor {
  std::string name;
  Format format;
  std::vector<std::int64_t> shape;
  Place place;
  Category category = Category::activation;
  bool persistent = false;  // lives before the first and after the last step (weights, optimizer, inputs)
  Initial initial = Initial::pattern;
  std::int64_t bound = 0;  // for Initial::index, position and last_position; the first position of a rope_table
  double magnitude = 0;    // factor on the pattern's values; 0: what fill_magnitude() says
  int stream = -1;         // tensors of one stream hold the same numbers (a weight and its master); -1: its own
};

std::int64_t elements(const Tensor& tensor);  // number of elements; throws Error on overflow
std::int64_t bytes(const Tensor& tensor);     // elements and scales

struct Step {
  Op op;
  std::vector<int> operands;  // indices into Work::tensors, in the order of operands(op)
  int lane = 0;
  std::string phase;  // "forward", "backward", "optimizer"; for the split of a step's time
};

struct Work {
  std::string name;
  std::vector<Tensor> tensors;
  std::vector<Step> steps;
  int lanes = 1;
};

// The work that runs one op: its operands as persistent tensors, category input.
Work single(const Op& op);

// Throws Error naming the step where the op is not possible, operands do not match the op's, a tensor is written that
// the step also takes elsewhere, a lane does not exist, or a tensor is read before anything wrote it and it is not
// persistent. Operands match in number, format (tf32 and fp32 are stored alike) and number of elements: ops see the
// same memory as matrices, batches or heads. Formats stored by rows (4 bits, block scales) must agree in the last
// dimension too.
void check(const Work& work);

// Sum over the steps.
Cost cost(const Work& work);

// Where each tensor goes in one block of memory per place, and how large that block gets.
struct Plan {
  std::vector<std::int64_t> offset;        // by tensor
  std::vector<std::int64_t> bytes;         // by tensor, rounded up to the alignment
  std::int64_t peak = 0;                   // bytes of the device block
  int peak_step = 0;                       // the step during which most is alive
  std::vector<std::int64_t> live_at_peak;  // by Category, bytes alive during peak_step
  std::int64_t live_peak = 0;              // their sum: the lower bound that no placement can beat
};

// Pure: the back end allocates by it and the report budgets by it. Lifetimes run from the first to the last step that
// touches a tensor; what no step touches is alive throughout, like what is persistent. Placement is greedy by size;
// peak is what it needs (of the largest block, where a work uses several devices; other places have blocks of their own
// that start at 0). With several lanes a step must also wait for the steps whose memory it takes over.
Plan plan(const Work& work, std::int64_t alignment);

// The magnitude for Pattern::exact and Pattern::integer that keeps every sum of the work exact in its accumulator, at
// least 1. For the other patterns Tensor::magnitude, where that is 0: 32 for int8, so that it uses its range, else 1.
double fill_magnitude(const Work& work, int tensor, Pattern pattern);

// What Program::fill puts into one tensor: everything but the index looked up once, for loops over many elements.
struct Filling {
  Element element = Element::fp32;
  Initial initial = Initial::pattern;
  Pattern pattern = Pattern::zero;
  std::uint64_t seed = 0;                       // of this tensor: no two tensors of a work hold the same numbers
  double magnitude = 1;                         // for fill_value()
  std::int64_t bound = 0;                       // of the tensor
  std::int64_t columns = 1;                     // last dimension, for Initial::rope_table and position
  double operator()(std::int64_t index) const;  // already rounded to the element
};
Filling filling(const Work& work, int tensor, Pattern pattern, std::uint64_t seed);

// The value Program::fill puts at `index` of `tensor`, already rounded to its element: filling(...)(index). Block
// scales are all 1. Initial other than `pattern` holds the same values under every pattern.
double initial_value(const Work& work, int tensor, std::int64_t index, Pattern pattern, std::uint64_t seed);

}  // namespace assay
