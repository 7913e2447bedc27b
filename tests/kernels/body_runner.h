// Runs an op's body by every team there is, on numbers given and returned as doubles.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "core/op.h"
#include "kernels/cpu/bodies_table.h"

namespace assay {

// Who runs it: one of the tables "serial" and "shuffling", or a level of this machine, on so many threads.
struct Runner {
  std::string name;
  int threads = 1;
};
inline std::ostream& operator<<(std::ostream& out, const Runner& runner) {
  return out << runner.name << " on " << runner.threads << " threads";
}

// The two tables, and each level of this machine on one and three threads, the highest on one to four.
std::vector<Runner> runners();

// The launches of kernels/cpu with a plain loop, and with a ShufflingTeam.
cpu::BodyTable serial_table();
cpu::BodyTable shuffling_table();

// One vector an operand, in the order of operands(op), values already representable in their elements (see rounded()).
using OperandValues = std::vector<std::vector<double>>;

// Runs the op once and returns all operands afterwards. Fails the test where a byte beyond an operand was written, or
// an operand that is only read has changed. Written operands start as NaN unless values are given for them.
OperandValues run_body(const Runner& runner, const Op& op, OperandValues values);

// Normal-like numbers with deviation about `magnitude`, rounded to the element; another seed gives others.
std::vector<double> typical(Element element, std::int64_t count, std::uint64_t seed, double magnitude = 1);

// Fails the test unless |got - want| <= (roundoff of the element + relative) |want| + absolute for each element; NaN
// and infinity must be met by the same.
void expect_close(const std::vector<double>& got, const std::vector<double>& want, Element element, double relative,
                  double absolute);

}  // namespace assay
