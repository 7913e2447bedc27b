// `assay report`: runs and a model to an answer on the screen and in files.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <fstream>
#include <system_error>
#include <utility>

#include "cli/commands.h"
#include "cli/files.h"
#include "core/error.h"
#include "reports/render.h"
#include "results/run.h"

namespace assay {
namespace {

using NamedFiles = std::vector<std::pair<std::string, std::string>>;

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

int exit_code(const Report& report) {
  if (!report.verdict) return exit_good;
  switch (report.verdict->answer) {
    case Answer::fits:
    case Answer::tight:
      return exit_good;
    case Answer::does_not_fit:
      return exit_bad;
    case Answer::not_judged:
      break;
  }
  return exit_unknown;
}

}  // namespace

int report(const ReportQuestion& question, const Terminal& terminal) {
  // Everything that can be wrong with the question is found before any work is done, and nothing is half written.
  for (const std::filesystem::path& file : question.out) {
    rendering_for(file);
    refuse_existing(file, question.force);
  }
  std::vector<Run> runs;
  for (const std::filesystem::path& path : question.runs) runs.push_back(read_run(path));

  const Report result = question.model.empty()
                            ? overview(runs, question.device)
                            : judge(runs, find_model(question.model), question.workload, question.device);
  NamedFiles files;
  for (const std::filesystem::path& file : question.out) {
    write_file(file, rendering_for(file).render(result));
    files.emplace_back(file.extension().string().substr(1), file.string());
  }
  const TerminalStyle style{terminal.width, terminal.colour, terminal.ascii, !question.whole};
  std::fputs(render_terminal(result, style, files).c_str(), stdout);
  return exit_code(result);
}

}  // namespace assay
