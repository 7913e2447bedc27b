// Our processes by their parents, and those of others.
// SPDX-License-Identifier: Apache-2.0
#include "gpu/processes.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <fstream>
#include <map>
#include <string>
#include <system_error>

namespace vendor {
namespace {

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

}  // namespace vendor
