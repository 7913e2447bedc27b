// Progress on a terminal and elsewhere.
// SPDX-License-Identifier: Apache-2.0
#include "bench/progress.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "bench/figures.h"
#include "bench/session.h"

namespace assay {
namespace {

std::string minutes(double seconds) {
  const auto whole = static_cast<long long>(std::max(0.0, seconds) + 0.5);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

const std::string& reason_of(const std::vector<Row>& rows, Status status) {
  static const std::string none;
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.status == status; });
  return found == rows.end() ? none : found->reason;
}

}  // namespace

Screen screen_of(int file, bool colour_wanted) {
  Screen screen;
  screen.file = file;
  const char* kind = std::getenv("TERM");
  screen.terminal = isatty(file) != 0 && kind != nullptr && std::string_view(kind) != "dumb";
  const char* none = std::getenv("NO_COLOR");
  screen.colour = screen.terminal && colour_wanted && (none == nullptr || *none == '\0');
  winsize size{};
  if (ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col >= 20) screen.columns = size.ws_col;
  return screen;
}

Progress::Progress(const Screen& screen, bool quiet, std::size_t total, double expected, std::function<double()> clock)
    : screen_(screen),
      quiet_(quiet),
      total_(total),
      expected_total_(expected),
      clock_(std::move(clock)),
      started_(clock_()) {}

Progress::~Progress() { clear(); }

void Progress::starting(const std::string& label, double expected) {
  running_ = label;
  expected_now_ = expected;
  case_started_ = clock_();
  show();
}

void Progress::finished(const std::string& label, const std::vector<Row>& rows) {
  ++done_;
  expected_done_ += expected_now_;
  running_.clear();
  const Status status = worst(rows);
  last_ = text(status);
  const Row* best = headline(rows);
  if (status == Status::ok && best != nullptr) last_ = figure(*best->value, best->unit);
  if (status == Status::failed || status == Status::mistrusted) {
    const std::string word = screen_.colour ? fmt::format("\033[31m{}\033[0m", text(status)) : text(status);
    say(fmt::format("{} {}: {}", word, label, reason_of(rows, status)));
  }
  show();
  const std::size_t tenth = total_ == 0 ? 10 : done_ * 10 / total_;
  if (!screen_.terminal && tenth > tenth_) say(fmt::format("{} of {} cases, {} left", done_, total_, remaining()));
  tenth_ = tenth;
}

void Progress::tick() {
  if (!running_.empty()) show();
}

void Progress::say(const std::string& line) {
  if (quiet_) return;
  clear();
  put(line + "\n");
}

std::string Progress::remaining() const {
  const double spent = clock_() - started_;
  // Until a tenth is done, the estimates alone are the better guide.
  const double pace = expected_done_ > 0.1 * expected_total_ ? spent / expected_done_ : 1;
  const double running = running_.empty() ? 0 : std::min(expected_now_, clock_() - case_started_);
  return minutes((expected_total_ - expected_done_ - running) * pace);
}

void Progress::show() {
  if (quiet_ || !screen_.terminal) return;
  std::string line = fmt::format("[{}/{}] {} left  {}", std::min(done_ + 1, total_), total_, remaining(), running_);
  if (!last_.empty()) line += fmt::format("  (last: {})", last_);
  const auto widest = static_cast<std::size_t>(screen_.columns - 1);
  if (line.size() > widest) line.resize(widest);
  put("\r\033[K" + line);
  shown_ = true;
}

void Progress::clear() {
  if (shown_) put("\r\033[K");
  shown_ = false;
}

// A terminal that was stopped or has gone away must not stop the run.
void Progress::put(const std::string& text) const {
  pollfd asked{screen_.file, POLLOUT, 0};
  if (::poll(&asked, 1, 0) > 0) [[maybe_unused]]
    const auto written = ::write(screen_.file, text.data(), text.size());
}

}  // namespace assay
