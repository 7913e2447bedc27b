// The worker, from both sides.
// SPDX-License-Identifier: Apache-2.0
#include "bench/worker.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "bench/children.h"
#include "bench/profile.h"
#include "bench/protocol.h"
#include "core/error.h"
#include "core/host.h"
#include "core/loader.h"

namespace assay {
namespace {

// Where memory runs out, the kernel shall end the worker and not the front, which has the results, nor a neighbour.
void offer_as_victim() {
  const int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  [[maybe_unused]] const auto written = ::write(file, "1000", 4);
  close(file);
}

const Case& find(const std::vector<Case>& cases, const std::string& name) {
  const auto found = std::find_if(cases.begin(), cases.end(), [&](const Case& item) { return item.name == name; });
  if (found == cases.end()) throw Error(fmt::format("the worker does not know the case {}", name));
  return *found;
}

nlohmann::json answer(const Measured& measured) {
  nlohmann::json said = {
      {"rows", nlohmann::json::array()}, {"samples", measured.samples}, {"lost", measured.device_lost}};
  for (const Row& row : measured.rows) said["rows"].push_back(to_json(row));
  return said;
}

}  // namespace

Worker::Worker(const WorkerOrder& order, int number) : child_("__worker"), number_(number) {
  nlohmann::json said = {{"folder", order.plugin_folder.string()},
                         {"plugin", order.plugin},
                         {"index", order.device_index},
                         {"device", to_json(order.device)},
                         {"profile", text(order.profile)},
                         {"storage", order.storage_folder.string()}};
  if (order.asked) said["asked"] = to_json(*order.asked);
  child_.send(said);
}

void Worker::ask(const std::string& case_name) { child_.send({{"case", case_name}}); }

WorkerAnswer Worker::understand(const nlohmann::json& said) {
  WorkerAnswer answer;
  if (const auto reason = said.find("fault"); reason != said.end()) throw Error(reason->get<std::string>());
  for (const auto& row : said.at("rows")) answer.rows.push_back(row_from(row));
  for (const auto& sample : said.at("samples")) answer.samples.push_back(sample.get<double>());
  answer.device_lost = said.value("lost", false);
  if (answer.rows.empty()) throw Error("the worker sent no row");
  return answer;
}

void worker_main(Channel& front, const Suite& suite) {
  offer_as_victim();
  const auto order = front.read();
  if (!order) return;
  const auto loaded = load_plugin(order->at("folder").get<std::string>(), order->at("plugin"));
  if (loaded.plugin == nullptr) throw Error(loaded.reason);
  const auto backend = loaded.plugin->create_backend();
  const DeviceInfo device = device_from(order->at("device"));
  const auto kind = parse_profile(order->at("profile").get<std::string>());
  if (!kind) throw Error("the worker does not know the profile it was sent");
  auto cases = suite.cases(device, *kind);
  if (order->contains("asked"))
    for (Case& item : asked_cases(device, *kind, asked_from(order->at("asked")))) cases.push_back(std::move(item));
  LoadMeter load;
  MeasureContext context{.backend = *backend,
                         .device_index = order->at("index"),
                         .device = device,
                         .limits = profile(*kind).limits,
                         .clock = monotonic_seconds,
                         .other_load = [&load] { return load.other_load().value_or(-1); },
                         .storage_folder = order->at("storage")};
  while (const auto wanted = front.read()) {
    nlohmann::json said;
    try {
      said = answer(suite.measure(find(cases, wanted->at("case")), context));
    } catch (const DeviceLost& error) {
      said = {{"fault", std::string("device lost: ") + error.what()}, {"lost", true}};
    } catch (const std::exception& error) {
      said = {{"fault", error.what()}};
    }
    front.write(said);
    if (said.value("lost", false)) return;  // only another process can do anything on the device
  }
}

}  // namespace assay
