// Which precision really multiplied and added: judged from what came out, not from what was asked for.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/format.h"

namespace assay {

// One output of a matrix product: the pairs that made it, as stored, and what the device said their sum is.
struct ProbedOutput {
  std::vector<double> a;
  std::vector<double> b;
  double result = 0;
};

struct Precision {
  std::string executed;     // "tf32"; empty where it cannot be told
  std::string accumulated;  // "fp32", "14_bits", "fp16", "bf16"; empty where it cannot be told
  std::string proof;        // for the row: "probe: tf32 within 3.1e-07, sums fp32"
  bool lower_than_asked = false;
};

// `a_element` and `b_element` are those of the inputs, `output` is the result's, `accumulate` is what was asked for.
// The outputs must be sums of positive products under Pattern::probe; see docs/method.md for how it decides.
Precision judge_precision(const std::vector<ProbedOutput>& outputs, Element a_element, Element b_element,
                          Element output, Element accumulate);

}  // namespace assay
