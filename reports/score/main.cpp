// assay-score: holds the predictions against measured cases.
// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdio>

#include "core/error.h"
#include "reports/score/score.h"

namespace {

constexpr int bad_input = 64;
constexpr double least_judged = 0.85;  // of the rows that carry an architecture

int run(int count, char** arguments) {
  CLI::App app{"Holds Assay's predictions against measured cases of memory and speed, and prints the errors by group."};
  std::string path;
  bool as_json = false, each_row = false;
  app.add_option("file", path, "a CSV file of cases; its columns are those of docs/prediction.md")->required();
  app.add_flag("--json", as_json, "print JSON");
  app.add_flag("--rows", each_row, "list each prediction too");
  try {
    app.parse(count, arguments);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : bad_input;
  }
  std::vector<assay::score::Scored> all;
  for (const assay::score::Case& row : assay::score::read_cases(path)) all.push_back(assay::score::score(row));
  const std::string text = as_json ? assay::score::json(all, each_row) : assay::score::table(all, each_row);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return assay::score::judged_share(all) >= least_judged ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    return run(count, arguments);
  } catch (const assay::BadInput& error) {
    std::fprintf(stderr, "assay-score: %s\n", error.what());
    return bad_input;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "assay-score: %s\n", error.what());
    return 70;
  }
}
