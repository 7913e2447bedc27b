// Checks a work of many steps: a small twin against the interpreter, and the full shape against itself.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "bench/verify.h"
#include "core/backend.h"
#include "core/work.h"

namespace assay {

// Fills the twin with Pattern::typical, runs it once and compares every persistent tensor that a step writes with the
// FP64 interpreter, which rounds after each step as the device must.
Verdict verify_twin(const Work& twin, Program& program, std::uint64_t seed);

// Sampled values of every persistent tensor that a step writes, after a fill with Pattern::typical and one run.
struct Fingerprint {
  std::vector<int> tensors;
  std::vector<std::vector<double>> values;  // by tensor in `tensors`
};
Fingerprint fingerprint(const Work& work, Program& program, std::uint64_t seed);

// Looks for what needs no reference: values that are not finite, tensors that are all zero or were never written.
Verdict verify_alone(const Work& work, const Fingerprint& print, std::uint64_t seed);

// The same work gave the same numbers before and after it was timed, up to the order of its sums.
Verdict verify_again(const Work& work, const Fingerprint& before, const Fingerprint& after);

}  // namespace assay
