// Follows a script: does at each call what the rules say.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "core/error.h"
#include "tests/fakes/script.h"

namespace assay::fake {

class Actor {
 public:
  explicit Actor(std::string plugin) : plugin_(std::move(plugin)), script_(read_script()) {}

  const nlohmann::json& script() const { return script_; }
  const std::string& plugin() const { return plugin_; }

  // Returns the rule that the caller has to follow itself ("wrong", "seconds"); null where there is none.
  nlohmann::json call(const std::string& function, const std::string& text) {
    log(function, text);
    nlohmann::json left;
    for (std::size_t i = 0; i < rules().size(); ++i) {
      const auto& rule = rules()[i];
      if (rule.at("at") != function || rule.value("plugin", plugin_) != plugin_) continue;
      if (text.find(rule.value("with", "")) == std::string::npos) continue;
      const int count = ++counts_[i];
      if (rule.contains("call") && rule.at("call") != count) continue;
      if (rule.contains("once") && !first(rule.at("once"))) continue;
      if (!follow(rule)) left = rule;
    }
    return left;
  }

 private:
  const nlohmann::json& rules() const {
    static const nlohmann::json none = nlohmann::json::array();
    const auto found = script_.find("rules");
    return found == script_.end() ? none : *found;
  }

  static bool first(const std::string& path) {
    const int file = open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY, 0600);
    if (file >= 0) close(file);
    return file >= 0;
  }

  static bool follow(const nlohmann::json& rule) {
    const std::string action = rule.at("do");
    const std::string said = rule.value("say", "");
    if (!said.empty()) {
      std::fprintf(stderr, "%s\n", said.c_str());
      std::printf("%s\n", said.c_str());
      std::fflush(stdout);
    }
    if (action == "hang")
      while (true) pause();
    if (action == "segv") {
      std::signal(SIGSEGV, SIG_DFL);  // sanitizers would make an exit code of it
      raise(SIGSEGV);
    }
    if (action == "kill") raise(SIGKILL);
    if (action == "abort") {
      std::signal(SIGABRT, SIG_DFL);
      std::abort();
    }
    if (action == "exit") _exit(rule.value("code", 3));
    if (action == "fork" && fork() == 0)
      while (true) pause();
    if (action == "throw") throw Error(said.empty() ? "the script says so" : said);
    if (action == "memory") throw OutOfMemory("the script says so");
    if (action == "lose") throw DeviceLost("the script says so");
    if (action == "unsupported") throw Unsupported("the script says so");
    return action == "print" || action == "fork";
  }

  void log(const std::string& function, const std::string& text) const {
    const auto path = script_.find("log");
    if (path == script_.end()) return;
    const int file = open(path->get<std::string>().c_str(), O_CREAT | O_APPEND | O_WRONLY | O_CLOEXEC, 0600);
    const std::string line = std::to_string(getpid()) + " " + function + " " + text + "\n";
    [[maybe_unused]] const auto written = ::write(file, line.data(), line.size());
    close(file);
  }

  std::string plugin_;
  nlohmann::json script_;
  std::map<std::size_t, int> counts_;
};

}  // namespace assay::fake
