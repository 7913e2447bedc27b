// The parts of a report that come from the run alone: device, charts, rows that went wrong, where it all comes from.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "reports/rates.h"
#include "reports/report.h"
#include "results/run.h"

namespace assay {

// The device `wanted` ("" is the first of the first run). Throws BadInput, naming those there are, where no run has it.
DeviceInfo chosen_device(const std::vector<Run>& runs, const std::string& wanted);

// "Intel Xeon ..., 2 cores, cpu:0; run 20261201-..., measured 2026-12-01T01:00:00Z"
std::string subtitle(const std::vector<Run>& runs, const DeviceInfo& device);

// The parts of measured_sections(); each may have neither tables nor charts.
// Matrix products by size and format, roofline; and bandwidth and latency by working set. With the share of the
// published peak where the catalogue has this very device.
Section product_section(const Rates& rates, const DeviceInfo& device);
Section memory_speed_section(const Rates& rates, const DeviceInfo& device);
// Derived rows: shares of limits, one way against another; instruction rates, tiles and waves.
Section limit_section(const std::vector<Run>& runs, const DeviceInfo& device, const Rates& rates);
Section link_section(const std::vector<Run>& runs, const DeviceInfo& device, const Rates& rates);  // and all its peers
Section overhead_section(const Rates& rates);  // launching, allocating, waiting
Section precision_section(const std::vector<Run>& runs, const DeviceInfo& device);
Section whole_steps_section(const std::vector<Run>& runs, const DeviceInfo& device);
Section state_section(const std::vector<Run>& runs, const DeviceInfo& device);  // clock, power, heat while cases ran

// Everything above of which the runs have something, in the order in which it is read.
std::vector<Section> measured_sections(const std::vector<Run>& runs, const DeviceInfo& device, const Rates& rates);

Section machine_section(const std::vector<Run>& runs, const DeviceInfo& device);
Section trouble_section(const std::vector<Run>& runs, const DeviceInfo& device);  // failed, mistrusted, skipped

std::vector<std::pair<std::string, std::string>> provenance(const std::vector<Run>& runs, const DeviceInfo& device);

}  // namespace assay
