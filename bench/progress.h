// What a person sees while a run goes on: one line that rewrites itself, or, where nobody watches, a line now and then.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "results/row.h"

namespace assay {

// Where progress goes and what it can do there.
struct Screen {
  int file = 2;
  bool terminal = false;  // can rewrite a line
  bool colour = false;
  int columns = 80;
};
Screen screen_of(int file, bool colour_wanted);  // honours NO_COLOR and TERM=dumb

class Progress {
 public:
  // `expected` is what all `total` cases together should take, in seconds.
  Progress(const Screen& screen, bool quiet, std::size_t total, double expected, std::function<double()> clock);
  ~Progress();

  void starting(const std::string& label, double expected);
  void finished(const std::string& label, const std::vector<Row>& rows);
  void tick();   // a case takes its time
  void clear();  // takes the line away, so that something else can be printed

 private:
  void show();
  void say(const std::string& line);
  std::string remaining() const;
  void put(const std::string& text) const;

  Screen screen_;
  bool quiet_;
  std::size_t total_;
  double expected_total_;
  std::function<double()> clock_;
  double started_;
  double case_started_ = 0;
  std::size_t done_ = 0;
  double expected_done_ = 0;
  double expected_now_ = 0;
  std::string running_;
  std::string last_;
  bool shown_ = false;
  std::size_t tenth_ = 0;
};

}  // namespace assay
