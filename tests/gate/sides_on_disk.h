// The made-up sides as folders: before/0, before/1 ... and after/0 ...
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "tests/gate/made_up_sides.h"

namespace assay::gate {

inline void write_side(const std::filesystem::path& folder, const std::vector<Run>& runs, std::size_t rows) {
  std::filesystem::create_directories(folder);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    Run run = runs[i];
    const Row pattern = run.rows.front();
    for (std::size_t more = run.rows.size(); more < rows; ++more) {
      Row row = pattern;
      row.case_name = "gemm/bf16/more/" + std::to_string(more);
      run.rows.push_back(row);
    }
    RunInfo info = run.info;
    RunWriter writer = RunWriter::create(folder / std::to_string(i), info, true);
    writer.append(run.rows);
    writer.update(info);  // complete
  }
}

// `rows`: at least so many in each run; those beyond the first are more products.
inline void write_sides(const std::filesystem::path& folder, double slowdown, std::size_t count, std::size_t rows) {
  const GateRuns runs = made_up_runs(count, slowdown);
  write_side(folder / "before", runs.before, rows);
  write_side(folder / "after", runs.after, rows);
}

}  // namespace assay::gate
