// What one instruction set offers: the launches of all bodies, compiled for it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/ops/attention.h"
#include "core/ops/memory.h"
#include "core/ops/pointwise.h"
#include "core/ops/rows.h"
#include "core/ops/tokens.h"
#include "core/ops/training.h"

namespace assay::cpu {

// Rows of an embedding that bear the same token, in ascending order: group g has rows[begins[g] .. begins[g + 1]).
struct TokenGroups {
  const std::int32_t* tokens;
  const std::int32_t* begins;
  const std::int32_t* rows;
  std::int64_t count;
};

// Floats that a thread keeps for one row: whole cache lines, so that threads do not share one.
static constexpr std::int64_t row_terms(std::int64_t columns) { return (columns + 15) / 16 * 16; }

struct BodyCall {
  std::byte* const* operands;
  int threads;
  std::byte* workspace;  // as large as workspace_bytes() of the op says, aligned to 64 bytes
  TokenGroups groups;    // for the backward embedding
};

// Pointers rather than virtual functions: no weak symbol may come out of the object files of the wider levels, or the
// linker could put their instructions where an older processor runs them.
struct BodyTable {
  const char* name;
  void (*stream)(const Stream&, const BodyCall&);
  void (*pointwise)(const Pointwise&, const BodyCall&);
  void (*cast)(const Cast&, const BodyCall&);
  void (*adamw)(const AdamW&, const BodyCall&);
  void (*softmax)(const Softmax&, const BodyCall&);
  void (*norm)(const Norm&, const BodyCall&);
  void (*norm_weights)(const NormWeights&, const BodyCall&);
  void (*column_sum)(const ColumnSum&, const BodyCall&);
  void (*cross_entropy)(const CrossEntropy&, const BodyCall&);
  void (*embedding)(const Embedding&, const BodyCall&);
  void (*rope)(const Rope&, const BodyCall&);
  void (*heads)(const Heads&, const BodyCall&);
  void (*attention)(const Attention&, const BodyCall&);
  void (*cache_append)(const CacheAppend&, const BodyCall&);
  void (*sum_squares)(const SumSquares&, const BodyCall&);
  void (*adam_control)(const AdamControl&, const BodyCall&);
  void (*tensor_scale)(const TensorScale&, const BodyCall&);
  void (*adamw8)(const AdamW8&, const BodyCall&);
};

// The x86-64 ones run only where the processor and the operating system have that level.
BodyTable bodies_x86_64_v2();
BodyTable bodies_x86_64_v3();
BodyTable bodies_x86_64_v4();
BodyTable bodies_generic();

}  // namespace assay::cpu
