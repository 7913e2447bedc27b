// A memory budget on the fullest of several devices.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "reports/memory.h"

namespace assay {

// The layout that `cards` of them have where the workload names none: inference is shared out by tensors, training is
// fully sharded (ZeRO 3). A workload with a layout of its own keeps it.
Workload shared_out(const Workload& workload, int cards);

// The items of one device turned into those of the fullest of workload.layout: each divided by what shares it, and what
// the layout itself needs (weights being gathered, buffers of the collectives). Nothing changes for one device.
std::vector<MemoryItem> spread(std::vector<MemoryItem> items, const ModelSpec& model, const Workload& workload);

// "tensor 4, data 2 with ZeRO 3"
std::string describe(const Layout& layout);

}  // namespace assay
