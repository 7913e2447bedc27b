// Who else uses the cores this process may run on.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <sstream>
#include <string>
#include <utility>

#include "core/control_groups.h"
#include "core/host.h"

namespace assay {
namespace {

// Ticks this process has used, all its threads together; the fields are named in proc(5).
std::optional<double> own_ticks(const std::filesystem::path& root) {
  const auto text = read_small_file(root / "proc/self/stat");
  if (!text) return std::nullopt;
  // The program's name stands in brackets and may itself hold spaces and brackets.
  const auto name_end = text->rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(text->substr(name_end + 1));
  std::string skipped;
  for (int field = 3; field < 14; ++field) fields >> skipped;
  double user = 0, system = 0;
  if (!(fields >> user >> system)) return std::nullopt;
  return user + system;
}

}  // namespace

LoadMeter::LoadMeter(std::filesystem::path root)
    : root_(std::move(root)), processors_(allowed_processors(root_)), last_(look()) {}

std::optional<LoadMeter::Ticks> LoadMeter::look() const {
  const auto own = own_ticks(root_);
  const auto text = read_small_file(root_ / "proc/stat");
  if (!own || !text) return std::nullopt;
  Ticks ticks;
  ticks.own = *own;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    if (name.size() < 4 || name.compare(0, 3, "cpu") != 0) continue;
    const int number = std::atoi(name.c_str() + 3);
    if (!std::binary_search(processors_.begin(), processors_.end(), number)) continue;
    double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, interrupts = 0, soft = 0, stolen = 0;
    // Guest time, the two columns after these, is contained in user and nice.
    if (!(words >> user >> nice >> system >> idle >> waiting >> interrupts >> soft >> stolen)) return std::nullopt;
    const double busy = user + nice + system + interrupts + soft + stolen;
    ticks.busy += busy;
    ticks.total += busy + idle + waiting;
    ++ticks.cores;
  }
  if (ticks.cores == 0) return std::nullopt;
  return ticks;
}

std::optional<double> LoadMeter::other_load() {
  const auto now = look();
  if (!now || !last_ || now->cores != last_->cores) {
    last_ = now;
    return std::nullopt;
  }
  const double total = now->total - last_->total;
  // A tick is 10 ms. Too early: the old look stays, so that the next call covers the whole time.
  if (total < 2.0 * now->cores) return std::nullopt;
  // Each core's count is a whole number of ticks, wrong by up to one; such errors add up like random ones. Two more
  // come from this process's own times.
  const double rounding = std::sqrt(static_cast<double>(now->cores) + 2);
  const double others = (now->busy - last_->busy) - (now->own - last_->own) - rounding;
  last_ = now;
  return std::clamp(others / total, 0.0, 1.0);
}

}  // namespace assay
