// What follows from several cases together: shares of a limit, and what one way gains over another.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "bench/statistics.h"
#include "core/device.h"
#include "results/row.h"

namespace assay {

// Rows of family "derived", each repetition by itself: those of bench/derived_steps.h for every device, and for every
// device that is no processor also: unit 1, no op, and the cases they come from in `method`. Only ok rows count as
// sources; where one is missing, nothing follows. A share of a limit that is above 1.02 is `mistrusted`: one of its
// sources must be wrong.
std::vector<Row> derived_rows(const std::vector<Row>& rows, const std::vector<DeviceInfo>& devices);

// Those of `derived` that `before` does not hold already, with the same number: what a resumed run has to write.
std::vector<Row> not_yet_written(const std::vector<Row>& derived, const std::vector<Row>& before);

// The interval of a/b, of two that do not know of each other: the ends are those of the outermost pairs.
std::optional<Interval> ratio_interval(std::optional<Interval> above, std::optional<Interval> below);

// Bytes a second in one direction of a PCI Express link: transfers a second of each lane, times lanes, less the line
// code. Absent for generations not known here.
std::optional<double> pcie_bytes_per_second(int generation, int lanes);

}  // namespace assay
