// Any bytes as a config.json: a model or a sentence, nothing else.
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/error.h"
#include "core/models/model.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const assay::ModelSpec model = assay::parse_config(text, "config.json");
    // What was taken must be usable: counts are positive and add up, and the cache of any length can be told.
    std::int64_t sum = 0;
    for (const assay::ParameterItem& item : assay::parameter_items(model)) sum += item.count;
    if (sum <= 0 || sum != assay::parameters(model)) std::abort();
    if (assay::active_parameters(model) > sum) std::abort();
    if (assay::kv_bytes(model, 1, 16) < 0 || assay::kv_bytes_per_token(model, 16) < 0) std::abort();
  } catch (const assay::BadInput&) {
  }
  return 0;
}
