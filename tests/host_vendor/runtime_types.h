// What the pretended machine calls the things that gpu/runtime.h speaks of.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace vendor {

namespace host {
struct StreamState;
struct EventState;
struct GraphState;
}  // namespace host

inline constexpr const char* backend_name = "hostgpu";
inline constexpr const char* vendor_name = "Nobody";

using Stream = host::StreamState*;
using Event = host::EventState*;
using Graph = host::GraphState*;

constexpr std::int64_t most_blocks() { return 2147483647; }

}  // namespace vendor
