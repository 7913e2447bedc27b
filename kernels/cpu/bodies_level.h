// The table of the level that this file is compiled for.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cpu/bodies_table.h"
#include "kernels/cpu/run_attention.h"
#include "kernels/cpu/run_element.h"
#include "kernels/cpu/run_rows.h"
#include "kernels/cpu/run_stream.h"
#include "kernels/cpu/run_tokens.h"
#include "kernels/cpu/run_training.h"
#include "kernels/cpu/vector_team.h"

namespace assay::cpu {

// Other teams than VectorTeam are for tests.
template <class Team>
static inline BodyTable table_of_this_level(const char* name) {
  return {name,
          run_stream<Team>,
          run_pointwise<Team>,
          run_cast<Team>,
          run_adamw<Team>,
          run_softmax<Team>,
          run_norm<Team>,
          run_norm_weights<Team>,
          run_column_sum<Team>,
          run_cross_entropy<Team>,
          run_embedding<Team>,
          run_rope<Team>,
          run_heads<Team>,
          run_attention<Team>,
          run_cache_append<Team>,
          run_sum_squares<Team>,
          run_adam_control<Team>,
          run_tensor_scale<Team>,
          run_adamw8<Team>};
}

}  // namespace assay::cpu
