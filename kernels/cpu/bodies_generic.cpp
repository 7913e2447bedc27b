// The bodies for processors other than x86-64, with the compiler's own choice of instructions.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/bodies_level.h"

assay::cpu::BodyTable assay::cpu::bodies_generic() { return table_of_this_level<bodies::VectorTeam>("generic"); }
