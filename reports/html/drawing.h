// Charts as the data block that the page's script draws from.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "reports/report.h"

namespace assay {

// A JSON array, one object a chart, with every place, tick and label ready made. Pure ASCII without "<", so it can
// stand in a script element whatever the names in it are.
std::string drawings(const std::vector<Chart>& charts);

}  // namespace assay
