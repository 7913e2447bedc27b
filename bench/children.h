// What this program does when the front starts it again in a role: probe, telemetry or worker.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/case.h"
#include "bench/measure.h"
#include "bench/process.h"

namespace assay {

// What is measured, and how: cases_for() and measure(), or what a test puts in their place. The same in every process
// of a run, because a case travels by its name.
struct Suite {
  std::function<std::vector<Case>(const DeviceInfo&, ProfileKind)> cases = cases_for;
  std::function<Measured(const Case&, MeasureContext&)> measure = assay::measure;
};

// Whether the program was started as a child of the front. main asks this before it looks at anything else.
bool is_child(int argc, const char* const* argv);

// Plays the child's part and returns its exit code.
int child_main(int argc, const char* const* argv, const Suite& suite = {});

// The parts, each in its own file. All of them end when the front closes its side.
void probe_main(Channel& front);
void telemetry_main(Channel& front);
void worker_main(Channel& front, const Suite& suite);

}  // namespace assay
