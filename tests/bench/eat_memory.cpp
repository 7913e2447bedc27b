// A program to watch: takes memory, keeps processors busy, starts children, ends as it is told.
// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

volatile sig_atomic_t told = 0;
void hear(int signal) { told = signal; }

void stay(double seconds) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (told == 0 && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

}  // namespace

// eat_memory MEBIBYTES SECONDS CHILDREN END: END is an exit code, "kill" (by SIGKILL), "wait" (exit 7 once SIGUSR1
// came) or "orphan" (the children outlive it).
int main(int count, char** words) {
  if (count != 5) return 99;
  const std::size_t bytes = std::strtoul(words[1], nullptr, 10) << 20U;
  const double seconds = std::atof(words[2]);
  const int children = std::atoi(words[3]);
  const std::string end = words[4];
  if (end == "wait") signal(SIGUSR1, hear);
  std::vector<pid_t> started;
  bool child = false;
  for (int index = 0; index < children && !child; ++index) {
    const pid_t pid = fork();
    child = pid == 0;
    if (!child) started.push_back(pid);
  }
  std::vector<char> memory(bytes);
  for (std::size_t at = 0; at < bytes; at += 4096) memory[at] = static_cast<char>(at >> 12U | 1U);
  stay(child && end == "orphan" ? seconds * 2 : seconds);
  if (child) return memory.empty() ? 1 : 0;
  if (end != "orphan")
    for (const pid_t pid : started) waitpid(pid, nullptr, 0);
  if (end == "kill") raise(SIGKILL);
  if (end == "wait") return told == SIGUSR1 ? 7 : 8;
  if (end == "orphan") return 0;
  return std::atoi(end.c_str());
}
