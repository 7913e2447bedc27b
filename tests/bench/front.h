// Starts the test program in a process of its own, torments it, and looks at what is left.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "results/run.h"

namespace assay::test {

// A JSON list of these: braces alone would be read as something else by one compiler or another.
template <typename... Rules>
nlohmann::json list(const Rules&... rules) {
  return nlohmann::json::array({nlohmann::json(rules)...});
}

// A folder that is gone when the test ends.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

struct Finished {
  int code = -1;       // as a shell sees it: 128 + n after signal n
  std::string output;  // standard output
  std::string errors;  // standard error
  double seconds = 0;
};

// One test's surroundings: a folder, a script for the fakes, and the program.
class Stage {
 public:
  // `script` as tests/fakes/script.h says; `plugins` are those that the program finds.
  explicit Stage(const nlohmann::json& script, const std::vector<std::string>& plugins = {"fake"});

  void rewrite(const nlohmann::json& script);  // for the next start
  std::filesystem::path folder() const { return folder_.path(); }
  std::filesystem::path out() const { return folder_.path() / "run"; }
  std::filesystem::path file(const std::string& name) const { return folder_.path() / name; }

  // Variables that are added to an environment that is otherwise empty but for PATH.
  std::map<std::string, std::string> environment;
  std::optional<unsigned long> file_size_limit;  // RLIMIT_FSIZE: as if the disk were full

  // Starts the program with `--plugins` and the arguments.
  pid_t start(const std::vector<std::string>& arguments);

  // The same with a terminal of 60 columns, which the caller holds the other end of and closes.
  struct OnTerminal {
    pid_t pid = -1;
    int terminal = -1;
  };
  OnTerminal start_on_terminal(const std::vector<std::string>& arguments);

  Finished wait(pid_t pid);  // fails the test and kills where it takes more than a minute
  Finished run(const std::vector<std::string>& arguments) { return wait(start(arguments)); }
  Finished measure(std::vector<std::string> more = {});  // run, into out()

  // Every process that was started for this stage and still lives.
  std::vector<pid_t> processes() const;
  // Waits up to `seconds` for all of them to be gone; returns those that stay.
  std::vector<pid_t> left_behind(double seconds) const;

  // Waits until something holds; false after a minute.
  static bool until(const std::function<bool()>& holds, double seconds = 60);
  std::string log() const;  // of the fakes' calls, where the script names file("log")

 private:
  [[noreturn]] void become(const std::vector<std::string>& arguments);

  TemporaryFolder folder_;
  double started_ = 0;
};

std::string text_of(const std::filesystem::path& file);
int lines_in(const std::filesystem::path& file);  // 0 where it is not there

// The rows of a case, in order.
std::vector<Row> rows_of(const Run& run, const std::string& case_name);

}  // namespace assay::test
