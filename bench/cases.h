// The families of cases, each in its own file; catalogue.cpp puts them together.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "bench/case.h"
#include "core/device.h"

namespace assay {

std::vector<Case> capacity_cases(const DeviceInfo& device, ProfileKind profile);
std::vector<Case> host_cases(const DeviceInfo& device, ProfileKind profile);
std::vector<Case> gemm_square_cases(const DeviceInfo& device, ProfileKind profile);
std::vector<Case> gemm_layer_cases(const DeviceInfo& device, ProfileKind profile);
std::vector<Case> gemm_decode_cases(const DeviceInfo& device, ProfileKind profile);
std::vector<Case> gemm_variant_cases(const DeviceInfo& device, ProfileKind profile);
std::vector<Case> issue_cases(const DeviceInfo& device, ProfileKind profile);
std::vector<Case> stream_cases(const DeviceInfo& device, ProfileKind profile);
std::vector<Case> reread_cases(const DeviceInfo& device, ProfileKind profile);
std::vector<Case> working_set_cases(const DeviceInfo& device, ProfileKind profile);
std::vector<Case> row_op_cases(const DeviceInfo& device, ProfileKind profile);
std::vector<Case> latency_cases(const DeviceInfo& device, ProfileKind profile);
std::vector<Case> transfer_cases(const DeviceInfo& device, ProfileKind profile);
std::vector<Case> launch_cases(const DeviceInfo& device, ProfileKind profile);
std::vector<Case> concurrency_cases(const DeviceInfo& device, ProfileKind profile);
std::vector<Case> train_cases(const DeviceInfo& device, ProfileKind profile);
std::vector<Case> step_cases(const DeviceInfo& device, ProfileKind profile);
std::vector<Case> learning_cases(const DeviceInfo& device, ProfileKind profile);
std::vector<Case> infer_cases(const DeviceInfo& device, ProfileKind profile);

// What some of them are where the device is no processor.
std::vector<Case> accelerator_square_cases(const DeviceInfo& device, ProfileKind profile);
std::vector<Case> accelerator_layer_cases(const DeviceInfo& device, ProfileKind profile);
std::vector<Case> accelerator_decode_cases(const DeviceInfo& device, ProfileKind profile);
std::vector<Case> accelerator_variant_cases(const DeviceInfo& device, ProfileKind profile);
std::vector<Case> accelerator_issue_cases(const DeviceInfo& device);
std::vector<Case> accelerator_transfer_cases(const DeviceInfo& device, ProfileKind profile);
std::vector<Case> gather_cases(const DeviceInfo& device, ProfileKind profile);

}  // namespace assay
