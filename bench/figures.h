// Numbers as the console shows them while measuring.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "results/row.h"

namespace assay {

// "1.23 TFLOP/s", "45.6 GB/s", "7.8 us", "12.5 GiB": three digits, scaled by the unit of the row.
std::string figure(double value, const std::string& unit);

// The one row of a case that says most: a rate before a time, any number before none. Null where there is no number.
const Row* headline(const std::vector<Row>& rows);

}  // namespace assay
