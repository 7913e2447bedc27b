// A workload in a small TOML file: the same fields as the flags, and as strict.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "reports/judge.h"

namespace assay {

// One field of a workload: its name in a file, what it may be, and how a word or a number gets into the workload.
// The command line uses the same fields, so that both understand the same words and complain alike.
struct WorkloadField {
  std::string name;     // "batch", "kv"
  std::string meaning;  // for --help and the documents
  // Throws BadInput that begins with `where`, the field as the user knows it ("--batch", "w.toml:3: batch").
  void (*set)(Workload& workload, const std::string& where, const std::string& text);
};
const std::vector<WorkloadField>& workload_fields();

// Throws BadInput with file, line and field: not TOML, an unknown field with the nearest name, a value of the wrong
// kind, a file that is not there or larger than 1 MiB.
Workload read_workload(const std::filesystem::path& file);
Workload parse_workload(std::string_view toml, const std::string& name);

// The fields that make a workload one of training, where none says so: "lora_rank", "recompute", "optimizer".
bool implies_training(const std::string& field);

}  // namespace assay
