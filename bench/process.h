// A child of the front: this very program, started again in a role, spoken to in JSON lines and never trusted.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace assay {

// How a process came to its end.
struct Ended {
  bool known = false;      // false: it does not go away even when killed (stuck in the kernel, mostly in a driver)
  bool by_signal = false;  // then `code` is the signal
  int code = 0;
};

// "ended with exit code 3", "was killed by SIGSEGV (a bad memory access)".
std::string describe(const Ended& ended);

// Seconds on CLOCK_MONOTONIC: the one clock of all processes of a run.
double monotonic_seconds();

// Waits until one of the files can be read (or was closed at its other end), or the time is up. Returns those that can.
std::vector<int> wait_readable(const std::vector<int>& files, double seconds);

// One child process. It has a group of its own, so that a Ctrl-C at the terminal does not reach it, and dies with the
// front even when that is killed. What it prints is kept apart from what it says over its channel.
class Child {
 public:
  // Re-executes this program as `assay <role>`. Throws Error where no process can be had.
  explicit Child(const std::string& role);
  ~Child();  // ends it
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }
  void send(const nlohmann::json& message);  // a child that is gone is noticed when reading, not here

  std::vector<int> files() const;          // to wait for
  void receive();                          // takes in what has arrived, without waiting
  std::optional<nlohmann::json> next();    // the next whole message; throws Error on a line that is none
  bool closed() const { return closed_; }  // it said its last

  // Waits until the child has said its next message and returns it; empty where it ended, time is up (`deadline` on
  // monotonic_seconds()), or `interrupted` says yes, which is asked whenever one of `also` becomes readable.
  std::optional<nlohmann::json> await(double deadline, const std::vector<int>& also,
                                      const std::function<bool()>& interrupted);

  // Asks it to leave, by closing our side of the channel, and kills it after `patience` seconds.
  Ended leave(double patience = 1);

  // Kills its whole group, if it has not gone already, and says how it ended. Waits `patience` seconds at
  // most: giving back much memory, or many devices, takes the kernel its time.
  Ended end(double patience = 15);

  // The end of what it printed, on one line: the reason of a fault is often there. Empty where it printed nothing.
  std::string last_words() const;

 private:
  void close_files();
  std::optional<Ended> reap();

  pid_t pid_ = -1;
  int channel_ = -1;
  int output_ = -1;
  bool closed_ = false;
  std::string heard_;    // from the channel, not yet a whole line
  std::string printed_;  // the tail of its standard output and error
  std::optional<Ended> ended_;
};

// The child's end of the channel.
class Channel {
 public:
  Channel();                                          // takes over the file that the front left open for it
  std::optional<nlohmann::json> read();               // waits; empty where the front is gone
  void write(const nlohmann::json& message);          // waits until it fits
  void write_or_drop(const nlohmann::json& message);  // drops it where the front does not keep up
  bool front_gone(double seconds);                    // waits that long for the front to leave

 private:
  int file_;
  std::string heard_;
};

}  // namespace assay
