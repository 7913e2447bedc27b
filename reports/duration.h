// How long a model's work takes here: the sum of its ops, each priced by what was measured.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reports/model_ops.h"
#include "reports/rates.h"

namespace assay {

struct PartTime {
  std::string part;
  double seconds = 0, lower = 0, upper = 0;  // of what could be priced
  double flops = 0;
  std::map<Origin, double> by_origin;  // seconds by how they are known
  std::string because;                 // of its longest op
};

struct Duration {
  std::vector<PartTime> parts;
  double seconds = 0, lower = 0, upper = 0;
  double flops = 0;
  double unpriced_flops = 0;          // of ops without a price
  std::vector<std::string> unpriced;  // "op: reason", each once
  std::map<Origin, double> by_origin;

  // Judged where every product has a price; a few unpriced small ops are stated, not hidden.
  bool judged() const { return seconds > 0 && unpriced_share() < 0.01; }
  double unpriced_share() const { return flops > 0 ? unpriced_flops / flops : 1; }
};

Duration duration(const std::vector<PartOp>& ops, const Rates& rates);

// "62 % interpolated, 38 % from peaks"
std::string origins(const std::map<Origin, double>& by_origin);

}  // namespace assay
