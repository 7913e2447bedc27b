// Reads the table of published bands.
// SPDX-License-Identifier: Apache-2.0
#include "reports/accept/bands.h"

#include <cstdlib>

#include "core/error.h"
#include "reports/accept/table.h"

namespace assay {

const std::vector<Band>& builtin_bands() {
  static const std::vector<Band> bands = [] {
    std::vector<Band> read;
    for (const NamedCells& cells : read_table(bands_csv(), "reports/accept/bands.csv")) {
      const std::string& kind = cells.at("kind");
      Band band{cells.at("gpu"),
                cells.at("quantity"),
                kind == "healthy",
                std::strtod(cells.at("value").c_str(), nullptr),
                std::atoi(cells.at("cards").c_str()),
                cells.at("who"),
                cells.at("source")};
      if (!(band.value > 0) || (kind != "healthy" && kind != "pass line"))
        throw Error("reports/accept/bands.csv: a bad line for " + band.gpu + ", " + band.quantity);
      read.push_back(std::move(band));
    }
    return read;
  }();
  return bands;
}

const Band* find_band(const std::string& gpu, const std::string& quantity, bool healthy, int cards) {
  for (const Band& band : builtin_bands()) {
    if (band.gpu == gpu && band.quantity == quantity && band.healthy == healthy &&
        (band.cards == 0 || band.cards == cards))
      return &band;
  }
  return nullptr;
}

}  // namespace assay
