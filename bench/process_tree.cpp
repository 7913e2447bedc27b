// What a command and everything that it started take at one moment.
// SPDX-License-Identifier: Apache-2.0
#include "bench/process_tree.h"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "core/control_groups.h"

namespace assay {
namespace {

// The fields of /proc/PID/stat that count here; they are named and numbered in proc(5).
struct Stat {
  std::string name;
  pid_t parent = 0;
  double cpu_ticks = 0;
  std::int64_t threads = 0;
  std::int64_t pages = 0;
};

std::optional<Stat> read_stat(const std::filesystem::path& folder) {
  const auto text = read_small_file(folder / "stat");
  if (!text) return std::nullopt;
  // The program's name stands in brackets and may itself hold spaces and brackets.
  const auto open = text->find('('), close = text->rfind(')');
  if (open == std::string::npos || close == std::string::npos || close < open) return std::nullopt;
  Stat stat;
  stat.name = text->substr(open + 1, close - open - 1);
  std::istringstream fields(text->substr(close + 1));
  std::string state, skipped;
  fields >> state >> stat.parent;
  for (int field = 5; field < 14; ++field) fields >> skipped;
  double user = 0, system = 0, children_user = 0, children_system = 0;
  fields >> user >> system >> children_user >> children_system;
  stat.cpu_ticks = user + system + children_user + children_system;
  fields >> skipped >> skipped >> stat.threads;  // priority, nice
  for (int field = 21; field < 24; ++field) fields >> skipped;
  if (!(fields >> stat.pages)) return std::nullopt;
  if (state == "Z") stat.pages = 0;  // ended, not yet waited for
  return stat;
}

std::optional<std::int64_t> kilobytes(const std::filesystem::path& file, const std::string& key) {
  const auto value = read_keyed_number(file, key);
  if (!value) return std::nullopt;
  return *value * 1024;
}

std::map<pid_t, Stat> all_processes(const std::filesystem::path& proc) {
  std::map<pid_t, Stat> all;
  std::error_code failed;
  for (std::filesystem::directory_iterator at(proc, failed), end; !failed && at != end; at.increment(failed)) {
    const std::string name = at->path().filename();
    if (name.empty() ||
        !std::all_of(name.begin(), name.end(), [](char letter) { return letter >= '0' && letter <= '9'; }))
      continue;
    if (const auto stat = read_stat(at->path())) all.emplace(static_cast<pid_t>(std::stol(name)), *stat);
  }
  return all;
}

std::set<pid_t> descendants(pid_t root, const std::set<pid_t>& except, const std::map<pid_t, Stat>& all) {
  std::multimap<pid_t, pid_t> children;
  for (const auto& [pid, stat] : all) children.emplace(stat.parent, pid);
  std::set<pid_t> found;
  std::vector<pid_t> open{root};
  while (!open.empty()) {
    const auto [first, last] = children.equal_range(open.back());
    open.pop_back();
    for (auto child = first; child != last; ++child)
      if (!except.contains(child->second) && found.insert(child->second).second) open.push_back(child->second);
  }
  return found;
}

ProcessUse use_of(pid_t pid, const Stat& stat, bool proportional, const std::filesystem::path& proc) {
  static const double tick = static_cast<double>(sysconf(_SC_CLK_TCK));
  static const std::int64_t page = sysconf(_SC_PAGESIZE);
  const auto folder = proc / std::to_string(pid);
  ProcessUse use;
  use.pid = pid;
  use.name = stat.name;
  use.resident = stat.pages * page;
  use.resident_peak = std::max(use.resident, kilobytes(folder / "status", "VmHWM").value_or(0));
  if (proportional) use.proportional = kilobytes(folder / "smaps_rollup", "Pss");
  if (stat.pages == 0) use.proportional = 0;
  use.cpu_seconds = stat.cpu_ticks / tick;
  use.threads = stat.threads;
  return use;
}

}  // namespace

TreeUse look_at_tree(pid_t root, const std::set<pid_t>& except, bool proportional, const std::filesystem::path& proc) {
  const auto all = all_processes(proc);
  TreeUse tree;
  tree.proportional = 0;
  for (const pid_t pid : descendants(root, except, all)) {
    const ProcessUse use = use_of(pid, all.at(pid), proportional, proc);
    tree.resident += use.resident;
    if (tree.proportional && use.proportional)
      *tree.proportional += *use.proportional;
    else
      tree.proportional.reset();
    tree.cpu_seconds += use.cpu_seconds;
    tree.processes.push_back(use);
  }
  return tree;
}

}  // namespace assay
