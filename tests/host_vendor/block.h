// Runs the blocks of a kernel, every lane on a stack of its own.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>

namespace vendor::host {

// Calls `body` once for each thread of each block. Returns false, with a complaint to the machine, where lanes wait for
// others that never come.
bool run_blocks(unsigned blocks, unsigned threads, std::size_t shared_bytes, const std::function<void()>& body);

}  // namespace vendor::host
