// Takes fields out of a config.json, and says path, field, what was found and what was expected when it cannot.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

class ConfigReader {
 public:
  // `where` names the file in messages.
  ConfigReader(const nlohmann::json& object, std::string where, std::string prefix = "");

  bool has(std::string_view field) const;      // there, and not null
  bool is_null(std::string_view field) const;  // there, and null
  std::int64_t integer(std::string_view field, std::int64_t least = 1) const;
  std::optional<std::int64_t> optional_integer(std::string_view field, std::int64_t least = 1) const;
  bool flag(std::string_view field, bool otherwise) const;
  std::string word(std::string_view field, const std::string& otherwise) const;
  std::vector<std::string> words(std::string_view field) const;  // empty where absent
  std::size_t length(std::string_view field) const;              // of a list; 0 where absent
  ConfigReader inside(std::string_view field) const;             // an object; throws where it is none

  // "/models/x/config.json: hidden_size is -4, expected ..."
  [[noreturn]] void refuse(std::string_view field, const std::string& expected) const;
  const std::string& where() const { return where_; }

 private:
  const nlohmann::json* find(std::string_view field) const;

  const nlohmann::json& object_;
  std::string where_;
  std::string prefix_;
};

}  // namespace assay
