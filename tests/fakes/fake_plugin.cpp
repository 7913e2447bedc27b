// A device made of a script: right results by the interpreter, made-up times, and every kind of trouble on demand.
// Compiled several times under other names: FAKE_NAME, and FAKE_STAMP for one from another build.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <ctime>

#include "core/backend.h"
#include "core/interpreter.h"
#include "core/loader.h"
#include "core/number.h"
#include "tests/fakes/actor.h"

namespace assay::fake {
namespace {

using Shared = std::shared_ptr<Actor>;

DeviceInfo device_of(const nlohmann::json& from, const std::string& plugin) {
  DeviceInfo device;
  device.id = from.value("id", plugin + ":0");
  device.backend = plugin;
  device.name = from.value("name", "Fake device");
  device.vendor = "Nobody";
  device.architecture = "fake-1";
  device.memory_total = from.value("memory_total", std::int64_t{8} << 30);
  device.memory_available = from.value("memory_available", std::int64_t{6} << 30);
  device.compute_units = from.value("compute_units", 4);
  device.caches = {{1, 32 << 10, 4}, {2, 1 << 20, 1}};
  device.driver = from.value("driver", "1.0");
  device.unique_id = from.value("unique_id", "FAKE-0001");
  return device;
}

std::string text_of(const Work& work) {
  return work.steps.size() == 1 ? text(work.steps.front().op) : "work " + work.name;
}

class FakeProgram : public Program {
 public:
  FakeProgram(Shared actor, const Work& work) : actor_(std::move(actor)), work_(work) {}

  void fill(Pattern pattern, std::uint64_t seed) override {
    actor_->call("fill", text_of(work_));
    pattern_ = pattern;
    seed_ = seed;
    ran_ = false;
    written_.clear();
    results_.clear();
  }

  void write(int tensor, const std::vector<std::byte>& stored) override {
    actor_->call("write", text_of(work_));
    const Tensor& into = work_.tensors.at(static_cast<std::size_t>(tensor));
    if (static_cast<std::int64_t>(stored.size()) != bytes(into)) throw Error("wrong size for tensor " + into.name);
    written_[tensor] = decoded(into, stored);
  }

  std::vector<double> read(int tensor, std::int64_t first, std::int64_t count) override {
    const auto rule = actor_->call("read", text_of(work_));
    std::vector<double> values;
    for (std::int64_t i = first; i < first + count; ++i) values.push_back(value(tensor, i));
    if (wrong_ || rule.is_object())
      for (double& value : values) value += 1;
    return values;
  }

  std::vector<double> run(int executions) override {
    const auto rule = actor_->call("run", text_of(work_));
    ran_ = true;
    results_.clear();
    double seconds = executions * seconds_of_work();
    if (rule.is_object() && rule.at("do") == "wrong") wrong_ = true;
    if (rule.is_object() && rule.at("do") == "seconds") seconds = executions * rule.at("seconds").get<double>();
    if (actor_->script().value("sleep", false)) {
      timespec length{static_cast<time_t>(seconds),
                      static_cast<long>((seconds - static_cast<double>(static_cast<time_t>(seconds))) * 1e9)};
      nanosleep(&length, nullptr);
    }
    return {seconds};
  }

  std::vector<double> run_by_step() override {
    std::vector<double> seconds;
    for (const Step& step : work_.steps) seconds.push_back(seconds_of(step.op));
    return seconds;
  }

  Footprint footprint() const override {
    Footprint footprint;
    footprint.planned = footprint.allocated = plan(work_, 256).peak;
    return footprint;
  }

  Choice choice() const override {
    Choice choice;
    choice.method = "fake 1.0";
    choice.planted = actor_->script().contains("planted");
    if (work_.steps.size() == 1)
      if (const auto* issue = std::get_if<Issue>(&work_.steps.front().op))
        choice.flops = 2.0 * static_cast<double>(issue->count) * 64;
    return choice;
  }

 private:
  static std::vector<double> decoded(const Tensor& tensor, const std::vector<std::byte>& stored) {
    const auto width = static_cast<std::size_t>(std::max(1, bits(tensor.format.element) / 8));
    std::vector<double> values;
    for (std::size_t at = 0; at + width <= stored.size(); at += width) {
      std::uint64_t word = 0;
      for (std::size_t i = 0; i < width; ++i) word |= static_cast<std::uint64_t>(stored[at + i]) << (8 * i);
      values.push_back(decode(tensor.format.element, word));
    }
    return values;
  }

  double seconds_of(const Op& op) const {
    const auto& script = actor_->script();
    const double planted = script.value("planted", 1.0);
    if (script.contains("seconds")) return planted * script.at("seconds").get<double>();
    const Cost what = cost(op);
    return planted * (1e-6 + std::max(what.flops / script.value("flops_per_second", 1e12),
                                      (what.bytes_read + what.bytes_written) / script.value("bytes_per_second", 1e11)));
  }

  double seconds_of_work() const {
    double sum = 0;
    for (const Step& step : work_.steps) sum += seconds_of(step.op);
    return sum;
  }

  double before(int tensor, std::int64_t index) const {
    if (const auto found = written_.find(tensor); found != written_.end())
      return found->second.at(static_cast<std::size_t>(index));
    return initial_value(work_, tensor, index, pattern_, seed_);
  }

  // One op has a result for each element, however large it is; many steps are interpreted as a whole.
  double value(int tensor, std::int64_t index) {
    if (!ran_) return before(tensor, index);
    if (work_.steps.size() == 1) return value_of_one_op(tensor, index);
    if (results_.empty()) {
      results_ = initial_values(work_, pattern_, seed_);
      interpret(work_, results_, true);
    }
    return results_.at(static_cast<std::size_t>(tensor)).at(static_cast<std::size_t>(index));
  }

  double value_of_one_op(int tensor, std::int64_t index) const {
    const Step& step = work_.steps.front();
    const auto all = operands(step.op);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (step.operands[i] != tensor || all[i].access == Access::read) continue;
      const auto reader = [&](int operand, std::int64_t at) {
        return before(step.operands[static_cast<std::size_t>(operand)], at);
      };
      const double exact = expected(step.op, static_cast<int>(i), index, reader);
      return decode(all[i].format.element, encode(all[i].format.element, exact));
    }
    return before(tensor, index);
  }

  Shared actor_;
  Work work_;
  Pattern pattern_ = Pattern::zero;
  std::uint64_t seed_ = 0;
  bool ran_ = false;
  bool wrong_ = false;
  std::map<int, std::vector<double>> written_;
  Values results_;
};

class FakeBackend : public Backend {
 public:
  explicit FakeBackend(Shared actor) : actor_(std::move(actor)) { actor_->call("create", ""); }

  std::vector<DeviceInfo> devices() override {
    actor_->call("devices", "");
    const std::string& plugin = actor_->plugin();
    const auto listed = actor_->script().value("devices", nlohmann::json::object());
    if (!listed.contains(plugin)) return {device_of(nlohmann::json::object(), plugin)};
    std::vector<DeviceInfo> devices;
    for (const auto& device : listed.at(plugin)) devices.push_back(device_of(device, plugin));
    return devices;
  }

  std::vector<Fact> diagnosis() override {
    Fact fact;
    fact.name = "script";
    fact.text = "a fake";
    return {fact};
  }

  Support supports(const Op& op, int) override {
    try {
      actor_->call("supports", text(op));
      return {true, ""};
    } catch (const Error& error) {
      return {false, error.what()};
    }
  }

  std::unique_ptr<Program> prepare(const Work& work, int, const Preparation&) override {
    actor_->call("prepare", text_of(work));
    std::int64_t all = 0;
    for (const Tensor& tensor : work.tensors) all += elements(tensor);
    // One op is computed where it is looked at; many steps are interpreted as a whole.
    if (work.steps.size() > 1 && all > 1'000'000) throw Unsupported("too much work for a fake");
    return std::make_unique<FakeProgram>(actor_, work);
  }

  std::vector<Fact> survey(Question, int) override {
    actor_->call("survey", "");
    Fact fact;
    fact.name = "allocatable_bytes";
    fact.value = 6442450944.0;  // 6 GiB
    fact.unit = "bytes";
    return {fact};
  }

 private:
  Shared actor_;
};

class FakeTelemetry : public Telemetry {
 public:
  explicit FakeTelemetry(Shared actor) : actor_(std::move(actor)) {}

  TelemetrySample sample(int) override {
    actor_->call("telemetry", "");
    TelemetrySample sample;
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    sample.time = static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
    sample.clock_hertz = 1.5e9;
    sample.power_watts = 250;
    sample.temperature_celsius = 61;
    sample.throttle = "none";
    sample.other_load = actor_->script().value("other_load", 0.0);
    sample.conditions = actor_->script().value("conditions", std::vector<std::string>());
    return sample;
  }

 private:
  Shared actor_;
};

Shared new_actor() { return std::make_shared<Actor>(FAKE_NAME); }
std::unique_ptr<Backend> create_backend() { return std::make_unique<FakeBackend>(new_actor()); }
std::unique_ptr<Telemetry> create_telemetry() { return std::make_unique<FakeTelemetry>(new_actor()); }

}  // namespace
}  // namespace assay::fake

const assay::Plugin* assay_plugin() {
#ifdef FAKE_STAMP
  static const char* stamp = FAKE_STAMP;
#else
  static const char* stamp = assay::contract_stamp();
#endif
  static const assay::Plugin plugin = {stamp, FAKE_NAME, assay::fake::create_backend, assay::fake::create_telemetry};
  return &plugin;
}
