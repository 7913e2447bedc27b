// The table of the level that this file is compiled for.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cpu/bodies_table.h"
#include "kernels/cpu/run_element.h"
#include "kernels/cpu/run_rows.h"
#include "kernels/cpu/run_stream.h"
#include "kernels/cpu/run_tokens.h"

namespace assay::cpu {

static inline BodyTable table_of_this_level(const char* name) {
  return {name,          run_stream, run_pointwise,    run_cast,       run_adamw,
          run_softmax,   run_norm,   run_norm_weights, run_column_sum, run_cross_entropy,
          run_embedding, run_rope,   run_heads};
}

}  // namespace assay::cpu
