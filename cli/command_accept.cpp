// `assay accept`: a run and a claim to a verdict and a certificate.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "cli/commands.h"
#include "cli/files.h"
#include "core/error.h"
#include "reports/accept/certificate.h"
#include "reports/render.h"
#include "results/run.h"
#include "results/text_file.h"

namespace assay {
namespace {

std::string written(const std::filesystem::path& file, const Certificate& made) {
  const std::string ending = file.extension().string();
  if (ending == ".html") return certificate_page(made);
  if (ending == ".json") return certificate_json(made);
  if (ending == ".md") return render_markdown(acceptance_report(made));
  if (ending == ".txt") return render_terminal(acceptance_report(made), TerminalStyle{}, {});
  throw BadInput("--out " + file.string() + ": the ending decides the format; use .html, .json, .md or .txt");
}

int verify(const std::filesystem::path& file) {
  const bool whole = verify_certificate(read_text_file(file, most_json_bytes), file.string());
  std::printf("%s: %s\n", file.c_str(),
              whole ? "as it was written" : "CHANGED since it was written: its checksum does not match");
  return whole ? exit_good : exit_bad;
}

}  // namespace

int accept(const AcceptQuestion& question, const Terminal& terminal) {
  if (!question.explain.empty()) {
    const std::string text = explain(find_rule(question.explain));
    std::fputs(text.c_str(), stdout);
    return exit_good;
  }
  if (!question.verify.empty()) return verify(question.verify);
  for (const std::filesystem::path& file : question.out) {
    written(file, Certificate{});  // refuses an ending that nobody knows, before any work
    refuse_existing(file, question.force);
  }
  std::optional<Claim> claim;
  if (!question.claim.empty()) claim = parse_claim(question.claim);
  const Run run = read_run(question.run);
  std::vector<Run> fleet;
  for (const std::filesystem::path& path : question.fleet) fleet.push_back(read_run(path));

  const Acceptance accepted = accept(run, fleet, claim);
  const Certificate made = certificate(accepted, run, question.redact);
  std::vector<std::pair<std::string, std::string>> files;
  for (const std::filesystem::path& file : question.out) {
    write_file(file, written(file, made));
    files.emplace_back(file.extension().string().substr(1), file.string());
  }
  const TerminalStyle style{terminal.width, terminal.colour, terminal.ascii, !question.whole};
  std::fputs(render_terminal(acceptance_report(made), style, files).c_str(), stdout);
  return exit_code_of(accepted);
}

}  // namespace assay
