// Headers of safetensors files, and checkpoints by their names.
// SPDX-License-Identifier: Apache-2.0
#include "core/models/checkpoint.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/error.h"

namespace assay {
namespace {

constexpr std::uint64_t largest_header = 100'000'000;  // the format's own limit
constexpr std::uint64_t largest_gguf_header = 256U << 20U;
constexpr std::int64_t most_bytes = std::int64_t{1} << 50U;

bool ends_with(const std::string& name, std::string_view end) {
  return name.size() >= end.size() && name.compare(name.size() - end.size(), end.size(), end) == 0;
}

std::string read_start(const std::filesystem::path& path, std::uint64_t most) {
  std::error_code failed;
  const auto size = std::filesystem::file_size(path, failed);
  if (failed) throw BadInput(path.string() + ": " + failed.message());
  std::ifstream file(path, std::ios::binary);
  std::string text(std::min<std::uint64_t>(size, most), '\0');
  if (!file.read(text.data(), static_cast<std::streamsize>(text.size())))
    throw BadInput(path.string() + ": cannot be read");
  return text;
}

// The header's length is in the first eight bytes, the lowest first.
std::string safetensors_header(const std::filesystem::path& path) {
  const std::string first = read_start(path, 8);
  if (first.size() < 8) throw BadInput(path.string() + ": too short for a safetensors file");
  std::uint64_t length = 0;
  for (std::size_t i = 8; i-- > 0;) length = length << 8U | static_cast<unsigned char>(first[i]);
  if (length < 2 || length > largest_header)
    throw BadInput(path.string() + ": its header would be " + std::to_string(length) +
                   " bytes long; it is no safetensors file, or it is damaged");
  const std::string text = read_start(path, 8 + length);
  if (text.size() < 8 + length) throw BadInput(path.string() + ": cut short within its header");
  return text.substr(8);
}

std::int64_t whole(const nlohmann::json& value, const std::string& where, const std::string& what) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > static_cast<std::uint64_t>(most_bytes))
    throw BadInput(where + ": " + what + " must be a whole number of bytes");
  return static_cast<std::int64_t>(value.get<std::uint64_t>());
}

std::string printable(const std::string& name) {
  std::string shown;
  for (const char letter : name.substr(0, 60)) shown += letter >= ' ' && letter <= '~' ? letter : '?';
  return shown;
}

}  // namespace

StoredTensors parse_safetensors(std::string_view json, const std::string& where) {
  const auto root = nlohmann::json::parse(json, nullptr, false);
  if (root.is_discarded() || !root.is_object()) throw BadInput(where + ": its header is no JSON object");
  StoredTensors stored;
  if (const auto map = root.find("weight_map"); map != root.end()) {
    const auto metadata = root.find("metadata");
    if (metadata == root.end() || !metadata->is_object() || !metadata->contains("total_size"))
      throw BadInput(where + ": has no metadata.total_size; name one of its .safetensors files or the config.json");
    stored.bytes = whole(metadata->at("total_size"), where, "metadata.total_size");
    if (map->is_object()) stored.tensors = static_cast<std::int64_t>(map->size());
  } else {
    for (const auto& [name, tensor] : root.items()) {
      if (name == "__metadata__") continue;
      const std::string place = where + ": tensor " + printable(name);
      if (!tensor.is_object() || !tensor.contains("data_offsets") || !tensor.at("data_offsets").is_array() ||
          tensor.at("data_offsets").size() != 2)
        throw BadInput(place + " has no two data_offsets");
      const std::int64_t begin = whole(tensor.at("data_offsets")[0], place, "data_offsets");
      const std::int64_t end = whole(tensor.at("data_offsets")[1], place, "data_offsets");
      if (end < begin) throw BadInput(place + " ends before it begins");
      stored.bytes += end - begin;
      if (stored.bytes > most_bytes) throw BadInput(where + ": its tensors are larger than any model");
      ++stored.tensors;
    }
  }
  if (stored.bytes <= 0) throw BadInput(where + ": holds no tensors");
  return stored;
}

bool is_checkpoint(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  return ends_with(name, ".gguf") || ends_with(name, ".safetensors") || ends_with(name, ".safetensors.index.json");
}

ModelSpec read_checkpoint(const std::filesystem::path& path) {
  const std::string name = path.filename().string(), where = path.string();
  if (ends_with(name, ".gguf")) {
    ModelSpec model = parse_gguf(read_start(path, largest_gguf_header), where);
    model.title = model.name = path.stem().string();
    model.source = where;
    return model;
  }
  const StoredTensors stored = ends_with(name, ".json") ? parse_safetensors(read_start(path, largest_header), where)
                                                        : parse_safetensors(safetensors_header(path), where);
  const auto folder = std::filesystem::absolute(path).parent_path();
  std::error_code none;
  if (!std::filesystem::exists(folder / "config.json", none))
    throw BadInput(where +
                   ": its header has the tensors' bytes but not the model's shape; put its config.json beside it");
  ModelSpec model = read_config(folder / "config.json");
  model.stored_bytes = stored.bytes;
  return model;
}

}  // namespace assay
