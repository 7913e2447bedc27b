// The table of model_types as a whole, and lookup in it.
// SPDX-License-Identifier: Apache-2.0
#include "core/models/config_types.h"

#include <algorithm>

#include "core/error.h"

namespace assay {

const std::vector<ConfigType>& config_types() {
  static const std::vector<ConfigType> all = [] {
    std::vector<ConfigType> types = llama_like_types();
    for (const ConfigType& type : expert_types()) types.push_back(type);
    for (const ConfigType& type : gelu_types()) types.push_back(type);
    return types;
  }();
  return all;
}

const ConfigType* find_config_type(std::string_view name) {
  const auto& types = config_types();
  const auto found =
      std::find_if(types.begin(), types.end(), [&](const ConfigType& type) { return type.name == name; });
  return found == types.end() ? nullptr : &*found;
}

ModelSpec type_traits(std::string_view type) {
  ModelSpec model;
  model.type = std::string(type);
  if (type == "resnet") {
    model.kind = ModelKind::convolution;
    model.position = PositionKind::none;
    return model;
  }
  const ConfigType* row = find_config_type(type);
  if (row == nullptr) throw Error("the table of models names the unknown type \"" + std::string(type) + "\"");
  model.tied_embeddings = row->tied;
  if (row->traits != nullptr) row->traits(model);
  return model;
}

std::vector<KnownType> known_types() {
  std::vector<KnownType> known;
  for (const ConfigType& type : config_types()) known.push_back({std::string(type.name), std::string(type.says)});
  return known;
}

}  // namespace assay
