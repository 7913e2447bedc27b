// The file of a history.
// SPDX-License-Identifier: Apache-2.0
#include "reports/gate/history.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/error.h"
#include "results/output_file.h"
#include "results/text_file.h"

namespace assay::gate {
namespace {

using Json = nlohmann::ordered_json;

constexpr int schema = 1;

std::filesystem::path file_of(const std::filesystem::path& folder) { return folder / "history.jsonl"; }

Json json_of(const Point& point) {
  Json line;
  line["event"] = "point";
  line["schema"] = schema;
  line["utc"] = point.utc;
  line["accepted"] = point.accepted;
  line["runs"] = point.runs;
  line["fields"] = Json::object();
  for (const auto& [name, field] : point.fields)
    line["fields"][name] = {{"value", field.value}, {"subject", field.subject}};
  line["values"] = Json::array();
  for (const auto& [key, value] : point.values)
    line["values"].push_back({{"rank", key.rank},
                              {"device", key.device},
                              {"case", key.case_name},
                              {"metric", key.metric},
                              {"value", value.value},
                              {"unit", value.unit},
                              {"less_is_better", value.less_is_better},
                              {"starts", value.starts}});
  return line;
}

Point point_from(const Json& line) {
  Point point;
  line.at("utc").get_to(point.utc);
  line.at("accepted").get_to(point.accepted);
  line.at("runs").get_to(point.runs);
  for (const auto& [name, field] : line.at("fields").items())
    point.fields[name] = {field.at("subject"), field.at("value")};
  for (const Json& one : line.at("values")) {
    const Key key{one.at("rank"), one.at("device"), one.at("case"), one.at("metric")};
    const PointValue value{one.at("value"), one.at("unit"), one.at("less_is_better"), one.at("starts")};
    if (!(value.value > 0)) throw BadInput("a value is not positive");
    point.values[key] = value;
  }
  return point;
}

}  // namespace

History::History(std::filesystem::path folder) : folder_(std::move(folder)) {
  const std::filesystem::path file = file_of(folder_);
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return;
  const std::string text = read_text_file(file, most_csv_bytes);
  std::size_t number = 1;
  for (std::size_t begin = 0; begin < text.size(); ++number) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string::npos) {
      remarks_.push_back(file.string() + ": the last line was torn and is left out.");
      break;
    }
    take(std::string_view(text).substr(begin, end - begin), file.string() + ", line " + std::to_string(number));
    begin = end + 1;
  }
}

void History::take(std::string_view text, const std::string& place) {
  try {
    const Json line = Json::parse(text);
    if (line.at("schema").get<int>() > schema)
      throw BadInput("a newer version of Assay wrote it; use that one to read it");
    const std::string event = line.at("event");
    if (event == "point") {
      points_.push_back(point_from(line));
    } else if (event == "baseline") {
      first_ = line.at("first_point").get<std::size_t>();
      if (first_ >= points_.size()) throw BadInput("it begins a baseline with a point that is not there");
      points_[first_].accepted = true;
    } else {
      throw BadInput("an event that nobody knows: " + event);
    }
  } catch (const std::exception& error) {
    throw BadInput(place + ": " + error.what() + "; restore the file from a copy");
  }
}

void History::write(const std::string& line) {
  std::error_code failed;
  std::filesystem::create_directories(folder_, failed);
  if (failed) throw BadInput("cannot make the folder " + folder_.string() + ": " + failed.message());
  OutputFile file(file_of(folder_), false);
  file.lock();
  file.append(line + "\n");
  file.sync();
}

void History::append(const Point& point) {
  write(json_of(point).dump());
  points_.push_back(point);
}

void History::move_baseline(const std::string& reason, const std::string& utc) {
  if (points_.empty()) throw BadInput(folder_.string() + " holds no point that a baseline could begin with");
  if (reason.empty()) throw BadInput("a baseline moves for a reason; give it in words");
  Json line;
  line["event"] = "baseline";
  line["schema"] = schema;
  line["utc"] = utc;
  line["reason"] = reason;
  line["first_point"] = points_.size() - 1;
  write(line.dump());
  first_ = points_.size() - 1;
  points_[first_].accepted = true;
}

std::vector<const Point*> History::baseline(const KeyFields& fields, const Allowance& allowance) const {
  std::vector<const Point*> found;
  for (std::size_t i = points_.size(); i > first_ && found.size() < most_points; --i) {
    const Point& point = points_[i - 1];
    if (point.accepted && first_difference(fields, point.fields, allowance).empty()) found.push_back(&point);
  }
  std::reverse(found.begin(), found.end());
  return found;
}

std::string History::nearest_difference(const KeyFields& fields, const Allowance& allowance) const {
  for (std::size_t i = points_.size(); i > first_; --i)
    if (std::string words = first_difference(fields, points_[i - 1].fields, allowance); !words.empty()) return words;
  return "";
}

}  // namespace assay::gate
