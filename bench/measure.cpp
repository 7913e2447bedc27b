// One case from preparing to rows: prove with exact data, probe the precision, time, check again, doubt.
// SPDX-License-Identifier: Apache-2.0
#include "bench/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <exception>
#include <map>
#include <new>
#include <numeric>
#include <optional>
#include <variant>

#include "bench/host_survey.h"
#include "bench/learning.h"
#include "bench/plausible.h"
#include "bench/rows.h"
#include "bench/statistics.h"
#include "bench/verify.h"
#include "bench/verify_steps.h"
#include "core/error.h"

namespace assay {

namespace {

// Share of the allowed processors' time that others may use before it is worth telling.
constexpr double tolerated_load = 0.05;
constexpr int runs_by_step = 3;

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

// The lanes work at the same time. What is no number counts as 0, which no one believes later on.
double slowest_lane(const std::vector<double>& lanes) {
  double slowest = 0;
  for (const double lane : lanes) {
    if (!std::isfinite(lane)) return 0;
    slowest = std::max(slowest, lane);
  }
  return slowest;
}

Element multiplied_element(const Work& work) {
  if (const auto* gemm = std::get_if<Gemm>(&work.steps.front().op)) return gemm->a.element;
  if (const auto* issue = std::get_if<Issue>(&work.steps.front().op)) return issue->operands.element;
  return Element::bf16;  // whole steps and the rest: the bound of no format in particular
}

// Seconds of each phase of a work, by run_by_step: the median of a few runs, of fewer where one takes long.
std::vector<std::pair<std::string, double>> seconds_by_phase(const Work& work, Program& program, double patience) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<double>> runs;
  double spent = 0;
  for (int run = 0; run < runs_by_step && (run == 0 || spent < patience); ++run) {
    const std::vector<double> steps = program.run_by_step();
    spent += std::accumulate(steps.begin(), steps.end(), 0.0);
    if (steps.size() != work.steps.size()) throw Error("the back end gave no time for each step of " + work.name);
    std::map<std::string, double> sums;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const std::string& phase = work.steps[i].phase;
      if (std::find(order.begin(), order.end(), phase) == order.end()) order.push_back(phase);
      sums[phase] += steps[i];
    }
    for (const auto& [phase, sum] : sums) runs[phase].push_back(sum);
  }
  std::vector<std::pair<std::string, double>> medians;
  for (const std::string& phase : order) medians.emplace_back(phase.empty() ? "other" : phase, median(runs[phase]));
  return medians;
}

// Flops of products and attention on the way there and back: what a step needs whatever is computed again. Of causal
// attention the half that is needed. The convention of the utilisation that follows from it.
double model_flops(const Work& work) {
  double total = 0;
  for (const Step& step : work.steps) {
    const bool counted = std::holds_alternative<Gemm>(step.op) || std::holds_alternative<Attention>(step.op);
    if (counted && step.phase != "recompute") total += cost(step.op).flops;
  }
  return total;
}

class Measurement {
 public:
  Measurement(const Case& item, MeasureContext& context)
      : item_(item), context_(context), started_(context.clock()), conditions_(item.conditions) {}

  Measured guarded() {
    base_.case_name = item_.name;
    base_.started_utc = utc_now();
    try {
      const std::string started = base_.started_utc;
      base_ = identity(item_, context_.device);
      base_.started_utc = started;
      run();
    } catch (const Unsupported& error) {
      give_up(Status::skipped, error.what());
    } catch (const DeviceLost& error) {
      give_up(Status::failed, std::string("device lost: ") + error.what());
      measured_.device_lost = true;
    } catch (const OutOfMemory& error) {
      give_up(Status::failed, std::string("out of memory: ") + error.what());
    } catch (const std::bad_alloc&) {
      give_up(Status::failed, "out of memory on the host");
    } catch (const std::exception& error) {
      give_up(Status::failed, error.what());
    } catch (...) {
      give_up(Status::failed, "the back end threw something that is no exception of ours");
    }
    finish();
    return std::move(measured_);
  }

 private:
  void run() {
    if (item_.question) {
      facts(context_.backend.survey(*item_.question, context_.device_index));
    } else if (!item_.host_survey.empty()) {
      facts(survey_host(item_.host_survey, {context_.root, context_.storage_folder, item_.storage_bytes}));
    } else if (item_.training) {
      learned();
    } else if (item_.work.steps.empty()) {
      throw Error("the case has nothing to do");
    } else {
      timed();
    }
  }

  void facts(const std::vector<Fact>& found) {
    for (const Fact& fact : found) measured_.rows.push_back(fact_row(base_, fact));
    if (found.empty()) throw Unsupported("this back end has no answer to that");
  }

  // Losses along the way: the device's own word that its arithmetic is good enough to learn by.
  void learned() {
    const auto program = prepare(item_.training->work);
    describe(program->choice());
    const std::vector<double> losses =
        learn(*item_.training, *program, licence_text(), item_.learning_steps, measuring_seed);
    for (std::size_t step = 0; step < losses.size(); ++step) {
      if (!std::isfinite(losses[step])) throw Error(fmt::format("the loss of step {} is {}", step + 1, losses[step]));
    }
    if (mean_of_last(losses, 5) >= losses.front()) {
      throw Error(fmt::format("nothing was learned: the loss was {:.4g} and is {:.4g} after {} steps", losses.front(),
                              losses.back(), losses.size()));
    }
    base_.precision_proof = "learns";
    // About twenty points of the curve, each the mean of the steps since the one before.
    const int apart = std::max(1, item_.learning_steps / 20);
    for (int step = apart; step <= item_.learning_steps; step += apart) {
      const std::vector<double> until(losses.begin(), losses.begin() + step);
      measured_.rows.push_back(
          plain_row(base_, fmt::format("loss_after_{}_steps", step), mean_of_last(until, apart), "nat/byte", "lower"));
    }
  }

  void timed() {
    look_at_load();
    conditions_ = item_.conditions;  // what others did before this case began is not its concern
    if (item_.whole_step) prove_twin();
    const auto program = prepare(item_.work);
    describe(program->choice());
    Fingerprint before;
    if (item_.whole_step) {
      before = fingerprint(item_.work, *program, measuring_seed);
      require(verify_alone(item_.work, before, measuring_seed));
    } else {
      prove(*program);
    }
    look_at_load();
    const Sampled sampled = sample([&](int executions) { return slowest_lane(program->run(executions)); },
                                   context_.clock, item_.limits.value_or(context_.limits));
    look_at_load();
    conditions_.insert(conditions_.end(), sampled.conditions.begin(), sampled.conditions.end());
    if (item_.whole_step) {
      require(verify_again(item_.work, before, fingerprint(item_.work, *program, measuring_seed)));
    } else {
      prove_again(*program);
    }
    write_rows(*program, sampled);
  }

  std::unique_ptr<Program> prepare(const Work& work) {
    for (const Step& step : work.steps) {
      const Support support = context_.backend.supports(step.op, context_.device_index);
      if (!support.yes) throw Unsupported(support.reason.empty() ? "not supported: " + text(step.op) : support.reason);
    }
    return context_.backend.prepare(work, context_.device_index, item_.preparation);
  }

  void describe(const Choice& choice) {
    if (choice.planted && std::find(conditions_.begin(), conditions_.end(), "planted") == conditions_.end())
      conditions_.push_back("planted");
    base_.method = choice.method;
    base_.executed = choice.executed;
    base_.accumulated = choice.accumulated;
    base_.precision_proof = "none";
  }

  static void require(const Verdict& verdict) {
    if (!verdict.wrong.empty()) throw Error("wrong result: " + verdict.wrong);
  }

  // The interpreter decides on a small shape what cannot be predicted op by op.
  void prove_twin() {
    if (item_.twin.steps.empty()) return;
    const auto program = prepare(item_.twin);
    const Verdict verdict = verify_twin(item_.twin, *program, measuring_seed);
    require(verdict);
    proof_ = fmt::format("small twin: {} values of {} steps within {:.0f} % of what is allowed", verdict.checked,
                         item_.twin.steps.size(), 100 * verdict.worst);
  }

  // Before timing: data that proves most, then the precision probe. Leaves the program ready to be timed.
  void prove(Program& program) {
    const Op& op = item_.work.steps.front().op;
    if (verifiable(op)) {
      const Pattern pattern = proving_pattern(op, item_.data);
      fill_and_run(program, pattern);
      const Verdict verdict = verify(item_.work, program, pattern, measuring_seed, true);
      require(verdict);
      base_.precision_proof = verdict.exact ? "exact" : fmt::format("within {:.2f} of the tolerance", verdict.worst);
      probe_precision(program);
    } else if (is_long_read(op)) {
      fill_and_run(program, Pattern::constant);
      require(verify_long_read(item_.work, program));
      base_.precision_proof = "sum of a constant";
    }
    if (filled_ != item_.data) fill_and_run(program, item_.data);
  }

  // Filling takes longer than running for large work; what is there already is not filled again.
  void fill_and_run(Program& program, Pattern pattern) {
    program.fill(pattern, measuring_seed);
    program.run(1);
    filled_ = pattern;
  }

  void probe_precision(Program& program) {
    const Op& op = item_.work.steps.front().op;
    if (!can_probe(op)) return;
    fill_and_run(program, Pattern::probe);
    const Precision precision = probed_precision(item_.work, program, measuring_seed);
    base_.precision_proof = precision.proof;
    if (!precision.accumulated.empty()) base_.accumulated = precision.accumulated;
    // Where nothing shorter than the stored format multiplied, the back end may know that something longer did.
    if (!precision.executed.empty() && (base_.executed.empty() || precision.lower_than_asked)) {
      base_.executed = precision.executed;
    }
    if (precision.lower_than_asked) {
      const Gemm& gemm = std::get<Gemm>(op);
      doubt_ = fmt::format("asked for {} with sums in {}, got less: {}", text(gemm.a), text(gemm.accumulate),
                           precision.proof);
    }
  }

  // After timing: what was timed must still be right. A read_write operand has changed with every execution, so that it
  // takes a fresh fill and one run.
  void prove_again(Program& program) {
    const Op& op = item_.work.steps.front().op;
    if (!verifiable(op)) return;
    const std::vector<Operand> all = operands(op);
    const bool accumulates = std::any_of(all.begin(), all.end(),
                                         [](const Operand& operand) { return operand.access == Access::read_write; });
    if (accumulates) fill_and_run(program, item_.data);
    require(verify(item_.work, program, item_.data, measuring_seed, accumulates));
  }

  void look_at_load() {
    const double load = context_.other_load ? context_.other_load() : -1;
    if (load > tolerated_load) conditions_.push_back("other_load");
  }

  void write_rows(Program& program, const Sampled& sampled) {
    const Quantities amounts = quantities(item_, program.choice());
    measured_.samples = sampled.seconds;
    const std::string cannot_be = impossible(context_.device, sampled.seconds, amounts.flops.value_or(0),
                                             amounts.bytes.value_or(0), multiplied_element(item_.work));
    if (!cannot_be.empty()) doubt_ = cannot_be;
    measured_.rows = timed_rows(item_, base_, sampled, amounts);
    if (item_.whole_step) write_step_rows(program);
    if (doubt_.empty()) return;
    for (Row& row : measured_.rows) {
      row.status = Status::mistrusted;
      row.reason = doubt_;
    }
  }

  void write_step_rows(Program& program) {
    if (!proof_.empty()) {
      for (Row& row : measured_.rows) row.precision_proof = proof_;
    }
    Row base = base_;
    base.precision_proof = proof_.empty() ? base.precision_proof : proof_;
    for (const auto& [phase, seconds] : seconds_by_phase(item_.work, program, context_.limits.maximum_seconds)) {
      measured_.rows.push_back(plain_row(base, phase + "_seconds", seconds, "s", "lower"));
    }
    if (item_.tokens > 0) measured_.rows.push_back(plain_row(base, "model_flops", model_flops(item_.work), "flop", ""));
    const Footprint footprint = program.footprint();
    // Without padding: each back end has its own, and what is alive must not come out above what was planned.
    const Plan planned = plan(item_.work, 1);
    const auto add = [&](const std::string& metric, std::int64_t bytes) {
      measured_.rows.push_back(plain_row(base, metric, static_cast<double>(bytes), "B", "lower"));
    };
    add("planned_bytes", footprint.planned);
    add("allocated_bytes", footprint.allocated);
    add("allocated_beyond_planned_bytes", footprint.allocated - footprint.planned);
    add("live_peak_bytes", planned.live_peak);
    for (const Category category : {Category::weight, Category::gradient, Category::optimizer, Category::activation,
                                    Category::kv_cache, Category::workspace, Category::input}) {
      const auto at = static_cast<std::size_t>(category);
      if (at < planned.live_at_peak.size() && planned.live_at_peak[at] > 0) {
        add("live_peak_" + text(category) + "_bytes", planned.live_at_peak[at]);
      }
    }
    // The moment: how far into the steps most is alive, and in which phase.
    const auto moment = static_cast<std::size_t>(planned.peak_step);
    Row peak = plain_row(base, "live_peak_step", planned.peak_step + 1, "1", "");
    peak.method = item_.work.steps.at(moment).phase;
    measured_.rows.push_back(peak);
    add("workspace_bytes", footprint.workspace);
    if (footprint.reserved) add("reserved_bytes", *footprint.reserved);
    if (footprint.device) add("device_bytes", *footprint.device);
  }

  // One row that says why there is no number.
  void give_up(Status status, const std::string& reason) {
    Row row = base_;
    row.status = status;
    row.reason = reason;
    row.metric = item_.work.steps.empty() ? "" : "seconds";
    row.unit = item_.work.steps.empty() ? "" : "s";
    measured_.rows = {row};
    measured_.samples.clear();
  }

  void finish() {
    const double elapsed = context_.clock() - started_;
    for (Row& row : measured_.rows) {
      if (row.unit != "B") row.conditions = joined(conditions_);  // bytes do not depend on who else is at work
      row.elapsed_seconds = elapsed;
    }
  }

  const Case& item_;
  MeasureContext& context_;
  Row base_;
  double started_;
  std::vector<std::string> conditions_;
  std::string proof_;  // of a whole step
  std::optional<Pattern> filled_;
  std::string doubt_;  // why the numbers are not to be trusted
  Measured measured_;
};

}  // namespace

Measured measure(const Case& item, MeasureContext& context) { return Measurement(item, context).guarded(); }

}  // namespace assay
