// Reads a Hugging Face config.json into a ModelSpec; strict, because a guessed field is a wrong verdict.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/models/config_reader.h"
#include "core/models/config_types.h"
#include "core/models/model.h"
#include "core/models/names.h"

namespace assay {
namespace {

constexpr std::uintmax_t largest_file = 16U << 20U;  // real ones have a few KiB
constexpr int deepest_nesting = 64;

nlohmann::json parse_json(std::string_view text, const std::string& where) {
  using nlohmann::json;
  const json::parser_callback_t shallow = [&](int depth, json::parse_event_t, json&) {
    if (depth > deepest_nesting)
      throw BadInput(where + ": nested deeper than " + std::to_string(deepest_nesting) +
                     " levels; expected a model's config.json");
    return true;
  };
  try {
    return json::parse(text.begin(), text.end(), shallow);
  } catch (const json::parse_error& error) {
    throw BadInput(where + ": not valid JSON at byte " + std::to_string(error.byte) + " of " +
                   std::to_string(text.size()) + (error.byte > text.size() ? " (the file ends too early)" : "") +
                   "; expected a model's config.json, complete and without NaN or comments");
  } catch (const json::exception&) {
    throw BadInput(where + ": holds a number that no computer number can hold; expected a model's config.json");
  }
}

std::string read_text(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (error || !std::filesystem::exists(status)) throw BadInput(path.string() + ": no such file");
  if (!std::filesystem::is_regular_file(status)) throw BadInput(path.string() + ": not a regular file");
  const auto size = std::filesystem::file_size(path, error);
  if (!error && size > largest_file)
    throw BadInput(path.string() + ": " + std::to_string(size) + " bytes; a config.json has at most " +
                   std::to_string(largest_file));
  std::ifstream file(path, std::ios::binary);
  if (!file) throw BadInput(path.string() + ": cannot be opened for reading");
  std::string text(static_cast<std::size_t>(size), '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (file.bad()) throw BadInput(path.string() + ": cannot be read to its end");
  return text;
}

const ConfigType& type_of(const ConfigReader& config) {
  if (!config.has("model_type")) config.refuse("model_type", "the name of an architecture, as \"llama\"");
  const std::string name = config.word("model_type", "");
  if (const ConfigType* type = find_config_type(name)) return *type;
  std::vector<std::string> names;
  for (const ConfigType& type : config_types()) names.emplace_back(type.name);
  std::string known;
  for (const std::string& near : suggestions(name, names, 4)) known += (known.empty() ? "" : ", ") + near;
  config.refuse("model_type",
                "one of the " + std::to_string(names.size()) +
                    " types that are known here (`assay list models` names them all); the nearest: " + known);
}

// Of several names for one field ("n_embed|hidden_size") the first that the file has, else the first.
std::string_view present(const ConfigReader& config, std::string_view names) {
  std::string_view rest = names;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('|'), rest.size());
    if (config.has(rest.substr(0, end))) return rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return names.substr(0, names.find('|'));
}

FieldNames present(const ConfigReader& config, const FieldNames& names) {
  return {present(config, names.hidden),   present(config, names.layers),    present(config, names.heads),
          present(config, names.kv_heads), present(config, names.head_size), present(config, names.feed_forward),
          present(config, names.context)};
}

void read_attention_shape(const ConfigReader& config, const ConfigType& type, ModelSpec& model) {
  const FieldNames fields = present(config, type.fields);
  const bool released_without = type.name == "gemma3_text";  // Gemma3TextConfig: 8 heads, 4 of them KV
  model.heads = released_without ? config.optional_integer(fields.heads).value_or(8) : config.integer(fields.heads);
  model.kv_heads = model.heads;
  if (!fields.kv_heads.empty()) {
    if (config.has(fields.kv_heads) || (type.kv_default == KvDefault::required && !released_without))
      model.kv_heads = config.integer(fields.kv_heads);
    else if (released_without)
      model.kv_heads = 4;
  }
  if (!fields.head_size.empty() && config.has(fields.head_size)) {
    model.head_size = config.integer(fields.head_size);
  } else if (model.head_size == 0) {
    if (model.hidden % model.heads != 0)
      config.refuse(fields.heads, "a divisor of the hidden size " + std::to_string(model.hidden));
    model.head_size = model.hidden / model.heads;
  }
}

void read_common(const ConfigReader& config, const ConfigType& type, ModelSpec& model) {
  const FieldNames fields = present(config, type.fields);
  model.layers = config.integer(fields.layers);
  model.hidden = config.integer(fields.hidden);
  model.vocabulary = type.name == "gemma3_text" ? config.optional_integer("vocab_size").value_or(262208)
                                                : config.integer("vocab_size");
  read_attention_shape(config, type, model);
  const bool four_times = type.name == "gpt2" || type.name == "gpt_bigcode" || type.name == "falcon" ||
                          type.name == "bloom" || type.name == "mpt";
  if (four_times)
    model.feed_forward = fields.feed_forward.empty()
                             ? 4 * model.hidden
                             : config.optional_integer(fields.feed_forward).value_or(4 * model.hidden);
  else
    model.feed_forward = config.integer(fields.feed_forward);
  model.tied_embeddings = config.flag("tie_word_embeddings", type.tied);
  model.context = config.optional_integer(fields.context).value_or(0);
}

void check_whole(const ConfigReader& config, const ConfigType& type, const ModelSpec& model) {
  const FieldNames fields = present(config, type.fields);
  if (model.heads % model.kv_heads != 0)
    config.refuse(fields.kv_heads.empty() ? fields.heads : fields.kv_heads,
                  "a divisor of the " + std::to_string(model.heads) + " heads");
  if (model.position == PositionKind::learned && model.positions == 0)
    config.refuse(fields.context, "the number of positions: this type has a learned table of them");
  try {
    // Bytes and flops must fit into 63 bits too, with room for a batch.
    if (parameters(model) > std::numeric_limits<std::int64_t>::max() >> 16)
      throw BadInput("more parameters than any machine holds");
    kv_bytes(model, std::max<std::int64_t>(model.context, 1), 32);
  } catch (const BadInput& error) {
    throw BadInput(config.where() + ": hidden size, layers, vocabulary or experts are too large together; " +
                   error.what());
  }
}

ModelSpec read_model(const ConfigReader& config) {
  const ConfigType& type = type_of(config);
  ModelSpec model = type_traits(type.name);
  read_common(config, type, model);
  if (type.peculiar != nullptr) type.peculiar(config, model);
  check_whole(config, type, model);
  model.source = config.where();
  return model;
}

}  // namespace

ModelSpec parse_config(std::string_view text, const std::string& where) {
  const nlohmann::json json = parse_json(text, where);
  if (!json.is_object())
    throw BadInput(where + ": holds " + json.type_name() + ", expected an object: the config.json of a model");
  const ConfigReader config(json, where);
  // Models of several parts nest the language model; only that is judged.
  if (config.has("model_type") && config.word("model_type", "") == "gemma3") {
    ModelSpec model = read_model(config.inside("text_config"));
    model.note = "the text model only; the vision tower is extra";
    return model;
  }
  return read_model(config);
}

ModelSpec read_config(const std::filesystem::path& path) {
  std::error_code error;
  const bool folder = std::filesystem::is_directory(path, error);
  const std::filesystem::path file = folder ? path / "config.json" : path;
  if (folder && !std::filesystem::exists(file, error))
    throw BadInput(path.string() + ": the folder holds no config.json; expected a model's folder or its config.json");
  ModelSpec model = parse_config(read_text(file), file.string());
  const std::filesystem::path named = folder ? path : std::filesystem::absolute(file).parent_path();
  model.title = std::filesystem::weakly_canonical(named, error).filename().string();
  if (model.title.empty()) model.title = model.type;
  if (file.filename() != "config.json") model.title = file.stem().string();
  model.name = model.title;
  return model;
}

}  // namespace assay
