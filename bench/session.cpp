// One case after the other, whatever the workers do.
// SPDX-License-Identifier: Apache-2.0
#include "bench/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "bench/rows.h"
#include "bench/run_info.h"
#include "core/error.h"

namespace assay {
namespace {

constexpr int faults_until_lost = 2;
constexpr double tick_seconds = 0.5;

std::vector<TelemetryProcesses::Watched> watched(const std::vector<Target>& targets) {
  std::vector<TelemetryProcesses::Watched> all;
  for (const Target& target : targets) all.push_back({target.plugin, target.device.id, target.index});
  return all;
}

}  // namespace

Status worst(const std::vector<Row>& rows) {
  Status status = Status::skipped;
  for (const Row& row : rows) {
    if (row.status == Status::failed) return Status::failed;
    if (row.status == Status::mistrusted) status = Status::mistrusted;
    if (row.status == Status::ok && status == Status::skipped) status = Status::ok;
  }
  return status;
}

Session::Session(Order order, std::vector<Target> targets, Budget budget, RunWriter& writer, Signals& signals,
                 std::function<void()> tick)
    : order_(std::move(order)),
      targets_(std::move(targets)),
      budget_(budget),
      writer_(writer),
      signals_(signals),
      tick_(std::move(tick)),
      telemetry_(order_.plugin_folder, watched(targets_), 0.1, order_.patience.telemetry) {}

std::vector<Row> Session::take(const Planned& planned, int repetition) {
  try {
    if (!signal_) signal_ = signals_.taken();
    if (over()) return {};
    const std::string started = utc_now();
    const double start = monotonic_seconds();
    Outcome outcome = attempt(planned, repetition);
    for (Row& row : outcome.rows) {
      if (row.started_utc.empty()) row.started_utc = started;
      if (!row.elapsed_seconds) row.elapsed_seconds = monotonic_seconds() - start;
    }
    write(planned, repetition, outcome);
    return std::move(outcome.rows);
  } catch (...) {
    failure_ = std::current_exception();
    worker_ = nullptr;
    return {};
  }
}

void Session::write(const Planned& planned, int repetition, Outcome& outcome) {
  const DeviceInfo& device = targets_[planned.target].device;
  for (Row& row : outcome.rows) {
    row.repetition = repetition;
    if (row.case_name.empty()) row.case_name = planned.item.name;
    if (row.family.empty()) row.family = planned.item.family;
    if (row.backend.empty()) row.backend = device.backend;
    if (row.device.empty()) row.device = device.id;
    if (row.device_name.empty()) row.device_name = device.name;
    if (row.device_id.empty()) row.device_id = device.unique_id;
    if (row.scope.empty()) row.scope = "alone";
  }
  writer_.append(outcome.rows);
  if (!outcome.samples.empty()) writer_.append_samples(planned.item.name, device.id, repetition, outcome.samples);
}

Session::Outcome Session::attempt(const Planned& planned, int repetition) {
  if (const auto lost = lost_.find(planned.target); lost != lost_.end()) return skipped(planned, lost->second);
  const double now = monotonic_seconds();
  if (!budget_.fits(planned.item.seconds_expected, now)) {
    budget_used_up_ = true;
    const double left = budget_.cut_off() - now;
    return skipped(planned, left <= 0 ? budget_.used_up()
                                      : fmt::format("{}: {:.1f} s were left, and this takes about {:.1f} s",
                                                    budget_.used_up(), left, planned.item.seconds_expected));
  }
  try {
    return measure(planned, repetition);
  } catch (const std::exception& error) {
    return faulted(planned, error.what(), now);
  }
}

Session::Outcome Session::measure(const Planned& planned, int repetition) {
  Worker& worker = worker_for(planned, repetition);
  const double start = monotonic_seconds();
  const double patience = patience_for(planned, worker_is_fresh_);
  worker.ask(planned.item.name);
  std::optional<nlohmann::json> said;
  const Why why = await(start + patience, said);
  worker_is_fresh_ = false;
  switch (why) {
    case Why::answered:
      return answered(planned, *said, start);
    case Why::signalled:
      worker_->child().end(2);
      worker_ = nullptr;
      return {};
    case Why::out_of_budget:
      worker_->child().end(0.1);  // one that cannot be ended must not cost what is left for cleaning up
      worker_ = nullptr;
      budget_used_up_ = true;
      return skipped(planned, budget_.used_up() + " while it was being measured");
    case Why::closed:
    case Why::late:
      break;
  }
  return faulted(planned, what_went_wrong(why, patience), start);
}

Session::Outcome Session::answered(const Planned& planned, const nlohmann::json& said, double start) {
  WorkerAnswer answer = Worker::understand(said);
  if (answer.device_lost) {
    count_fault(planned, answer.rows.front().reason);
  } else {
    faults_[planned.target] = 0;
  }
  telemetry_.receive();
  const Weather weather = telemetry_.between(targets_[planned.target].device.id, start, monotonic_seconds());
  for (Row& row : answer.rows) {
    row.process = std::to_string(worker_->number());
    apply(weather, row);
  }
  // After an error the driver's state in that process may be broken for good.
  if (worst(answer.rows) == Status::failed) worker_ = nullptr;
  return {std::move(answer.rows), std::move(answer.samples)};
}

Session::Outcome Session::faulted(const Planned& planned, const std::string& reason, double start) {
  Row row = identity(planned.item, targets_[planned.target].device);
  if (worker_ != nullptr) row.process = std::to_string(worker_->number());
  row.status = Status::failed;
  row.reason = reason;
  telemetry_.receive();  // what the device itself said of the fault
  apply(telemetry_.between(targets_[planned.target].device.id, start, monotonic_seconds()), row);
  worker_ = nullptr;
  count_fault(planned, reason);
  return {{row}, {}};
}

void Session::count_fault(const Planned& planned, const std::string& reason) {
  if (++faults_[planned.target] < faults_until_lost) return;
  lost_[planned.target] = fmt::format("device lost: {} cases in a row ended their worker, the last one ({}) because {}",
                                      faults_until_lost, planned.item.name, reason);
}

Session::Outcome Session::skipped(const Planned& planned, const std::string& reason) const {
  Row row = identity(planned.item, targets_[planned.target].device);
  row.status = Status::skipped;
  row.reason = reason;
  return {{row}, {}};
}

Worker& Session::worker_for(const Planned& planned, int repetition) {
  const Target& target = targets_[planned.target];
  const std::string serves = target.device.id + " " + planned.item.family;
  if (worker_ != nullptr) {
    worker_->child().receive();
    const bool alive = !worker_->child().closed();  // one that died idle cost no case
    if (alive && worker_serves_ == serves && repetition == 0) return *worker_;
    worker_->child().leave();
  }
  worker_ = nullptr;
  worker_ = std::make_unique<Worker>(WorkerOrder{order_.plugin_folder, target.plugin, target.index, target.device,
                                                 order_.profile, order_.storage_folder, order_.asked},
                                     ++workers_);
  worker_serves_ = serves;
  worker_is_fresh_ = true;
  return *worker_;
}

double Session::patience_for(const Planned& planned, bool fresh) const {
  const Patience& patience = order_.patience;
  return patience.at_least + patience.per_second * planned.item.seconds_expected + (fresh ? patience.worker : 0);
}

Session::Why Session::await(double deadline, std::optional<nlohmann::json>& said) {
  while (true) {
    // Files of telemetry may close meanwhile, so they are asked for anew each time.
    std::vector<int> also = telemetry_.files();
    also.push_back(signals_.file());
    const double cut_off = budget_.cut_off();
    const double slice = std::min({deadline, cut_off, monotonic_seconds() + tick_seconds});
    bool changed = false;
    said = worker_->child().await(slice, also, [&] { return changed = true; });
    if (said) return Why::answered;
    if (worker_->child().closed()) return Why::closed;
    telemetry_.receive();
    signal_ = signals_.taken();
    if (signal_) return Why::signalled;
    const double now = monotonic_seconds();
    if (now >= deadline) return Why::late;
    if (now >= cut_off) return Why::out_of_budget;
    if (!changed) tick_();
  }
}

std::string Session::what_went_wrong(Why why, double waited) {
  Child& child = worker_->child();
  const Ended ended = child.end();
  const std::string words = child.last_words();
  std::string reason = why == Why::late
                           ? fmt::format("it did not end within {:.3g} s and was given up as hanging", waited)
                           : fmt::format("the worker that measured it {}", describe(ended));
  if (why == Why::late && !ended.known) reason += fmt::format("; its process {} {}", child.pid(), describe(ended));
  if (!words.empty()) reason += "; its last words: " + words;
  return reason;
}

}  // namespace assay
