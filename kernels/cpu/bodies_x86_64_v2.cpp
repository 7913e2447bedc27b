// The bodies for x86-64-v2; kernels/cpu/CMakeLists.txt says with which flags.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/bodies_level.h"

assay::cpu::BodyTable assay::cpu::bodies_x86_64_v2() { return table_of_this_level<bodies::VectorTeam>("x86-64-v2"); }
