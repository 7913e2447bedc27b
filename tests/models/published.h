// The published figures that the built-in models are held against.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace assay {

struct Published {
  std::string name, parameters, active_parameters, bf16_gib, kv_bytes_per_token, source;  // empty: not published
};

inline std::vector<Published> published_figures() {
  std::ifstream file(std::string(ASSAY_SOURCE_DIR) + "/tests/models/published.csv");
  std::vector<Published> all;
  std::string line;
  std::getline(file, line);  // names of the columns
  while (std::getline(file, line)) {
    std::istringstream cells(line);
    Published row;
    for (std::string* cell :
         {&row.name, &row.parameters, &row.active_parameters, &row.bf16_gib, &row.kv_bytes_per_token, &row.source})
      std::getline(cells, *cell, ',');
    all.push_back(row);
  }
  return all;
}

}  // namespace assay
