// The launches of kernels/cpu with the teams that look for mistakes.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/bodies_level.h"
#include "kernels/team.h"
#include "tests/kernels/body_runner.h"
#include "tests/kernels/shuffling_team.h"

namespace assay {

cpu::BodyTable serial_table() { return cpu::table_of_this_level<bodies::SerialTeam>("serial"); }
cpu::BodyTable shuffling_table() { return cpu::table_of_this_level<bodies::ShufflingTeam>("shuffling"); }

}  // namespace assay
