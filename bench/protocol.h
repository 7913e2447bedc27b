// What the front and its children say to each other, as JSON.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "core/device.h"
#include "core/telemetry.h"
#include "results/row.h"

namespace assay {

nlohmann::json to_json(const Fact& fact);
nlohmann::json to_json(const DeviceInfo& device);
nlohmann::json to_json(const TelemetrySample& sample);
nlohmann::json to_json(const Row& row);  // the cells of results.csv by their column; empty ones left out

// Each throws BadInput or a JSON error on what its counterpart did not write.
Fact fact_from(const nlohmann::json& from);
DeviceInfo device_from(const nlohmann::json& from);
TelemetrySample sample_from(const nlohmann::json& from);
Row row_from(const nlohmann::json& from);

}  // namespace assay
