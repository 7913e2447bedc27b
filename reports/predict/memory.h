// How much memory a model takes in use, item by item, at the moment when it takes most.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "reports/predict/setting.h"

namespace assay::predict {

struct Item {
  std::string name;
  double bytes = 0;     // on one card, or on all where the setting says so
  std::string formula;  // in words
};

struct Memory {
  std::vector<Item> items;  // empty: not judged
  std::string moment;       // "at the end of the prompt"
  std::string reason;       // why it is not judged
  double lower = 0, upper = 0;

  bool judged() const { return !items.empty(); }
  double bytes() const;
};

// How far the truth may be from a prediction, as a share of it, on either side: what the cases of docs/prediction.md
// showed for its kind.
double half_width(const Setting& setting);

Memory predict_memory(const Setting& setting);

// Its parts.
double weight_bytes(const Setting& setting);           // all of them, on all cards together
double adapter_parameters(const Setting& setting);     // stated, or from the rank
double saved_bytes_per_token(const Setting& setting);  // what a training step keeps for its way back, all layers
double logit_bytes_per_token(const Setting& setting);  // at the moment of the loss

}  // namespace assay::predict
