// Runs a real program with given arguments and environment, and returns what it said and how it ended.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace assay {

struct Ended {
  int code = -1;  // exit code, or 128 + signal
  std::string out;
  std::string err;
};

// A temporary folder that goes away with the object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "assay-test-XXXXXX").string();
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline std::string read_whole(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream all;
  all << stream.rdbuf();
  return all.str();
}

// `environment` replaces everything but PATH. Standard input is empty; the working folder is `folder`.
inline Ended run_program(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                         const std::vector<std::string>& environment, const std::filesystem::path& folder) {
  const std::filesystem::path out = folder / "stdout.captured";
  const std::filesystem::path err = folder / "stderr.captured";
  const pid_t child = fork();
  if (child == 0) {
    const auto onto = [](const std::filesystem::path& file, int flags, int descriptor) {
      dup2(open(file.c_str(), flags, 0600), descriptor);
    };
    onto("/dev/null", O_RDONLY, STDIN_FILENO);
    onto(out, O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO);
    onto(err, O_WRONLY | O_CREAT | O_TRUNC, STDERR_FILENO);
    if (chdir(folder.c_str()) != 0) _exit(126);
    std::vector<std::string> words{program.string()};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<std::string> variables{std::string("PATH=") + (getenv("PATH") != nullptr ? getenv("PATH") : "")};
    variables.insert(variables.end(), environment.begin(), environment.end());
    std::vector<char*> argv;
    std::vector<char*> envp;
    for (std::string& word : words) argv.push_back(word.data());
    for (std::string& variable : variables) envp.push_back(variable.data());
    argv.push_back(nullptr);
    envp.push_back(nullptr);
    execve(program.c_str(), argv.data(), envp.data());
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  Ended ended;
  ended.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  ended.out = read_whole(out);
  ended.err = read_whole(err);
  return ended;
}

}  // namespace assay
