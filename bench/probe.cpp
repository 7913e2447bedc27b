// The probe, from both sides.
// SPDX-License-Identifier: Apache-2.0
#include "bench/probe.h"

#include <fmt/format.h>

#include <memory>

#include "bench/children.h"
#include "bench/process.h"
#include "bench/protocol.h"
#include "core/loader.h"

namespace assay {
namespace {

// A probe that was started, or why it was not.
struct Asked {
  Probed answer;
  std::unique_ptr<Child> child;
};

Asked ask(const std::filesystem::path& folder, const std::string& plugin) {
  Asked asked;
  asked.answer.plugin = plugin;
  try {
    asked.child = std::make_unique<Child>("__probe");
    asked.child->send({{"folder", folder.string()}, {"plugin", plugin}});
  } catch (const std::exception& error) {
    asked.answer.reason = error.what();
  }
  return asked;
}

void understand(const nlohmann::json& said, Probed& answer) {
  for (const auto& device : said.at("devices")) answer.devices.push_back(device_from(device));
  for (const auto& fact : said.at("diagnosis")) answer.diagnosis.push_back(fact_from(fact));
  answer.reason = said.value("reason", "");
}

std::string without_answer(Child& child, bool late, double patience) {
  const Ended ended = child.end();
  const std::string words = child.last_words();
  std::string reason = late ? fmt::format(
                                  "the probe did not answer within {:.3g} s and was given up: its driver or a "
                                  "library hangs",
                                  patience)
                            : fmt::format("the probe {}", describe(ended));
  if (late && !ended.known) reason += fmt::format("; process {} {}", child.pid(), describe(ended));
  if (!words.empty()) reason += "; its last words: " + words;
  return reason;
}

void hear(Asked& asked, double deadline, const ProbeQuestion& question) {
  if (asked.child == nullptr) return;
  Child& child = *asked.child;
  bool interrupted = false;
  std::vector<int> also;
  if (question.file >= 0) also.push_back(question.file);
  try {
    const auto said = child.await(deadline, also, [&] { return interrupted = question.interrupted(); });
    if (said)
      understand(*said, asked.answer);
    else if (interrupted)
      asked.answer.reason = "interrupted";
    else
      asked.answer.reason = without_answer(child, !child.closed(), question.patience);
  } catch (const std::exception& error) {
    asked.answer.devices.clear();
    asked.answer.reason = fmt::format("the probe's answer makes no sense: {}", error.what());
  }
  child.leave(interrupted ? 0 : 0.2);
}

}  // namespace

std::vector<Probed> probe(const ProbeQuestion& question) {
  const auto names = question.plugins.empty() ? plugin_names(question.folder) : question.plugins;
  std::vector<Asked> all;
  for (const std::string& name : names) all.push_back(ask(question.folder, name));
  const double deadline = monotonic_seconds() + question.patience;
  std::vector<Probed> answers;
  for (Asked& asked : all) {
    hear(asked, deadline, question);
    answers.push_back(std::move(asked.answer));
  }
  return answers;
}

void probe_main(Channel& front) {
  const auto question = front.read();
  if (!question) return;
  nlohmann::json answer = {{"devices", nlohmann::json::array()}, {"diagnosis", nlohmann::json::array()}};
  const auto loaded = load_plugin(question->at("folder").get<std::string>(), question->at("plugin"));
  if (loaded.plugin == nullptr) {
    answer["reason"] = loaded.reason;
    front.write(answer);
    return;
  }
  std::unique_ptr<Backend> backend;
  try {
    backend = loaded.plugin->create_backend();
    for (const DeviceInfo& device : backend->devices()) answer["devices"].push_back(to_json(device));
    for (const Fact& fact : backend->diagnosis()) answer["diagnosis"].push_back(to_json(fact));
    if (answer["devices"].empty()) answer["reason"] = fmt::format("{} sees no usable device", loaded.name);
  } catch (const std::exception& error) {
    answer["reason"] = fmt::format("{} could not look for devices: {}", loaded.name, error.what());
  }
  front.write(answer);
}

}  // namespace assay
