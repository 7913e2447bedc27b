// The table of models that is compiled into the program.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "core/models/model.h"

namespace assay {

// The text of core/models/models.csv, put there by the build.
std::string_view models_csv();

// Throws Error naming the line of anything that is not understood.
std::vector<ModelSpec> parse_models(std::string_view csv);

}  // namespace assay
