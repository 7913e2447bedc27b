// What is to be done with a model, made definite: defaults filled in, impossible wishes refused.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reports/judge.h"

namespace assay {

// Fills in the context and checks the rest against the model. Throws BadInput with what to do: a batch or context
// below 1, more tokens than a learned position table has, a format that cannot be trained, a rank below 1.
Workload resolve(const Workload& workload, const ModelSpec& model);

// "inference, batch 1, 4,096 tokens, weights bf16, KV cache bf16"
std::string describe(const Workload& workload, const ModelSpec& model);

// "4-bit", "bf16": as people say it.
std::string format_name(Format format);

// Bits that one weight takes with its share of the scales: 4.5 for fp4_e2m1.block16_e4m3.
double bits_per_number(Format format);

// The format of activations and of everything that is not a layer's matrix: fp32 for fp32, else 16 bits.
Format compute_format(Format weights);

std::string text(Recompute recompute);
std::string text(Optimizer optimizer);

// Of the matrices of the layers (what formats below 16 bits apply to) and of everything else.
struct SplitParameters {
  double matrices = 0;
  double rest = 0;
};
SplitParameters split_parameters(const ModelSpec& model);

// Parameters of low-rank adapters on every matrix of every layer: rank x (inputs + outputs) each; routers have none.
std::int64_t adapter_parameters(const ModelSpec& model, std::int64_t rank);
std::string adapter_formula(const ModelSpec& model, std::int64_t rank);

}  // namespace assay
