// Finds the control groups (cgroups, v1 and v2) whose limits bind this process, and reads their files.
// SPDX-License-Identifier: Apache-2.0
#include "core/control_groups.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>

namespace assay {
namespace {

// One line of /proc/self/cgroup: "4:memory:/docker/12ab" (v1) or "0::/user.slice/x" (v2).
struct Membership {
  std::vector<std::string> controllers;
  std::filesystem::path group;
  bool unified = false;
};

// One cgroup line of /proc/self/mountinfo.
struct Mount {
  std::filesystem::path group;  // which group is mounted
  std::filesystem::path point;  // where
  std::vector<std::string> controllers;
  bool unified = false;
};

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

bool contains(const std::vector<std::string>& list, const std::string& wanted) {
  return std::find(list.begin(), list.end(), wanted) != list.end();
}

// mountinfo writes a space in a path as \040.
std::string unescape(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned code = 0;
    if (text[i] == '\\' && i + 3 < text.size() &&
        std::from_chars(&text[i + 1], &text[i + 1] + 3, code, 8).ptr == &text[i + 1] + 3 && code < 256) {
      plain += static_cast<char>(code);
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

std::vector<Membership> memberships(const std::filesystem::path& root) {
  std::vector<Membership> found;
  std::istringstream lines(read_small_file(root / "proc/self/cgroup").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    const auto first = line.find(':');
    const auto second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    found.push_back({split(controllers, ','), line.substr(second + 1), controllers.empty()});
  }
  return found;
}

std::vector<Mount> mounts(const std::filesystem::path& root) {
  std::vector<Mount> found;
  std::istringstream lines(read_small_file(root / "proc/self/mountinfo").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    // "35 31 0:32 /docker/12ab /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory"
    const auto dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    const auto before = split(line.substr(0, dash), ' ');
    const auto after = split(line.substr(dash + 3), ' ');
    if (before.size() < 5 || after.size() < 3) continue;
    if (after[0] != "cgroup" && after[0] != "cgroup2") continue;
    found.push_back({unescape(before[3]), unescape(before[4]), split(after[2], ','), after[0] == "cgroup2"});
  }
  return found;
}

// The group's folder below the mount's point, relative to it; empty for the point itself.
std::filesystem::path below(const Mount& mount, const std::filesystem::path& group) {
  const auto relative = group.lexically_relative(mount.group);
  if (relative.empty() || relative == "." || *relative.begin() == "..") return {};
  // Outside the cgroup namespace paths start with "/..": nothing of that is visible here.
  if (std::find(group.begin(), group.end(), "..") != group.end()) return {};
  return relative;
}

}  // namespace

std::optional<std::string> read_small_file(const std::filesystem::path& path) {
  constexpr std::size_t most = 1 << 20;
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string text;
  char block[4096];
  while (text.size() < most && (file.read(block, sizeof block), file.gcount() > 0)) {
    text.append(block, static_cast<std::size_t>(file.gcount()));
  }
  if (file.bad()) return std::nullopt;
  return text;
}

std::optional<std::int64_t> read_whole_number(const std::filesystem::path& path) {
  const auto text = read_small_file(path);
  if (!text) return std::nullopt;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  const std::string_view rest(end, static_cast<std::size_t>(text->data() + text->size() - end));
  if (error != std::errc() || rest.find_first_not_of(" \t\n") != std::string_view::npos) return std::nullopt;
  return number;
}

std::optional<std::int64_t> read_keyed_number(const std::filesystem::path& path, const std::string& key) {
  std::istringstream lines(read_small_file(path).value_or(""));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    std::int64_t number = 0;
    if (!(words >> name)) continue;
    if (name.back() == ':') name.pop_back();
    if (name == key && words >> number) return number;
  }
  return std::nullopt;
}

std::vector<ControlGroup> control_groups(const std::filesystem::path& root, const std::string& controller) {
  std::vector<ControlGroup> groups;
  const auto members = memberships(root);
  for (const auto& mount : mounts(root)) {
    if (!mount.unified && !contains(mount.controllers, controller)) continue;
    const auto member = std::find_if(members.begin(), members.end(), [&](const Membership& one) {
      return one.unified == mount.unified && (one.unified || contains(one.controllers, controller));
    });
    if (member == members.end()) continue;
    const auto point = root / mount.point.relative_path();
    auto relative = below(mount, member->group);
    std::error_code error;
    if (!std::filesystem::is_directory(point / relative, error)) relative.clear();
    for (; !relative.empty(); relative = relative.parent_path()) groups.push_back({point / relative, mount.unified});
    groups.push_back({point, mount.unified});
  }
  return groups;
}

}  // namespace assay
