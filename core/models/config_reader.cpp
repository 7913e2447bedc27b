// Takes fields out of a config.json.
// SPDX-License-Identifier: Apache-2.0
#include "core/models/config_reader.h"

#include <utility>

#include "core/error.h"

namespace assay {
namespace {

// No dimension of a model comes near this; what does is a broken or hostile file.
constexpr std::int64_t largest_dimension = 100'000'000;

// A value as it stands in the file, short and without control characters.
std::string found_text(const nlohmann::json& value) {
  using nlohmann::json;
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  if (text.size() > 40) text = text.substr(0, 40) + "...";
  return text;
}

}  // namespace

ConfigReader::ConfigReader(const nlohmann::json& object, std::string where, std::string prefix)
    : object_(object), where_(std::move(where)), prefix_(std::move(prefix)) {}

const nlohmann::json* ConfigReader::find(std::string_view field) const {
  const auto found = object_.find(std::string(field));
  return found == object_.end() ? nullptr : &*found;
}

bool ConfigReader::has(std::string_view field) const {
  const nlohmann::json* value = find(field);
  return value != nullptr && !value->is_null();
}

bool ConfigReader::is_null(std::string_view field) const {
  const nlohmann::json* value = find(field);
  return value != nullptr && value->is_null();
}

void ConfigReader::refuse(std::string_view field, const std::string& expected) const {
  const nlohmann::json* value = find(field);
  const std::string what = value == nullptr ? " is missing" : " is " + found_text(*value);
  throw BadInput(where_ + ": " + prefix_ + std::string(field) + what + "; expected " + expected);
}

std::int64_t ConfigReader::integer(std::string_view field, std::int64_t least) const {
  const std::string expected =
      "a whole number from " + std::to_string(least) + " to " + std::to_string(largest_dimension);
  const nlohmann::json* value = find(field);
  if (value == nullptr || !value->is_number_integer()) refuse(field, expected);
  if (value->is_number_unsigned() && value->get<std::uint64_t>() > static_cast<std::uint64_t>(largest_dimension))
    refuse(field, expected);
  const auto number = value->get<std::int64_t>();
  if (number < least || number > largest_dimension) refuse(field, expected);
  return number;
}

std::optional<std::int64_t> ConfigReader::optional_integer(std::string_view field, std::int64_t least) const {
  if (!has(field)) return std::nullopt;
  return integer(field, least);
}

bool ConfigReader::flag(std::string_view field, bool otherwise) const {
  if (!has(field)) return otherwise;
  const nlohmann::json* value = find(field);
  if (!value->is_boolean()) refuse(field, "true or false");
  return value->get<bool>();
}

std::string ConfigReader::word(std::string_view field, const std::string& otherwise) const {
  if (!has(field)) return otherwise;
  const nlohmann::json* value = find(field);
  if (!value->is_string()) refuse(field, "a text");
  return value->get<std::string>();
}

std::vector<std::string> ConfigReader::words(std::string_view field) const {
  std::vector<std::string> result;
  if (!has(field)) return result;
  const nlohmann::json* value = find(field);
  if (!value->is_array()) refuse(field, "a list of texts");
  for (const nlohmann::json& item : *value) {
    if (!item.is_string()) refuse(field, "a list of texts");
    result.push_back(item.get<std::string>());
  }
  return result;
}

std::size_t ConfigReader::length(std::string_view field) const {
  if (!has(field)) return 0;
  const nlohmann::json* value = find(field);
  if (!value->is_array()) refuse(field, "a list");
  return value->size();
}

ConfigReader ConfigReader::inside(std::string_view field) const {
  const nlohmann::json* value = find(field);
  if (value == nullptr || !value->is_object()) refuse(field, "an object");
  return {*value, where_, prefix_ + std::string(field) + "."};
}

}  // namespace assay
