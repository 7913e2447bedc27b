// In the plug-in, the pretended device takes as long as the host takes to pretend it.
// SPDX-License-Identifier: Apache-2.0
#include "tests/host_vendor/machine.h"

namespace vendor::host {
namespace {

struct InRealTime {
  InRealTime() {
    Settings settings;
    settings.real_time = true;
    settings.memory = std::int64_t{512} << 20;
    machine().reset(settings);
  }
};
const InRealTime in_real_time;

}  // namespace
}  // namespace vendor::host
