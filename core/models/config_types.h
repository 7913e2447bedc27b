// One row for each model_type: which field means what, what is taken for granted, and what is peculiar.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "core/models/config_reader.h"
#include "core/models/model.h"

namespace assay {

// Names of the fields that most types share. Empty: the type has no such field.
struct FieldNames {
  std::string_view hidden = "hidden_size";
  std::string_view layers = "num_hidden_layers";
  std::string_view heads = "num_attention_heads";
  std::string_view kv_heads = "num_key_value_heads";
  std::string_view head_size = "head_dim";
  std::string_view feed_forward = "intermediate_size";
  std::string_view context = "max_position_embeddings";
};

// What happens where num_key_value_heads is absent.
enum class KvDefault : std::uint8_t { as_heads, required };

struct ConfigType {
  std::string_view name;
  FieldNames fields;
  KvDefault kv_default = KvDefault::as_heads;
  bool tied = false;                                            // tie_word_embeddings, where absent
  void (*traits)(ModelSpec&) = nullptr;                         // what every model of the type has
  void (*peculiar)(const ConfigReader&, ModelSpec&) = nullptr;  // fields that only this type has
  std::string_view says;                                        // in words, for people
};

const std::vector<ConfigType>& config_types();

// The row of a type, or null.
const ConfigType* find_config_type(std::string_view name);

// A spec with the type's traits and nothing else set; for the built-in table. "resnet" is known here too, though no
// config.json of it is read. Throws Error for an unknown type.
ModelSpec type_traits(std::string_view type);

// The rows, by kinship.
std::vector<ConfigType> llama_like_types();
std::vector<ConfigType> expert_types();
std::vector<ConfigType> gelu_types();

}  // namespace assay
