// What a decoder block cannot be built from yet, and what it can never be built from.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/models/decoder.h"

namespace assay {

// Throws Unsupported for models and formats that decoder_block() does not build, BadInput for impossible numbers.
void check_block(const ModelSpec& model, const BlockSetup& setup);

}  // namespace assay
