// Starts, watches and ends the test program.
// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/front.h"

#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <thread>

#include "bench/process.h"
#include "tests/fakes/script.h"

namespace assay::test {
namespace {

constexpr double longest_run = 120;

void copy_plugins(const std::filesystem::path& into, const std::vector<std::string>& names) {
  std::filesystem::create_directories(into);
  for (const std::string& name : names) {
    const std::string file = "assay_" + name + ".so";
    std::filesystem::create_symlink(std::filesystem::path(ASSAY_TEST_PLUGINS) / file, into / file);
  }
}

void send_to(const std::filesystem::path& file, int descriptor) {
  const int opened = open(file.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
  dup2(opened, descriptor);
  close(opened);
}

int shell_code(int status) { return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status); }

void nap() { std::this_thread::sleep_for(std::chrono::milliseconds(2)); }

}  // namespace

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "assay-test-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a temporary folder");
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

Stage::Stage(const nlohmann::json& script, const std::vector<std::string>& plugins) {
  rewrite(script);
  copy_plugins(folder() / "plugins", plugins);
}

void Stage::rewrite(const nlohmann::json& script) { std::ofstream(file("script.json")) << script; }

// Becomes the program. Never returns.
void Stage::become(const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {"harness", "--plugins=" + (folder() / "plugins").string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> variables = {"PATH=/usr/bin:/bin",
                                        std::string(fake::script_variable) + "=" + file("script.json").string()};
  for (const auto& [name, value] : environment) variables.push_back(name + "=" + value);
  std::vector<char*> argument_list, variable_list;
  for (std::string& word : words) argument_list.push_back(word.data());
  for (std::string& variable : variables) variable_list.push_back(variable.data());
  argument_list.push_back(nullptr);
  variable_list.push_back(nullptr);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (file_size_limit) {
    const rlimit limit{*file_size_limit, *file_size_limit};
    setrlimit(RLIMIT_FSIZE, &limit);
    ::signal(SIGXFSZ, SIG_IGN);  // so that writing fails, as on a full disk
  }
  if (chdir(folder().c_str()) != 0) _exit(126);
  execve(ASSAY_HARNESS, argument_list.data(), variable_list.data());
  _exit(127);
}

pid_t Stage::start(const std::vector<std::string>& arguments) {
  started_ = monotonic_seconds();
  const pid_t pid = fork();
  if (pid != 0) return pid;
  send_to(file("output"), STDOUT_FILENO);
  send_to(file("errors"), STDERR_FILENO);
  become(arguments);
}

Stage::OnTerminal Stage::start_on_terminal(const std::vector<std::string>& arguments) {
  started_ = monotonic_seconds();
  const winsize size{24, 60, 0, 0};
  OnTerminal started;
  started.pid = forkpty(&started.terminal, nullptr, nullptr, &size);
  if (started.pid == 0) become(arguments);
  return started;
}

Finished Stage::wait(pid_t pid) {
  int status = 0;
  const bool ended =
      until([&] { return waitpid(pid, &status, WNOHANG) == pid; }, longest_run - (monotonic_seconds() - started_));
  if (!ended) {
    ADD_FAILURE() << "the program did not end; it said:\n" << text_of(file("output")) << text_of(file("errors"));
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
  }
  return {shell_code(status), text_of(file("output")), text_of(file("errors")), monotonic_seconds() - started_};
}

Finished Stage::measure(std::vector<std::string> more) {
  more.push_back("--out=" + out().string());
  return run(more);
}

std::vector<pid_t> Stage::processes() const {
  const std::string mark = std::string(fake::script_variable) + "=" + file("script.json").string();
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    // A process that is only waiting to be buried has no environment any more.
    if (text_of(entry.path() / "environ").find(mark) != std::string::npos) found.push_back(std::stoi(name));
  }
  return found;
}

std::vector<pid_t> Stage::left_behind(double seconds) const {
  until([&] { return processes().empty(); }, seconds);
  return processes();
}

bool Stage::until(const std::function<bool()>& holds, double seconds) {
  const double end = monotonic_seconds() + seconds;
  while (!holds()) {
    if (monotonic_seconds() > end) return false;
    nap();
  }
  return true;
}

std::string Stage::log() const { return text_of(file("log")); }

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

int lines_in(const std::filesystem::path& file) {
  const std::string text = text_of(file);
  return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

std::vector<Row> rows_of(const Run& run, const std::string& case_name) {
  std::vector<Row> rows;
  for (const Row& row : run.rows)
    if (row.case_name == case_name) rows.push_back(row);
  return rows;
}

}  // namespace assay::test
