// Process lists of the management library.
// SPDX-License-Identifier: Apache-2.0
#include "cuda/nvml_processes.h"

#include <algorithm>
#include <cstring>

namespace vendor::nvml {
namespace {

constexpr std::size_t most_entry_bytes = 32;
constexpr std::size_t most_entries = 1024;
constexpr unsigned char untouched = 0xA5;

// Leaves out entries that the library's own layout could not have written.
void take(const std::vector<unsigned char>& buffer, std::size_t count, std::vector<Listed>& into) {
  std::size_t written = buffer.size();
  while (written > 0 && buffer[written - 1] == untouched) --written;
  const std::size_t stride = entry_bytes(written, count);
  for (std::size_t at = 0; at < count; ++at) {
    Listed entry;
    std::uint64_t memory = not_available_long;
    std::memcpy(&entry.pid, buffer.data() + at * stride, sizeof entry.pid);
    std::memcpy(&memory, buffer.data() + at * stride + 8, sizeof memory);
    if (memory != not_available_long && memory != not_available && memory < not_available_long / 2)
      entry.memory = static_cast<std::int64_t>(memory);
    const bool known =
        std::any_of(into.begin(), into.end(), [&](const Listed& other) { return other.pid == entry.pid; });
    if (!known) into.push_back(entry);
  }
}

// The first version of the question that this library knows.
bool list(Device& device, Handle handle, const Processes (&versions)[3], std::vector<Listed>& into) {
  for (const Processes& question : versions) {
    std::vector<unsigned char> buffer(most_entries * most_entry_bytes, untouched);
    auto count = static_cast<std::uint32_t>(most_entries);
    if (!device.ask(question, 0, handle, &count, static_cast<void*>(buffer.data()))) continue;
    if (count > most_entries) return false;
    take(buffer, count, into);
    return true;
  }
  return false;
}

}  // namespace

std::size_t entry_bytes(std::size_t written, std::size_t count) {
  if (written <= count * 16) return 16;
  return written <= count * 24 ? 24 : most_entry_bytes;
}

std::optional<std::vector<Listed>> processes(Device& device) {
  std::vector<Listed> all;
  const bool compute = list(device, device.own(), compute_processes, all);
  const bool graphics = list(device, device.own(), graphics_processes, all);
  if (!compute && !graphics) return std::nullopt;
  return all;
}

}  // namespace vendor::nvml
