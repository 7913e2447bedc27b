// Counts how often the gate errs on made-up machines, by the code that ships. Usage: gate_simulation [--trials N]
// [--check]: prints tables in Markdown; with --check, 1 where a promise is not kept.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "reports/gate/decide.h"
#include "tests/gate/noise.h"

namespace assay::gate {
namespace {

constexpr double bar = 0.02;

// "0.3", "94"
std::string percent(std::size_t hits, std::size_t trials) {
  const double value = 100.0 * static_cast<double>(hits) / static_cast<double>(trials);
  return value < 9.95 ? fmt::format("{:.1f}", value) : fmt::format("{:.0f}", value);
}

Verdict verdict_of(const Sides& sides, double load_error = 0) {
  return decide({Question{sides, {}, bar, load_error, 0}}).front().verdict;
}

// How many of the experiments are called SLOWER at each true change.
std::vector<std::size_t> count_slower(std::size_t trials, const std::vector<double>& changes,
                                      const std::function<Sides()>& draw, double load_error = 0) {
  std::vector<std::size_t> hits(changes.size());
  for (std::size_t trial = 0; trial < trials; ++trial) {
    const Sides sides = draw();
    for (std::size_t i = 0; i < changes.size(); ++i)
      if (verdict_of(with_change(sides, changes[i]), load_error) == Verdict::slower) ++hits[i];
  }
  return hits;
}

std::string cells(const std::vector<std::size_t>& hits, std::size_t trials) {
  std::string text;
  for (const std::size_t one : hits) text += (text.empty() ? "" : " / ") + percent(one, trials);
  return text;
}

// What was promised, and how far counting so few trials may be off: three standard errors.
class Promises {
 public:
  explicit Promises(std::size_t trials) : trials_(trials) {}
  void at_most(const std::string& what, std::size_t hits, double share) { hold(what, hits, share, -1); }
  void at_least(const std::string& what, std::size_t hits, double share) { hold(what, hits, share, 1); }
  bool kept() const { return kept_; }
  void print() const {
    std::printf("\n| promised, typical machine | counted | |\n| --- | --- | --- |\n%s", lines_.c_str());
  }

 private:
  void hold(const std::string& what, std::size_t hits, double share, int sign) {
    const double count = static_cast<double>(trials_);
    const double slack = 3 * std::sqrt(share * (1 - share) / count);
    const double seen = static_cast<double>(hits) / count;
    const bool good = sign > 0 ? seen >= share - slack : seen <= share + slack;
    lines_ += fmt::format("| {}: at {} {:.0f} % | {:.2f} % | {} |\n", what, sign > 0 ? "least" : "most", 100 * share,
                          100 * seen, good ? "kept" : "NOT KEPT");
    kept_ = kept_ && good;
  }
  std::size_t trials_;
  bool kept_ = true;
  std::string lines_;
};

void ladder(std::size_t trials) {
  const std::vector<double> changes{0, 0.005, 0.01, 0.02, 0.03, 0.05};
  const std::vector<std::size_t> runs{3, 5, 8, 10, 20};
  std::puts(
      "\n### One metric, every run on a driver load of its own: called SLOWER at a true 0 / 0.5 / 1 / 2 / 3 / 5 %\n");
  std::printf("| machine |");
  for (const std::size_t count : runs) std::printf(" %zu a side |", count);
  std::puts("\n| --- | --- | --- | --- | --- | --- |");
  for (const Noise& one : noises()) {
    std::printf("| %s |", one.name.c_str());
    for (const std::size_t count : runs) {
      Draws random(900 + count);
      const auto draw = [&] { return experiment(random, one, count, Design::each_run_its_load); };
      std::printf(" %s |", cells(count_slower(trials, changes, draw), trials).c_str());
      std::fflush(stdout);
    }
    std::puts("");
  }
}

void verdicts(std::size_t trials) {
  std::puts("\n### One metric, 8 runs a side: SLOWER / OK / INCONCLUSIVE / FASTER\n");
  std::puts("| machine | true 0 % | true 1 % | true 2 % | true 3 % |\n| --- | --- | --- | --- | --- |");
  for (const Noise& one : noises()) {
    std::printf("| %s |", one.name.c_str());
    for (const double change : {0.0, 0.01, 0.02, 0.03}) {
      Draws random(77);
      std::map<Verdict, std::size_t> counts;
      for (std::size_t trial = 0; trial < trials; ++trial)
        ++counts[verdict_of(with_change(experiment(random, one, 8, Design::each_run_its_load), change))];
      std::printf(" %s |", cells({counts[Verdict::slower], counts[Verdict::ok], counts[Verdict::inconclusive],
                                  counts[Verdict::faster]},
                                 trials)
                               .c_str());
    }
    std::puts("");
  }
}

void loads(std::size_t trials) {
  const std::vector<double> changes{0, 0.02, 0.03};
  std::puts("\n### Typical machine, by how the runs are spread over driver loads: SLOWER at a true 0 / 2 / 3 %\n");
  std::puts("| design | SLOWER |\n| --- | --- |");
  const Noise& typical = noise("typical");
  for (const auto& [count, each] :
       std::vector<std::pair<std::size_t, std::size_t>>{{3, 3}, {5, 2}, {6, 2}, {8, 1}, {8, 2}}) {
    Draws random(count * 10 + each);
    const auto draw = [&, loads = count, runs = each] { return load_medians(random, typical, loads, runs); };
    std::printf("| %zu loads a side, %zu run%s each | %s |\n", count, each, each == 1 ? "" : "s",
                cells(count_slower(trials, changes, draw), trials).c_str());
  }
  for (const std::size_t runs : {5, 10}) {
    Draws random(500 + runs);
    const auto draw = [&] { return experiment(random, typical, runs, Design::one_load_a_side); };
    std::printf("| one load a side, %zu runs, not widened | %s |\n", runs,
                cells(count_slower(trials, changes, draw), trials).c_str());
    const double error = typical.load * std::sqrt(2.0);
    std::printf("| one load a side, %zu runs, widened | %s |\n", runs,
                cells(count_slower(trials, changes, draw, error), trials).c_str());
  }
}

void modes(std::size_t trials) {
  const std::vector<double> changes{0, 0.02, 0.03};
  std::puts("\n### Runs in two modes (0.2 % noise inside one): SLOWER at a true 0 / 2 / 3 %\n");
  std::puts("| modes | 5 a side | 10 a side |\n| --- | --- | --- |");
  for (const auto& [chance, size] :
       std::vector<std::pair<double, double>>{{0.5, 0.03}, {0.5, 0.11}, {0.3, 0.03}, {0.1, 0.10}}) {
    std::printf("| %.0f %% of the runs %.0f %% slower |", 100 * chance, 100 * size);
    for (const std::size_t runs : {5, 10}) {
      Draws random(static_cast<std::uint64_t>(1000 * chance + 100 * size) + runs);
      const auto value = [&, chance = chance, size = size] {
        return 0.002 * random.normal() + (random.uniform() < chance ? size : 0);
      };
      const auto draw = [&] {
        Sides sides;
        for (std::size_t i = 0; i < runs; ++i) sides.before.push_back(value()), sides.after.push_back(value());
        return sides;
      };
      std::printf(" %s |", cells(count_slower(trials, changes, draw), trials).c_str());
    }
    std::puts("");
  }
}

struct SuiteCount {
  std::size_t alarms =
      0;  // suites with a metric called SLOWER that did not change, or, with nothing changed, all of them together
  std::size_t found = 0;  // the metric that changed; where all did, the suite
};

enum class Changed { none, one, all };

bool together_slower(const std::vector<Sides>& all) {
  Sides means{std::vector<double>(all.front().before.size()), std::vector<double>(all.front().after.size())};
  for (const Sides& sides : all) {
    for (std::size_t i = 0; i < sides.before.size(); ++i)
      means.before[i] += sides.before[i] / static_cast<double>(all.size());
    for (std::size_t i = 0; i < sides.after.size(); ++i)
      means.after[i] += sides.after[i] / static_cast<double>(all.size());
  }
  return decide_together(Question{means, {}, bar, 0, 0}).verdict == Verdict::slower;
}

SuiteCount count_suites(std::size_t trials, std::size_t runs, bool confirm, Changed changed, double size) {
  constexpr std::size_t metrics = 40;
  Draws random(7000 + runs * 31 + static_cast<std::uint64_t>(changed) * 7 + static_cast<std::uint64_t>(size * 1000) +
               (confirm ? 1 : 0));
  SuiteCount count;
  const auto drawn = [&] {
    std::vector<Sides> all = suite(random, noise("typical"), runs, metrics);
    for (std::size_t i = 0; i < metrics; ++i)
      if (changed == Changed::all || (changed == Changed::one && i == 0)) all[i] = with_change(all[i], size);
    return all;
  };
  for (std::size_t trial = 0; trial < trials; ++trial) {
    const std::vector<Sides> first = drawn(), fresh = drawn();
    std::vector<Question> questions;
    for (std::size_t i = 0; i < metrics; ++i)
      questions.push_back({first[i], confirm ? std::optional(fresh[i]) : std::nullopt, bar, 0, 0});
    const std::vector<Decision> decisions = decide(questions);
    bool wrong = false, right = false;
    for (std::size_t i = 0; i < metrics; ++i) {
      if (decisions[i].verdict != Verdict::slower) continue;
      const bool real = changed == Changed::all || (changed == Changed::one && i == 0);
      (real ? right : wrong) = true;
    }
    const bool together = together_slower(first);
    if (changed == Changed::none) wrong = wrong || together;
    if (changed == Changed::all) right = right || together;
    count.alarms += wrong ? 1 : 0;
    count.found += right ? 1 : 0;
  }
  return count;
}

void suite_row(std::size_t trials, std::size_t runs, bool confirm, Promises& promises) {
  const SuiteCount none = count_suites(trials, runs, confirm, Changed::none, 0);
  const SuiteCount two = count_suites(trials, runs, confirm, Changed::one, 0.02);
  const SuiteCount three = count_suites(trials, runs, confirm, Changed::one, 0.03);
  const SuiteCount all = count_suites(trials, runs, confirm, Changed::all, 0.01);
  std::printf("| %zu a side, %s | %s | %s | %s | %s |\n", runs,
              confirm ? "then as many fresh ones" : "held against all metrics", percent(none.alarms, trials).c_str(),
              percent(two.found, trials).c_str(), percent(three.found, trials).c_str(),
              percent(all.found, trials).c_str());
  const std::string what = fmt::format("suites of 40 metrics, {} runs a side{}", runs, confirm ? ", confirmed" : "");
  promises.at_most("false alarms of " + what, none.alarms, 0.02);
  if (confirm && runs >= 8) promises.at_least("one metric that is 2 % slower found in " + what, two.found, 0.90);
}

void suites(std::size_t trials, Promises& promises) {
  std::puts("\n### Suite of 40 metrics on the typical machine\n");
  std::puts("| runs | false alarms | one metric +2 % found | one metric +3 % found | all +1 % noticed |");
  std::puts("| --- | --- | --- | --- | --- |");
  for (const std::size_t runs : {5, 8})
    for (const bool confirm : {false, true}) suite_row(trials, runs, confirm, promises);
}

// A new result, the median of three runs, against a history of such results.
void histories(std::size_t trials) {
  std::puts(
      "\n### A result of three runs against earlier ones, typical machine: above the limit at a true 0 / 2 / 5 %\n");
  std::puts("| earlier results | above the limit |\n| --- | --- |");
  for (const std::size_t count : {5, 10, 20}) {
    Draws random(99 + count);
    std::vector<std::size_t> hits(3);
    for (std::size_t trial = 0; trial < trials; ++trial) {
      std::vector<double> results;  // each of three runs on loads of their own
      for (std::size_t i = 0; i <= count; ++i)
        results.push_back(median(experiment(random, noise("typical"), 3, Design::each_run_its_load).before));
      const double now = results.back();
      results.pop_back();
      const double limit = history_limit(results, bar);
      for (std::size_t i = 0; i < 3; ++i)
        if (now + std::log1p(std::vector<double>{0, 0.02, 0.05}[i]) > limit) ++hits[i];
    }
    std::printf("| %zu | %s |\n", count, cells(hits, trials).c_str());
  }
}

// The promise itself: 8 runs a side on the typical machine.
void promise(std::size_t trials, Promises& promises) {
  Draws random(42);
  const auto draw = [&] { return experiment(random, noise("typical"), 8, Design::each_run_its_load); };
  const std::vector<std::size_t> hits = count_slower(trials, {0, 0.005, 0.02}, draw);
  promises.at_most("false alarms of one metric, 8 runs a side", hits[0], 0.01);
  promises.at_most("a slowdown of 0.5 % called SLOWER", hits[1], 0.10);
  promises.at_least("a slowdown of 2 % found", hits[2], 0.90);
}

int simulate(std::size_t trials, bool check) {
  Promises promises(trials);
  std::printf("%zu trials a cell\n\n", trials);
  promise(trials, promises);
  suites(trials, promises);
  promises.print();
  if (!check) {
    ladder(trials);
    verdicts(trials);
    loads(trials);
    modes(trials);
    histories(trials);
  }
  return check && !promises.kept() ? 1 : 0;
}

}  // namespace
}  // namespace assay::gate

int main(int argc, char** argv) {
  std::size_t trials = 4000;
  bool check = false;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--check") {
      check = true;
    } else if (word == "--trials" && i + 1 < argc && std::atoi(argv[i + 1]) > 0) {
      trials = static_cast<std::size_t>(std::atoi(argv[++i]));
    } else {
      std::fputs("usage: gate_simulation [--trials N] [--check]\n", stderr);
      return 64;
    }
  }
  return assay::gate::simulate(trials, check);
}
