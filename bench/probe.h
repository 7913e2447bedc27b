// Asks every plug-in which devices it sees, each in a process of its own: a driver may hang or crash.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/device.h"

namespace assay {

// One plug-in and what it said.
struct Probed {
  std::string plugin;  // "cpu"
  std::vector<DeviceInfo> devices;
  std::vector<Fact> diagnosis;  // what was looked up, found or missed
  std::string reason;           // why there is no device, in a sentence; empty where there is one
};

struct ProbeQuestion {
  std::filesystem::path folder;      // of the plug-ins
  std::vector<std::string> plugins;  // empty: all in the folder
  double patience = 30;              // seconds; a first look at eight GPUs takes up to twenty
  // Lets a run be ended while a probe hangs: asked whenever `file` becomes readable, says whether to give up.
  int file = -1;
  std::function<bool()> interrupted;
};

// All at the same time; the answers come in the order of the names. A plug-in that hangs, crashes or does not load is
// a sentence in its `reason`.
std::vector<Probed> probe(const ProbeQuestion& question);

}  // namespace assay
