// Fills a certificate, writes it as JSON, and checks one.
// SPDX-License-Identifier: Apache-2.0
#include "reports/accept/certificate.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "core/error.h"
#include "reports/accept/machine.h"
#include "reports/accept/sha256.h"
#include "reports/phrase.h"
#include "reports/text.h"
#include "results/text_file.h"

namespace assay {
namespace {

using Json = nlohmann::ordered_json;

constexpr int certificate_schema = 1;

// What must not leave the house when `--redact` is given, longest first where one holds another.
class Redaction {
 public:
  Redaction(const Run& run, bool wanted) {
    if (!wanted) return;
    hide(run.info.id);
    hide(std::filesystem::path(run.path).lexically_normal().string());
    hide(run.info.host);
    for (const DeviceInfo& device : run.info.devices) {
      hide(device.unique_id);
      for (const char* fact : {"board_serial", "pci_address", "board_part_number"}) hide(Machine::word(device, fact));
    }
  }

  std::string operator()(std::string text) const {
    for (const std::string& secret : secrets_)
      for (std::size_t at = text.find(secret); at != std::string::npos; at = text.find(secret, at))
        text.replace(at, secret.size(), "redacted");
    return clean(text);
  }

 private:
  void hide(const std::string& secret) {
    // Shorter ones would hide parts of words.
    if (secret.size() >= 4 && secret != "redacted") secrets_.push_back(secret);
  }
  std::vector<std::string> secrets_;
};

std::vector<std::pair<std::string, std::string>> checksums(const std::filesystem::path& run) {
  std::vector<std::pair<std::string, std::string>> sums;
  std::error_code ignored;
  if (std::filesystem::is_regular_file(run, ignored)) {
    sums.emplace_back(run.filename().string(), sha256(read_text_file(run, most_csv_bytes)));
    return sums;
  }
  for (const char* name : {"run.json", "results.csv", "samples.csv"}) {
    if (std::filesystem::is_regular_file(run / name, ignored))
      sums.emplace_back(name, sha256(read_text_file(run / name, most_csv_bytes)));
  }
  return sums;
}

CertifiedDevice certified(const Machine& machine, const DeviceInfo& device, const Redaction& safe) {
  const auto rate = [](const std::optional<Reached>& reached, ReportUnit unit) {
    return reached ? shown(reached->rate, unit) : std::string();
  };
  CertifiedDevice one;
  one.id = safe(device.id);
  one.name = safe(device.name);
  one.architecture = safe(device.architecture);
  if (device.compute_units) one.units = std::to_string(*device.compute_units);
  if (device.memory_total) one.memory = shown_bytes(static_cast<double>(*device.memory_total));
  one.driver = safe(device.driver);
  one.unique_id = safe(device.unique_id);
  one.products = rate(machine.products(device, Element::bf16), ReportUnit::flops_per_second);
  one.bandwidth = rate(machine.memory(device), ReportUnit::bytes_per_second);
  one.host_copy = rate(machine.copy(device.id, "transfer/host_to_device/pinned"), ReportUnit::bytes_per_second);
  return one;
}

Json body(const Certificate& certificate) {
  Json json;
  json["certificate"] = certificate_schema;
  for (const auto& [name, value] : certificate.facts) json[name] = value;
  json["devices"] = Json::array();
  for (const CertifiedDevice& device : certificate.devices) {
    json["devices"].push_back({{"id", device.id},
                               {"name", device.name},
                               {"architecture", device.architecture},
                               {"units", device.units},
                               {"memory", device.memory},
                               {"driver", device.driver},
                               {"unique_id", device.unique_id},
                               {"products_bf16", device.products},
                               {"memory_bandwidth", device.bandwidth},
                               {"copy_from_host", device.host_copy}});
  }
  json["rules"] = Json::array();
  for (const Certificate::Line& line : certificate.lines) {
    json["rules"].push_back({{"rule", line.rule},
                             {"subject", line.subject},
                             {"outcome", line.outcome},
                             {"title", line.title},
                             {"value", line.value},
                             {"evidence", line.evidence},
                             {"threshold", line.threshold},
                             {"source", line.source},
                             {"repeat", line.repeat}});
  }
  json["files"] = Json::object();
  for (const auto& [name, sum] : certificate.files) json["files"][name] = sum;
  return json;
}

}  // namespace

std::string Certificate::fact(const std::string& name) const {
  for (const auto& [key, value] : facts)
    if (key == name) return value;
  return "";
}

Certificate certificate(const Acceptance& acceptance, const Run& run, bool redact) {
  const Redaction safe(run, redact);
  const Machine machine(run);
  Certificate made;
  const RunInfo& info = run.info;
  made.facts = {{"verdict", text(acceptance.verdict)},
                {"sentence", safe(acceptance.sentence)},
                {"grade", text(acceptance.grade)},
                {"grade_reason", acceptance.grade_reason},
                {"claim", safe(acceptance.claim)},
                {"run", safe(info.id)},
                {"host", safe(info.host)},
                {"kernel", safe(info.kernel)},
                {"distribution", safe(info.distribution)},
                {"started_utc", info.started_utc},
                {"ended_utc", info.ended_utc},
                {"program", safe("assay " + info.program_version + (info.commit.empty() ? "" : " " + info.commit))}};
  for (const Outcome outcome : {Outcome::pass, Outcome::warn, Outcome::fail, Outcome::unknown, Outcome::does_not_apply})
    made.facts.emplace_back("checks_" + std::string(outcome == Outcome::does_not_apply ? "not_applied" : text(outcome)),
                            std::to_string(acceptance.count(outcome)));
  for (const DeviceInfo* device : machine.cards()) made.devices.push_back(certified(machine, *device, safe));
  for (const Judged& one : acceptance.judged) {
    if (one.outcome == Outcome::does_not_apply) continue;
    made.lines.push_back({one.rule->id, safe(one.subject), text(one.outcome), one.rule->title, safe(one.shown),
                          safe(one.evidence), thresholds(*one.rule), one.rule->source, one.rule->advice,
                          safe(one.repeat)});
  }
  if (!run.path.empty()) made.files = checksums(run.path);
  if (redact)
    for (auto& [name, sum] : made.files) name = safe(name);
  return made;
}

std::string certificate_json(const Certificate& certificate) {
  Json json = body(certificate);
  json["sha256"] = sha256(json.dump(2));
  return json.dump(2) + "\n";
}

std::string stated_checksum(const std::string& json) {
  const Json read = Json::parse(json, nullptr, false);
  if (!read.is_object() || !read.contains("certificate") || !read.contains("sha256") || !read["sha256"].is_string())
    return "";
  return read["sha256"].get<std::string>();
}

bool verify_certificate(const std::string& json, const std::string& name) {
  const std::string stated = stated_checksum(json);
  if (stated.empty()) throw BadInput(name + " is no certificate of assay accept (a JSON file with its checksum)");
  Json read = Json::parse(json);
  read.erase("sha256");
  return sha256(read.dump(2)) == stated;
}

}  // namespace assay
