// What the header of a checkpoint says: the exact bytes of its tensors, and of GGUF files the model's shape as well.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/models/model.h"

namespace assay {

struct StoredTensors {
  std::int64_t bytes = 0;
  std::int64_t tensors = 0;  // 0: not said
};

// The JSON of a .safetensors header, or of a model.safetensors.index.json. Throws BadInput with `where`, the tensor and
// what was expected.
StoredTensors parse_safetensors(std::string_view json, const std::string& where);

// The beginning of a GGUF file (versions 2 and 3), up to the end of its tensors' descriptions. Throws BadInput with
// `where`: no GGUF, cut short, sizes that cannot be, an architecture or a number format that is not known.
ModelSpec parse_gguf(std::string_view bytes, const std::string& where);

// By the file's name: .gguf; .safetensors or .safetensors.index.json, which need the config.json beside them.
bool is_checkpoint(const std::filesystem::path& path);
ModelSpec read_checkpoint(const std::filesystem::path& path);

}  // namespace assay
