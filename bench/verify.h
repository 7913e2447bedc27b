// Is what was timed also right? Compares what the device holds with what each op must give.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/precision_probe.h"
#include "core/backend.h"
#include "core/work.h"

namespace assay {

struct Verdict {
  std::int64_t checked = 0;  // values compared
  bool exact = false;        // all of them to the last bit
  double worst = 0;          // the largest error as a share of what is allowed; 0 where exact
  std::string wrong;         // empty: right. Else a sentence with the numbers.
};

// Places worth looking at in a tensor: corners, spots along its first and last row and column, and spots all over, at
// least `count` of them in all where it has as many; in order, without repeats. The last dimension is the columns, all
// others together are the rows.
std::vector<std::int64_t> sample_places(const std::vector<std::int64_t>& shape, int count);

// The op writes something that can be predicted in reasonable time.
bool verifiable(const Op& op);

// The pattern that proves most before timing: exact integers where they make the result exact; the timed data itself
// where they do not, or where nothing is calculated.
Pattern proving_pattern(const Op& op, Pattern timed);

// A read stream too long to be added up here. It is proved by a constant: the sum is then known.
bool is_long_read(const Op& op);
Verdict verify_long_read(const Work& work, Program& program);  // after fill(constant) and one run

// Checks what a work of one op wrote after it was filled with this pattern and seed and run; `executed_once` says that
// it ran once only, without which read_write operands cannot be predicted and are left out.
Verdict verify(const Work& work, Program& program, Pattern pattern, std::uint64_t seed, bool executed_once);

// Whether the result can tell which precision multiplied and added: not for integers, nor behind an epilogue.
bool can_probe(const Op& op);

// Which precision did, in a work of one matrix product that was filled with Pattern::probe and run.
Precision probed_precision(const Work& work, Program& program, std::uint64_t seed);

// The seed of all measurements: inputs are the same everywhere, so that results can be compared.
constexpr std::uint64_t measuring_seed = 20240229;

}  // namespace assay
