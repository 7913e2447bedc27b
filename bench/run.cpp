// The front: finds devices, plans, has everything measured, and says how it ended.
// SPDX-License-Identifier: Apache-2.0
#include "bench/run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iostream>

#include "bench/derived.h"
#include "bench/filter.h"
#include "bench/plan_run.h"
#include "bench/probe.h"
#include "bench/progress.h"
#include "bench/run_info.h"
#include "bench/session.h"
#include "bench/signals.h"
#include "bench/summary.h"
#include "core/error.h"
#include "core/loader.h"

namespace assay {
namespace {

std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  return name == nullptr ? fmt::format("signal {}", signal) : fmt::format("SIG{}", name);
}

// A fact that is nothing but words.
Fact remark(const std::string& name, const std::string& reason) {
  Fact fact;
  fact.name = name;
  fact.reason = reason;
  return fact;
}

// A run from beginning to end. What it holds lives as long as the run.
class Front {
 public:
  Front(const RunOptions& options, const Suite& suite)
      : options_(options), suite_(suite), started_(monotonic_seconds()) {
    plugins_ = options_.plugins.empty() ? plugin_folder() : options_.plugins;
  }

  int run() {
    if (!options_.resume.empty()) read_before();
    const Filter checked(filter());  // a bad one is told before a slow probe
    ask_plugins();
    if (signals_.taken()) return 128 + *signals_.taken();
    if (targets_.empty()) return no_device();
    plan_ = plan_cases(targets_, suite_, profile(), filter(), asked());
    if (options_.google.list) return list();
    check_google_output(google_options());
    RunWriter writer = open_writer();
    const auto failure = measure(writer);
    return finish(writer, failure);
  }

 private:
  std::string filter() const { return before_ ? before_->info.filter : options_.filter; }
  std::optional<Asked> asked() const {
    if (!before_) return options_.asked;
    if (before_->info.asked.empty()) return std::nullopt;
    const auto text = nlohmann::json::parse(before_->info.asked, nullptr, false);
    if (text.is_discarded()) throw BadInput(options_.resume.string() + ": what was asked of the run cannot be read");
    return asked_from(text);
  }
  int repeat() const { return before_ ? before_->info.repeat : options_.repeat.value_or(1); }
  ProfileKind profile() const {
    if (!before_) return options_.profile.value_or(ProfileKind::quick);
    const auto kind = parse_profile(before_->info.profile);
    if (!kind) throw BadInput(fmt::format("{} names no profile of this version", options_.resume.string()));
    return *kind;
  }

  void read_before() {
    before_ = read_run(options_.resume);
    const bool other_profile = options_.profile && text(*options_.profile) != before_->info.profile;
    const bool other_filter = !options_.filter.empty() && options_.filter != before_->info.filter;
    const bool other_asked = options_.asked.has_value();
    const bool other_repeat = options_.repeat && *options_.repeat != before_->info.repeat;
    if (other_profile || other_filter || other_repeat || other_asked || !options_.out.empty() ||
        !options_.devices.empty())
      throw BadInput(
          "--resume goes on with the devices, profile, filter, repetitions and folder of its run; leave those options "
          "away, or start a new run");
  }

  void ask_plugins() {
    ProbeQuestion question{.folder = plugins_,
                           .plugins = plugins_for(options_.devices),
                           .patience = options_.patience.probe,
                           .file = signals_.file(),
                           .interrupted = [this] { return signals_.taken().has_value(); }};
    if (before_) {
      std::vector<std::string> backends;
      for (const DeviceInfo& device : before_->info.devices) backends.push_back(device.backend);
      question.plugins = plugins_for(backends);
    }
    answers_ = probe(question);
    if (signals_.taken()) return;
    const auto all = targets_of(answers_);
    targets_ = before_ ? same_targets(before_->info, all) : choose(all, options_.devices, answers_);
  }

  int no_device() const {
    std::cerr << "assay: no device here can be measured\n";
    for (const Probed& answer : answers_) std::cerr << "  " << answer.plugin << ": " << answer.reason << "\n";
    if (answers_.empty()) std::cerr << "  there is no plug-in in " << plugins_.string() << "\n";
    return 2;
  }

  int list() const {
    for (const Planned& planned : plan_) std::cout << planned.label << "\n";
    return 0;
  }

  RunWriter open_writer() {
    if (before_) return RunWriter::resume(options_.resume);
    RunInfo info = describe_run(options_, environ);
    info.filter = filter();
    info.repeat = repeat();
    if (options_.asked) info.asked = to_json(*options_.asked).dump();
    for (const Target& target : targets_) info.devices.push_back(target.device);
    for (const Planned& planned : plan_) info.planned.push_back(planned_name(planned, targets_));
    for (const Probed& answer : answers_)
      if (!answer.reason.empty()) info.facts.push_back(remark("plugin_" + answer.plugin, answer.reason));
    return RunWriter::create(options_.out.empty() ? new_run_folder("runs") : options_.out, info, options_.force);
  }

  // Takes every measurement that is not there yet. Returns what ended it early, if anything of ours did.
  std::exception_ptr measure(RunWriter& writer) {
    if (before_) rows_ = before_->rows;
    const Done done = done_in(rows_);
    double expected = 0;
    std::size_t left = 0;
    for (const Planned& planned : plan_) {
      for (int repetition = 0; repetition < repeat(); ++repetition) {
        if (is_done(done, planned, repetition)) continue;
        expected += planned.item.seconds_expected;
        ++left;
      }
    }
    const bool silent = options_.quiet || !options_.google.format.empty();
    Progress progress(screen_of(STDERR_FILENO, options_.colour), silent, left, expected, monotonic_seconds);
    Session session({plugins_, profile(), writer.folder(), options_.patience, asked()}, targets_,
                    Budget(options_.budget_seconds, started_), writer, signals_, [&] { progress.tick(); });
    std::vector<GoogleCase> cases;
    for (const Planned& planned : plan_) {
      const auto take = [this, &planned, &done, &session, &progress](int repetition) {
        return take_one(planned, repetition, done, session, progress);
      };
      if (!all_done(done, planned)) cases.push_back({planned.label, take});
    }
    std::exception_ptr failure;
    try {
      run_google(cases, repeat(), google_options());
    } catch (const std::exception&) {
      failure = std::current_exception();  // its own file could not be written; the run is whole
    }
    signal_ = session.signal();
    out_of_budget_ = session.budget_used_up();
    remarks_ = session.remarks();
    if (session.failure() != nullptr) return session.failure();
    try {
      derive(writer);
    } catch (const std::exception&) {
      failure = std::current_exception();  // they are made again when the run is gone on with
    }
    return failure;
  }

  // What follows from the rows, however far the run came. One that is gone on with may know better now.
  void derive(RunWriter& writer) {
    const std::vector<Row> derived = derived_rows(rows_, devices());
    std::vector<Row> fresh = not_yet_written(derived, rows_);
    for (Row& row : fresh) row.started_utc = utc_now();
    if (!fresh.empty()) writer.append(fresh);
    rows_.erase(std::remove_if(rows_.begin(), rows_.end(), [](const Row& row) { return row.family == "derived"; }),
                rows_.end());
    rows_.insert(rows_.end(), derived.begin(), derived.end());
  }

  bool is_done(const Done& done, const Planned& planned, int repetition) const {
    return done.count({targets_[planned.target].device.id, planned.item.name, repetition}) > 0;
  }

  bool all_done(const Done& done, const Planned& planned) const {
    for (int repetition = 0; repetition < repeat(); ++repetition)
      if (!is_done(done, planned, repetition)) return false;
    return true;
  }

  GoogleResult take_one(const Planned& planned, int repetition, const Done& done, Session& session,
                        Progress& progress) {
    if (is_done(done, planned, repetition)) return google_result(rows_before(planned, repetition));
    if (session.over()) return google_result({});
    progress.starting(planned.label, planned.item.seconds_expected);
    const auto rows = session.take(planned, repetition);
    if (!rows.empty()) progress.finished(planned.label, rows);
    rows_.insert(rows_.end(), rows.begin(), rows.end());
    return google_result(rows);
  }

  std::vector<Row> rows_before(const Planned& planned, int repetition) const {
    std::vector<Row> rows;
    for (const Row& row : before_->rows)
      if (row.device == targets_[planned.target].device.id && row.case_name == planned.item.name &&
          row.repetition == repetition)
        rows.push_back(row);
    return rows;
  }

  GoogleOptions google_options() const {
    GoogleOptions google = options_.google;
    google.overwrite = options_.force;
    for (const auto& [name, value] : options_.labels) google.context.emplace(name, value);
    return google;
  }

  int finish(RunWriter& writer, const std::exception_ptr& failure) {
    RunInfo info = writer.info();
    info.ended_utc = utc_now();
    info.ending = Ending::complete;
    if (out_of_budget_) {
      info.ending = Ending::budget;
      info.ending_reason = Budget(options_.budget_seconds, started_).used_up();
    }
    if (signal_) {
      info.ending = Ending::interrupted;
      info.ending_reason = signal_name(*signal_);
    }
    for (const std::string& said : remarks_) info.facts.push_back(remark("telemetry", said));
    if (failure != nullptr) give_up(writer, std::move(info), failure);
    writer.update(info);
    say_end(writer.folder());
    return signal_ ? 128 + *signal_ : exit_code(tally(rows_));
  }

  // The run cannot be written any more. Says so in run.json, should there be room for that, and throws.
  [[noreturn]] void give_up(RunWriter& writer, RunInfo info, const std::exception_ptr& failure) const {
    std::string reason;
    try {
      std::rethrow_exception(failure);
    } catch (const std::exception& error) {
      reason = error.what();
    }
    info.ending = Ending::failed;
    info.ending_reason = reason;
    try {
      writer.update(info);
    } catch (const std::exception&) {
      // The disk that is full for rows is full for this as well.
    }
    throw Error(fmt::format("{}; what was measured until then is in {}, and `assay run --resume {}` goes on", reason,
                            writer.folder().string(), writer.folder().string()));
  }

  void say_end(const std::filesystem::path& folder) const {
    if (options_.quiet) return;
    std::string said = summary(rows_, devices()) + fmt::format("\nThe run is in {}\n", folder.string());
    for (const std::string& one : remarks_) said += one + "\n";
    if (signal_)
      said +=
          fmt::format("It was ended by {}; `assay run --resume {}` goes on\n", signal_name(*signal_), folder.string());
    // Where Google Benchmark has standard output, that must stay what its tools can read.
    (options_.google.format.empty() ? std::cout : std::cerr) << said << std::flush;
  }

  std::vector<DeviceInfo> devices() const {
    std::vector<DeviceInfo> devices;
    for (const Target& target : targets_) devices.push_back(target.device);
    return devices;
  }

  RunOptions options_;
  Suite suite_;
  double started_;
  Signals signals_;
  std::filesystem::path plugins_;
  std::optional<Run> before_;
  std::vector<Probed> answers_;
  std::vector<Target> targets_;
  std::vector<Planned> plan_;
  std::vector<Row> rows_;
  std::vector<std::string> remarks_;
  std::optional<int> signal_;
  bool out_of_budget_ = false;
};

}  // namespace

int run(const RunOptions& options, const Suite& suite) { return Front(options, suite).run(); }

}  // namespace assay
