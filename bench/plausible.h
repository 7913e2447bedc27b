// Numbers that cannot be: a result beyond what any such processor could do is an error of measuring, not a record.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/device.h"
#include "core/format.h"

namespace assay {

// Why these samples (seconds of one execution) cannot be true, in a sentence; empty where they can. `flops` and `bytes`
// are those of one execution, 0 where there are none; `element` is what multiplies.
std::string impossible(const DeviceInfo& device, const std::vector<double>& seconds, double flops, double bytes,
                       Element element);

}  // namespace assay
