// Process lists of the management library, and which of them are our own.
// SPDX-License-Identifier: Apache-2.0
#include "cuda/nvml_processes.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <system_error>

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

bool is_number(const std::string& name) {
  return !name.empty() && name.size() < 10 &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

// "4242 (a name) with) brackets) S 17 ...": the parent comes second after the last bracket.
std::optional<std::uint32_t> parent_of(const std::filesystem::path& stat) {
  std::ifstream file(stat);
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  const auto bracket = line.rfind(')');
  unsigned parent = 0;
  char state = 0;
  if (bracket == std::string::npos || std::sscanf(line.c_str() + bracket + 1, " %c %u", &state, &parent) != 2)
    return std::nullopt;
  return parent;
}

std::map<std::uint32_t, std::uint32_t> parents(const std::filesystem::path& root) {
  std::map<std::uint32_t, std::uint32_t> all;
  std::error_code failed;
  for (std::filesystem::directory_iterator at(root / "proc", failed), end; !failed && at != end; at.increment(failed)) {
    const std::string name = at->path().filename().string();
    if (!is_number(name)) continue;
    if (const auto parent = parent_of(at->path() / "stat")) all[static_cast<std::uint32_t>(std::stoul(name))] = *parent;
  }
  return all;
}

// The first pid namespace of a machine always has this number; see PROC_PID_INIT_INO in the kernel's
// include/linux/proc_ns.h.
bool outside_of_containers(const std::filesystem::path& root) {
  std::error_code failed;
  return std::filesystem::read_symlink(root / "proc/self/ns/pid", failed).string() == "pid:[4026531836]";
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

Family::Family(const std::filesystem::path& root, pid_t first) : contained_(!outside_of_containers(root)) {
  const auto eldest = static_cast<std::uint32_t>(first > 0 ? first : getppid());
  pids_.insert(eldest);
  pids_.insert(static_cast<std::uint32_t>(getpid()));
  const auto all = parents(root);
  for (const auto& [pid, parent] : all) seen_.insert(pid);
  for (bool grown = true; grown;) {
    grown = false;
    for (const auto& [pid, parent] : all)
      if (pids_.count(parent) != 0) grown = pids_.insert(pid).second || grown;
  }
}

std::optional<int> Family::strangers(const std::vector<Listed>& listed) const {
  if (contained_) {
    const auto surplus = static_cast<int>(listed.size()) - static_cast<int>(pids_.size());
    return surplus > 0 ? std::optional<int>(surplus) : std::nullopt;
  }
  int strange = 0;
  bool hidden = false;
  for (const Listed& entry : listed) {
    if (pids_.count(entry.pid) != 0) continue;
    if (seen_.count(entry.pid) != 0)
      ++strange;
    else
      hidden = true;
  }
  if (strange == 0 && hidden) return std::nullopt;
  return strange;
}

}  // namespace vendor::nvml
