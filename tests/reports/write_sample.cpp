// Writes the sample report in every form into a folder, for the tests that open it in a browser and for looking at it.
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

#include "reports/render.h"
#include "tests/reports/sample.h"

namespace {

void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path.string());
}

void write_all(const std::filesystem::path& folder, const std::string& name, const assay::Report& report) {
  const std::vector<std::pair<std::string, std::string>> files{{"Report", folder / (name + ".html")},
                                                               {"Run", "runs/2026-12-01T00-40-12"}};
  write(folder / (name + ".html"), assay::render_html(report));
  write(folder / (name + ".json"), assay::render_json(report));
  write(folder / (name + ".md"), assay::render_markdown(report));
  assay::TerminalStyle style;
  write(folder / (name + ".txt"), assay::render_terminal(report, style, files));
  style.colour = style.first_screen_only = true;
  write(folder / (name + ".screen"), assay::render_terminal(report, style, files));
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::cerr << "usage: write_sample FOLDER\n";
    return 64;
  }
  const std::filesystem::path folder(arguments[1]);
  std::filesystem::create_directories(folder);
  write_all(folder, "sample", assay::sample_report());
  write_all(folder, "hostile", assay::hostile_report());
  write_all(folder, "empty", assay::Report{});
  return 0;
}
