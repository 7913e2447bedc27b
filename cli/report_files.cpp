// A report in files.
// SPDX-License-Identifier: Apache-2.0
#include "cli/report_files.h"

#include "cli/files.h"
#include "core/error.h"
#include "reports/render.h"

namespace assay {
namespace {

struct Rendering {
  std::string ending;
  std::string (*render)(const Report&);
};

std::string render_plain(const Report& report) { return render_terminal(report, TerminalStyle{}, {}); }

const std::vector<Rendering>& renderings() {
  static const std::vector<Rendering> all{
      {".html", render_html}, {".md", render_markdown}, {".json", render_json}, {".txt", render_plain}};
  return all;
}

const Rendering& rendering_for(const std::filesystem::path& file) {
  for (const Rendering& rendering : renderings()) {
    if (file.extension() == rendering.ending) return rendering;
  }
  throw BadInput("--out " + file.string() + ": the ending decides the format; use .html, .md, .json or .txt");
}

}  // namespace

void check_report_file(const std::filesystem::path& file) { rendering_for(file); }

std::vector<std::pair<std::string, std::string>> write_reports(const Report& report,
                                                               const std::vector<std::filesystem::path>& files) {
  std::vector<std::pair<std::string, std::string>> named;
  for (const std::filesystem::path& file : files) {
    write_file(file, rendering_for(file).render(report));
    named.emplace_back(file.extension().string().substr(1), file.string());
  }
  return named;
}

}  // namespace assay
