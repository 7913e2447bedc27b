// A comparison as a Report, and as CSV.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "reports/accept/speed_claim.h"
#include "reports/compare/sections.h"
#include "reports/money.h"
#include "reports/phrase.h"
#include "results/cell.h"

namespace assay {
namespace {

// What a model does on one contender, by the judge that `report` uses.
struct Ranked {
  std::size_t contender = 0;
  Answer answer = Answer::not_judged;
  std::string why;
  Quantity speed;  // tokens/s, or steps
  std::optional<double> dollars_per_million;
};

Ranked ranked(const Contender& one, std::size_t index, const CompareQuestion& question) {
  Ranked place;
  place.contender = index;
  place.speed = unknown(ReportUnit::tokens_per_second, "not judged");
  try {
    const Report report = judge({*one.run}, *question.model, question.workload, one.device->id);
    if (report.verdict) place.answer = report.verdict->answer, place.why = report.verdict->deciding_term;
    // Of several the last counts: decode after prompt.
    for (const auto& [name, number] : report.headline)
      if (number.unit == ReportUnit::tokens_per_second) place.speed = number;
  } catch (const BadInput& error) {
    place.why = error.what();
  }
  if (place.speed.value && one.price_per_hour)
    place.dollars_per_million = cost_per_million_tokens(*one.price_per_hour, *place.speed.value, MoneyInput{});
  return place;
}

bool before(const Ranked& a, const Ranked& b) {
  const auto fits = [](const Ranked& one) { return one.answer == Answer::fits || one.answer == Answer::tight; };
  if (fits(a) != fits(b)) return fits(a);
  const double speed_a = a.speed.value.value_or(0), speed_b = b.speed.value.value_or(0);
  if (speed_a != speed_b) return speed_a > speed_b;
  constexpr double dear = 1e300;
  return a.dollars_per_million.value_or(dear) < b.dollars_per_million.value_or(dear);
}

bool overlap(const Quantity& a, const Quantity& b) {
  return a.lower && a.upper && b.lower && b.upper && *a.lower <= *b.upper && *b.lower <= *a.upper;
}

Section ranking_section(const Comparison& comparison, const CompareQuestion& question, std::vector<Finding>& findings) {
  std::vector<Ranked> places;
  for (std::size_t index = 0; index < comparison.contenders.size(); ++index)
    places.push_back(ranked(comparison.contenders[index], index, question));
  std::stable_sort(places.begin(), places.end(), before);
  Table table{"ranking",
              question.model->title + ": by fit, speed and cost",
              {"Place", "Device", "Fits", "Predicted speed", "USD a million tokens", "What decides"},
              {},
              "Predicted from each device's own run, as `assay report --model` does; the price is in the list of "
              "devices."};
  for (std::size_t place = 0; place < places.size(); ++place) {
    const Ranked& one = places[place];
    table.rows.push_back({std::to_string(place + 1), comparison.contenders[one.contender].name, one.answer, one.speed,
                          one.dollars_per_million ? Cell(quantity(*one.dollars_per_million, ReportUnit::dollars))
                                                  : Cell(unknown(ReportUnit::dollars, "no price, or no speed")),
                          one.why});
  }
  const Ranked& first = places.front();
  if (first.speed.value && (first.answer == Answer::fits || first.answer == Answer::tight)) {
    findings.push_back(
        {Severity::good,
         fmt::format("For {}, {} comes first: {}{}.", question.model->title,
                     comparison.contenders[first.contender].name, show(first.speed),
                     overlap(first.speed, places[1].speed) ? ", though its interval overlaps that of the second" : ""),
         first.why, ""});
  } else {
    findings.push_back({Severity::warning, "No device is known to take " + question.model->title + ".", first.why, ""});
  }
  return {"ranking", "Ranking", {}, {table}, {}};
}

void add_summary(Report& report, const Comparison& comparison) {
  if (comparison.alike.empty()) {
    report.findings.push_back({Severity::problem, "Nothing was measured alike on two of these devices.",
                               "see what was not compared, and why", "measure both with the same profile"});
    return;
  }
  const std::vector<Characteristic> all = characteristics(comparison);
  for (std::size_t index = 0; index < comparison.contenders.size(); ++index) {
    std::vector<std::string> best;
    for (const Characteristic& one : all)
      if (ends(one).best == index) best.push_back(one.name);
    if (!best.empty())
      report.findings.push_back(
          {Severity::info, comparison.contenders[index].name + " is best in " + joined(best) + ".", "", ""});
  }
  for (std::size_t index = 1; index < comparison.contenders.size() && report.headline.size() < 6; ++index) {
    double sum = 0;
    int count = 0;
    for (const FamilyMean& one : family_means(comparison)) {
      if (!one.means[index] || one.family == "host" || one.family == "capacity") continue;
      sum += std::log(*one.means[index]);
      ++count;
    }
    if (count > 0)
      report.headline.emplace_back("times as fast: " + comparison.contenders[index].name,
                                   quantity(std::exp(sum / count), ReportUnit::none));
  }
}

void add_claim(std::vector<Finding>& findings, const Comparison& comparison, const std::string& words) {
  const Claim claim = parse_claim(words);
  if (!claim.speed) throw BadInput("--claim of compare is one of speed: \"H100 is 30x A100 at inference\"");
  std::vector<Machine> machines;
  const Run* last = nullptr;
  for (const Contender& one : comparison.contenders) {
    if (one.run != last) machines.emplace_back(*one.run);
    last = one.run;
  }
  std::vector<const Machine*> pointers;
  for (const Machine& machine : machines) pointers.push_back(&machine);
  const SpeedAnswer answer = check_speed_claim(*claim.speed, pointers);
  if (!answer.ratio) {
    findings.push_back({Severity::warning, "The claim cannot be checked: " + words + ".", answer.words, ""});
  } else if (*answer.ratio < claim.speed->factor) {
    findings.push_back(
        {Severity::problem,
         fmt::format("The claim does not hold: {}. No op gains more than {:.3g}x.", words, *answer.ratio), answer.words,
         ""});
  } else {
    findings.push_back({Severity::info, "The claim is not contradicted: " + words + ".", answer.words, ""});
  }
}

}  // namespace

Report comparison_report(const Comparison& comparison, const CompareQuestion& question) {
  Report report;
  std::vector<std::string> names;
  for (const Contender& one : comparison.contenders) names.push_back(one.name);
  report.title = "Comparison: " + joined(names, " and ");
  report.subtitle = fmt::format("{} measured alike; the first is what the others are held against",
                                counted(comparison.alike.size(), "piece") + " of work");
  add_summary(report, comparison);
  for (const std::string& difference : comparison.differences)
    report.findings.push_back({Severity::warning, difference + ".", "", ""});
  std::stable_sort(report.findings.begin(), report.findings.end(),
                   [](const Finding& a, const Finding& b) { return a.severity > b.severity; });
  // What was asked comes first.
  std::vector<Finding> asked;
  if (question.speed_claim) add_claim(asked, comparison, *question.speed_claim);
  if (question.model != nullptr) report.sections.push_back(ranking_section(comparison, question, asked));
  report.findings.insert(report.findings.begin(), asked.begin(), asked.end());
  report.sections.push_back(characteristics_section(comparison));
  report.sections.push_back(alike_section(comparison));
  report.sections.push_back(coverage_section(comparison));
  report.sections.push_back(devices_section(comparison));
  for (const Contender& one : comparison.contenders)
    report.provenance.emplace_back(one.name, one.run->info.id + ", " + one.device->id + ", assay " +
                                                 one.run->info.program_version + " " + one.run->info.commit);
  return report;
}

std::string comparison_csv(const Comparison& comparison) {
  std::string csv =
      "case,op,precision,data,cache,phase,variant,device,run,seconds,lower,upper,times_as_fast,times_lower,times_upper,"
      "method\n";
  const auto cells = [](const std::vector<std::string>& list) {
    std::string line;
    for (const std::string& cell : list) line += (line.empty() ? "" : ",") + quoted_cell(clean_text(cell));
    return line + "\n";
  };
  for (const Alike& alike : comparison.alike) {
    for (std::size_t index = 0; index < alike.taken.size(); ++index) {
      const auto& taken = alike.taken[index];
      if (!taken) continue;
      std::vector<std::string> line{alike.case_name,
                                    alike.op,
                                    alike.precision,
                                    alike.data,
                                    alike.cache,
                                    alike.phase,
                                    alike.variant,
                                    comparison.contenders[index].name,
                                    comparison.contenders[index].run->info.id};
      for (const double number : {taken->seconds, taken->lower, taken->upper}) line.push_back(write_number(number));
      if (alike.taken.front()) {
        const Quantity ratio = speed_ratio(*taken, *alike.taken.front());
        for (const auto& number : {ratio.value, ratio.lower, ratio.upper})
          line.push_back(number ? write_number(*number) : std::string());
      } else {
        line.insert(line.end(), 3, "");
      }
      line.push_back(taken->method);
      csv += cells(line);
    }
  }
  return csv;
}

}  // namespace assay
