// Watching real processes of known size, shape and end.
// SPDX-License-Identifier: Apache-2.0
#include "bench/watch.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "core/error.h"

namespace assay {
namespace {

constexpr double mebi = 1024.0 * 1024;
// What a C++ program takes beside what it asks for; under a sanitizer every allocation casts a shadow of an eighth.
constexpr double beside = 24 * mebi;

Watched eat(const std::string& mebibytes, const std::string& seconds, const std::string& children,
            const std::string& end) {
  WatchQuestion question;
  question.command = {ASSAY_EAT_MEMORY, mebibytes, seconds, children, end};
  question.period = 0.05;
  return watch(question);
}

TEST(Watch, SeesWhatOneProcessTakes) {
  const Watched watched = eat("64", "0.3", "0", "0");
  EXPECT_EQ(exit_code_of(watched.ended), 0);
  ASSERT_TRUE(watched.proportional_peak);
  EXPECT_GE(static_cast<double>(*watched.proportional_peak), 64 * mebi);
  EXPECT_LE(static_cast<double>(*watched.proportional_peak), 64 * mebi * 1.2 + beside);
  EXPECT_GE(static_cast<double>(watched.largest_process_peak), 64 * mebi);
  EXPECT_EQ(watched.processes_peak, 1);
  EXPECT_GE(watched.seconds, 0.3);
  EXPECT_GT(watched.samples, 3);
}

TEST(Watch, AddsUpATreeAndCountsSharedPagesOnce) {
  const Watched watched = eat("32", "0.8", "3", "0");
  EXPECT_EQ(watched.processes_peak, 4);
  EXPECT_EQ(watched.processes.size(), 4U);
  ASSERT_TRUE(watched.proportional_peak);
  EXPECT_GE(static_cast<double>(*watched.proportional_peak), 4 * 32 * mebi);
  EXPECT_LE(watched.proportional_peak, watched.resident_peak);
  // Every one of the four took 32 MiB; the kernel's highest is of one process alone.
  EXPECT_LT(static_cast<double>(watched.largest_process_peak), 2 * 32 * mebi + beside);
}

TEST(Watch, PassesExitCodesAndSignalsOn) {
  EXPECT_EQ(exit_code_of(eat("1", "0", "0", "3").ended), 3);
  const Watched killed = eat("1", "0.05", "0", "kill");
  EXPECT_TRUE(killed.ended.by_signal);
  EXPECT_EQ(exit_code_of(killed.ended), 128 + SIGKILL);
}

TEST(Watch, ASignalThatReachesTheWatcherReachesTheCommand) {
  std::thread sender([] {
    sigset_t blocked;  // so that only the watcher, which has blocked it by then, can take it
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    kill(getpid(), SIGUSR1);
  });
  const Watched watched = eat("1", "5", "0", "wait");
  sender.join();
  EXPECT_EQ(exit_code_of(watched.ended), 7);
  EXPECT_LT(watched.seconds, 4);
}

TEST(Watch, FindsProcessesThatLostTheirParent) {
  const Watched watched = eat("16", "0.2", "2", "orphan");
  EXPECT_EQ(exit_code_of(watched.ended), 0);
  EXPECT_EQ(watched.processes_peak, 3);
  ASSERT_FALSE(watched.remarks.empty());
  EXPECT_NE(watched.remarks.back().find("2 processes"), std::string::npos) << watched.remarks.back();
}

TEST(Watch, AVeryShortCommandStillHasTheKernelsOwnPeak) {
  WatchQuestion question;
  question.command = {"true"};
  const Watched watched = watch(question);
  EXPECT_EQ(exit_code_of(watched.ended), 0);
  EXPECT_GT(watched.largest_process_peak, 0);
}

TEST(Watch, SaysWhyACommandCannotBeStarted) {
  WatchQuestion question;
  question.command = {"/no/such/program"};
  try {
    watch(question);
    FAIL();
  } catch (const BadInput& error) {
    EXPECT_NE(std::string(error.what()).find("/no/such/program"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("No such file"), std::string::npos);
  }
  question.command = {"/etc/passwd"};
  EXPECT_THROW(watch(question), BadInput);
  question.command = {};
  EXPECT_THROW(watch(question), BadInput);
}

}  // namespace
}  // namespace assay
