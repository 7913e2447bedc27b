// AMD's architectures as numbers, and which FP8 they speak. Needs no toolkit.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace vendor {

// "gfx942:sramecc+:xnack-" is 942. What is a letter in the name counts on from 9, as in hexadecimal digits: gfx90a is
// 910. 0 where it is none.
int architecture_number(const std::string& name);

// 910 is "gfx90a".
std::string architecture_text(int architecture);

// Which numbers 8 bits mean on an architecture: FNUZ (gfx940 to gfx942), OCP (gfx950, RDNA4), or nothing.
enum class Fp8Dialect { none, fnuz, ocp };
Fp8Dialect fp8_dialect(int architecture);

}  // namespace vendor
