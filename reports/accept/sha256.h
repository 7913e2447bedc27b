// SHA-256 of a text, as a certificate carries it (FIPS 180-4).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace assay {

// 64 lower-case hexadecimal digits.
std::string sha256(std::string_view bytes);

}  // namespace assay
