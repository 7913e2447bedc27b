// Measured cases of memory and speed, as rows of a CSV file, against which predictions are held.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "reports/predict/setting.h"
#include "reports/predict/speed.h"

namespace assay::score {

// One row; what is empty in the file is absent or empty here. `value` is in `unit`.
struct Case {
  std::size_t line = 0;
  std::string id, kind, model, gpu, parallelism, precision, optimizer, technique, measured, unit, note;
  std::optional<double> parameters, layers, hidden, heads, kv_heads, feed_forward, vocabulary, cards, micro_batch,
      length, context, value;

  bool has_architecture() const { return layers && hidden && heads; }
  std::string source() const { return id.substr(0, id.find('-')); }
};

// Throws BadInput with file, line and column: no such file, columns missing, a number that is none.
std::vector<Case> read_cases(const std::string& path);

// The value in bytes. Absent for other units.
std::optional<double> bytes_of(const Case& row);

// What a row's own columns say, without a look at others; or why they do not say enough.
std::variant<predict::Setting, std::string> setting_of(const Case& row);

// The same without the counter. cache_alone: the cache needs no more than the heads. `otherwise`: how numbers are taken
// to be stored where the row's words for it are not known.
std::variant<predict::Setting, std::string> sizes_of(const Case& row, bool cache_alone,
                                                     std::optional<predict::Stored> otherwise);

// What a row says about a speed. Rates are in tokens/s.
struct SpeedCase {
  enum class Asked : std::uint8_t {
    training,
    prompt,
    token,
    request,       // tokens made, over the time of prompt and tokens
    whole_request  // tokens read and made, over the same
  };
  predict::SpeedSetting setting;
  Asked asked = Asked::training;
  double cards = 1;  // whose rates are added up
  double measured = 0;
};
std::variant<SpeedCase, std::string> speed_of(const Case& row);
double predicted_rate(const SpeedCase& speed);

}  // namespace assay::score
