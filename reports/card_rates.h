// A card of the catalogue as predictions of speed see it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "reports/catalogue.h"
#include "reports/predict/speed.h"

namespace assay {

// The share of its dense 16-bit peak that long products keep on this card, and who measured it (reports/sustained.csv);
// 0.8 with a sentence where nobody did.
struct Sustained {
  double share = 0.8;
  std::string what;
};
Sustained sustained(const Gpu& gpu);

// Absent where bandwidth or the rate of 16-bit products is not published.
std::optional<predict::CardRates> card_rates(const Gpu& gpu);

}  // namespace assay
