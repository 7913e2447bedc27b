// `assay evaluate`: look, measure, accept and judge, and leave certificate and report beside the run.
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstdio>

#include "bench/run_info.h"
#include "cli/commands.h"
#include "cli/files.h"
#include "core/error.h"
#include "core/models/model.h"
#include "reports/accept/certificate.h"
#include "results/run.h"

namespace assay {
namespace {

// What is wrong with the questions is found before anything is measured.
std::optional<Claim> look_at(const ReportQuestion& question, const AcceptQuestion& claimed) {
  if (!question.model.empty()) find_model(question.model);
  for (const std::filesystem::path& run : claimed.fleet) read_run(run);
  if (claimed.claim.empty()) return std::nullopt;
  return parse_claim(claimed.claim);
}

// Doctor, within the time that there is for everything.
void examine(RunOptions& options, const Terminal& terminal) {
  if (options.quiet) return;
  const auto began = std::chrono::steady_clock::now();
  doctor(terminal, options.plugins);
  std::puts("");
  std::fflush(stdout);
  const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  if (options.budget_seconds <= 0) return;
  if (took >= options.budget_seconds)
    throw BadInput("--budget: looking at the machine alone took longer; give at least a minute");
  options.budget_seconds -= took;
}

// Without a claim nobody promised anything: the certificate is written, and one line says what it found.
int certify(AcceptQuestion claimed, const Terminal& terminal) {
  claimed.force = true;  // files in a folder that this command has just made
  claimed.out = {claimed.run / "certificate.html", claimed.run / "certificate.json"};
  if (!claimed.claim.empty()) {
    std::puts("");
    return accept(claimed, terminal);
  }
  const Run run = read_run(claimed.run);
  std::vector<Run> fleet;
  for (const std::filesystem::path& path : claimed.fleet) fleet.push_back(read_run(path));
  const Acceptance accepted = accept(run, fleet, std::nullopt);
  write_file(claimed.out[0], certificate_page(certificate(accepted, run, false)));
  write_file(claimed.out[1], certificate_json(certificate(accepted, run, false)));
  std::printf("\nHealth, %s: %zu checks passed, %zu warnings, %zu failed, %zu not known (no claim was given)\n\n",
              text(accepted.grade).c_str(), accepted.count(Outcome::pass), accepted.count(Outcome::warn),
              accepted.count(Outcome::fail), accepted.count(Outcome::unknown));
  return exit_good;
}

}  // namespace

int evaluate(RunOptions options, ReportQuestion question, AcceptQuestion claimed, const Terminal& terminal) {
  const std::optional<Claim> claim = look_at(question, claimed);
  if (claim && !question.dollars_per_hour) question.dollars_per_hour = claim->price_per_hour;
  choose_devices(options);
  examine(options, terminal);
  if (options.out.empty()) options.out = new_run_folder("runs");
  const int measured = run(options);
  // An interrupted run, or one with failed cases, still has rows worth a report; nothing usable has none.
  if (measured == exit_unknown || measured == exit_internal || measured >= 128) return measured;

  claimed.run = options.out;
  const int accepted = certify(claimed, terminal);
  if (claim) std::puts("");
  question.runs = {options.out};
  question.force = true;
  for (const char* name : {"report.html", "report.md", "report.json"}) question.out.push_back(options.out / name);
  const int judged = report(question, terminal);
  std::printf("\nReport: %s\nCertificate: %s\n", (options.out / "report.html").c_str(),
              (options.out / "certificate.html").c_str());
  if (measured != exit_good) return measured;
  return accepted != exit_good ? accepted : judged;
}

}  // namespace assay
