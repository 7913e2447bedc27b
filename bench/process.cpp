// Starts, hears and ends child processes.
// SPDX-License-Identifier: Apache-2.0
#include "bench/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <ctime>

#include "core/error.h"

namespace assay {
namespace {

constexpr int channel_file = 3;                 // where a child finds its channel
constexpr std::size_t tail_kept = 4096;         // bytes of what a child printed
constexpr std::size_t longest_line = 64 << 20;  // a longer message comes from a child gone mad

// JSON must not throw on text that is no UTF-8: a device's name may be anything.
std::string line(const nlohmann::json& message) {
  return message.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

// What a bad end usually means, for people who do not know signals by heart.
std::string meaning(int signal) {
  switch (signal) {
    case SIGSEGV:
      return "a bad memory access";
    case SIGBUS:
      return "a bad memory access, or /dev/shm is full";
    case SIGILL:
      return "an instruction that this processor does not have";
    case SIGFPE:
      return "a division by zero";
    case SIGABRT:
      return "it gave up itself";
    case SIGKILL:
      return "by somebody, or by the kernel for want of memory";
    case SIGXCPU:
      return "its limit of processor time";
    case SIGXFSZ:
      return "its limit of file size";
    default:
      return "";
  }
}

void set_nonblocking(int file) { fcntl(file, F_SETFL, fcntl(file, F_GETFL) | O_NONBLOCK); }

struct Pair {
  int ours = -1;
  int theirs = -1;
};

Pair make_channel() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    throw Error(fmt::format("cannot make a socket for a child process: {}", std::strerror(errno)));
  return {ends[0], ends[1]};
}

Pair make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    throw Error(fmt::format("cannot make a pipe for a child process: {}", std::strerror(errno)));
  return {ends[0], ends[1]};
}

// Puts `file` at `place`, open across exec, even where it is there already.
void place_file(int file, int place) {
  if (file == place)
    fcntl(file, F_SETFD, 0);
  else
    dup2(file, place);
}

// The child between fork and exec: nothing but system calls. Does not return.
[[noreturn]] void become(const char* role, pid_t front, int channel, int output) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != front) _exit(127);  // the front died before the line above could help
  sigset_t none;
  sigemptyset(&none);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGCHLD}) ::signal(signal, SIG_DFL);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  // Move both out of the way of the places they go to.
  const int channel_high = fcntl(channel, F_DUPFD, 10);
  const int output_high = fcntl(output, F_DUPFD, 10);
  const int nothing = open("/dev/null", O_RDONLY);
  place_file(nothing, STDIN_FILENO);
  place_file(output_high, STDOUT_FILENO);
  place_file(output_high, STDERR_FILENO);
  place_file(channel_high, channel_file);
  close_range(channel_file + 1, ~0U, 0);
  const char* const arguments[] = {"assay", role, nullptr};
  execv("/proc/self/exe", const_cast<char* const*>(arguments));
  constexpr char sorry[] = "cannot start /proc/self/exe again\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, sorry, sizeof sorry - 1);
  _exit(127);
}

// Appends what can be read now; false at the end of the file.
bool take_in(int file, std::string& into) {
  std::array<char, 65536> piece;
  while (true) {
    const ssize_t got = ::read(file, piece.data(), piece.size());
    if (got > 0)
      into.append(piece.data(), static_cast<std::size_t>(got));
    else if (got == 0)
      return false;
    else if (errno == EAGAIN)
      return true;
    else if (errno != EINTR)
      return false;
  }
}

std::optional<std::string> cut_line(std::string& heard) {
  const auto end = heard.find('\n');
  if (end == std::string::npos) return std::nullopt;
  std::string whole = heard.substr(0, end);
  heard.erase(0, end + 1);
  return whole;
}

}  // namespace

std::string describe(const Ended& ended) {
  if (!ended.known) return "does not go away even when killed: it is stuck in the kernel, probably in a driver";
  if (!ended.by_signal) return fmt::format("ended with exit code {}", ended.code);
  const char* abbreviation = sigabbrev_np(ended.code);
  const std::string name = abbreviation != nullptr ? fmt::format("SIG{}", abbreviation) : std::to_string(ended.code);
  const std::string why = meaning(ended.code);
  return why.empty() ? fmt::format("was killed by {}", name) : fmt::format("was killed by {} ({})", name, why);
}

double monotonic_seconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::vector<int> wait_readable(const std::vector<int>& files, double seconds) {
  std::vector<pollfd> asked;
  for (const int file : files) asked.push_back({file, POLLIN, 0});
  const double milliseconds = std::ceil(std::clamp(seconds, 0.0, 3600.0) * 1000);
  std::vector<int> ready;
  if (::poll(asked.data(), asked.size(), static_cast<int>(milliseconds)) <= 0) return ready;
  for (const pollfd& answer : asked)
    if (answer.revents != 0) ready.push_back(answer.fd);
  return ready;
}

Child::Child(const std::string& role) {
  const Pair channel = make_channel();
  const Pair output = make_pipe();
  const pid_t front = getpid();
  pid_ = fork();
  if (pid_ == 0) become(role.c_str(), front, channel.theirs, output.theirs);
  const int error = errno;
  close(channel.theirs);
  close(output.theirs);
  channel_ = channel.ours;
  output_ = output.ours;
  if (pid_ < 0) {
    close_files();
    throw Error(fmt::format("cannot start a process: {}", std::strerror(error)));
  }
  setpgid(pid_, pid_);  // both sides do it, so that it holds whoever comes first
  set_nonblocking(channel_);
  set_nonblocking(output_);
}

Child::~Child() {
  end();
  close_files();
}

void Child::close_files() {
  if (channel_ >= 0) close(channel_);
  if (output_ >= 0) close(output_);
  channel_ = output_ = -1;
}

void Child::send(const nlohmann::json& message) {
  const std::string text = line(message);
  std::size_t sent = 0;
  while (sent < text.size()) {
    const ssize_t piece = ::send(channel_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (piece > 0) {
      sent += static_cast<std::size_t>(piece);
    } else if (errno == EAGAIN) {
      pollfd asked{channel_, POLLOUT, 0};
      if (::poll(&asked, 1, 5000) <= 0) return;  // it does not listen; its deadline will tell
    } else if (errno != EINTR) {
      return;
    }
  }
}

std::vector<int> Child::files() const {
  std::vector<int> files;
  if (!closed_) files.push_back(channel_);
  if (output_ >= 0) files.push_back(output_);
  return files;
}

void Child::receive() {
  if (!closed_ && !take_in(channel_, heard_)) closed_ = true;
  if (output_ >= 0 && !take_in(output_, printed_)) {
    close(output_);
    output_ = -1;
  }
  if (printed_.size() > 2 * tail_kept) printed_.erase(0, printed_.size() - tail_kept);
}

std::optional<nlohmann::json> Child::next() {
  const auto text = cut_line(heard_);
  if (!text) {
    if (heard_.size() > longest_line) throw Error("a child process sent a message without an end");
    return std::nullopt;
  }
  auto message = nlohmann::json::parse(*text, nullptr, false);
  if (!message.is_object()) throw Error("a child process sent something that is no message: " + text->substr(0, 80));
  return message;
}

std::optional<nlohmann::json> Child::await(double deadline, const std::vector<int>& also,
                                           const std::function<bool()>& interrupted) {
  while (true) {
    receive();
    if (auto message = next()) return message;
    if (closed_) return std::nullopt;
    const double left = deadline - monotonic_seconds();
    if (left <= 0) return std::nullopt;
    std::vector<int> watched = files();
    watched.insert(watched.end(), also.begin(), also.end());
    const auto ready = wait_readable(watched, left);
    const bool other = std::any_of(
        also.begin(), also.end(), [&](int file) { return std::find(ready.begin(), ready.end(), file) != ready.end(); });
    if (other && interrupted()) return std::nullopt;
  }
}

std::optional<Ended> Child::reap() {
  siginfo_t state{};
  const int looked = waitid(P_PID, static_cast<id_t>(pid_), &state, WEXITED | WNOHANG | WNOWAIT);
  if (looked == 0 && state.si_pid == 0) return std::nullopt;
  // Whatever it started itself, while the number of its group cannot have gone to another yet.
  kill(-pid_, SIGKILL);
  int status = 0;
  if (waitpid(pid_, &status, 0) < 0) return Ended{true, false, 0};
  if (WIFSIGNALED(status)) return Ended{true, true, WTERMSIG(status)};
  return Ended{true, false, WEXITSTATUS(status)};
}

Ended Child::leave(double patience) {
  if (channel_ >= 0) shutdown(channel_, SHUT_WR);
  const double until = monotonic_seconds() + patience;
  while (!closed_ && monotonic_seconds() < until) {
    wait_readable(files(), until - monotonic_seconds());
    receive();
    heard_.clear();
  }
  return end();
}

Ended Child::end(double patience) {
  if (ended_) return *ended_;
  // A child that closed its channel is on its way out by itself: how it ends is worth a moment.
  const double gentle_until = monotonic_seconds() + (closed_ ? 1.0 : 0.0);
  double pause = 0.0002;
  bool killed = false;
  const double until = gentle_until + patience;
  while (!(ended_ = reap())) {
    const double now = monotonic_seconds();
    if (!killed && now >= gentle_until) {
      kill(-pid_, SIGKILL);
      kill(pid_, SIGKILL);
      killed = true;
    }
    if (now >= until) {
      ended_ = Ended{};
      return *ended_;
    }
    timespec moment{0, static_cast<long>(pause * 1e9)};
    nanosleep(&moment, nullptr);
    pause = std::min(pause * 2, 0.02);
  }
  receive();
  return *ended_;
}

std::string Child::last_words() const {
  std::string tail = printed_.size() > tail_kept ? printed_.substr(printed_.size() - tail_kept) : printed_;
  while (!tail.empty() && std::isspace(static_cast<unsigned char>(tail.back()))) tail.pop_back();
  // The last three lines, on one line, without anything that could drive a terminal.
  std::size_t start = tail.size();
  for (int lines = 0; lines < 3 && start != std::string::npos && start > 0; ++lines)
    start = tail.rfind('\n', start - 1);
  if (start != std::string::npos && start > 0) tail.erase(0, start + 1);
  if (tail.size() > 400) tail.erase(0, tail.size() - 400);
  std::string words;
  for (const char letter : tail) {
    if (letter == '\n')
      words += " / ";
    else if (static_cast<unsigned char>(letter) >= 0x20 && letter != 0x7f)
      words += letter;
  }
  return words;
}

Channel::Channel() : file_(channel_file) {
  if (fcntl(file_, F_SETFD, FD_CLOEXEC) != 0)
    throw Error("this is a part of a running measurement and cannot be started by hand");
}

std::optional<nlohmann::json> Channel::read() {
  std::array<char, 65536> piece;
  while (true) {
    if (const auto text = cut_line(heard_)) return nlohmann::json::parse(*text);
    const ssize_t got = ::read(file_, piece.data(), piece.size());
    if (got > 0)
      heard_.append(piece.data(), static_cast<std::size_t>(got));
    else if (got == 0 || errno != EINTR)
      return std::nullopt;
  }
}

void Channel::write(const nlohmann::json& message) {
  const std::string text = line(message);
  std::size_t sent = 0;
  while (sent < text.size()) {
    const ssize_t piece = ::send(file_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (piece > 0)
      sent += static_cast<std::size_t>(piece);
    else if (errno != EINTR)
      return;  // the front is gone, and this process with it in a moment
  }
}

void Channel::write_or_drop(const nlohmann::json& message) {
  // A piece of a line would spoil the next one, so the whole line must fit: ask before writing.
  pollfd asked{file_, POLLOUT, 0};
  if (::poll(&asked, 1, 0) > 0 && (asked.revents & POLLOUT) != 0) write(message);
}

bool Channel::front_gone(double seconds) {
  pollfd asked{file_, POLLIN, 0};
  if (::poll(&asked, 1, static_cast<int>(std::max(0.0, seconds) * 1000)) <= 0) return false;
  return (asked.revents & (POLLHUP | POLLERR)) != 0;
}

}  // namespace assay
