// `assay doctor`: what can be measured here, what cannot, why, and how to mend it. Also `assay` alone, which looks
// without opening anything. SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "bench/probe.h"
#include "bench/version.h"
#include "cli/commands.h"
#include "cli/presences.h"
#include "core/error.h"
#include "core/host.h"
#include "core/loader.h"
#include "reports/report.h"

namespace assay {
namespace {

// Lines of text, folded to the terminal's width, with marks that need no colour.
class Page {
 public:
  explicit Page(const Terminal& terminal) : terminal_(terminal) {}

  void heading(const std::string& text) {
    std::printf("%s%s%s\n", terminal_.colour ? "\x1b[1m" : "", text.c_str(), terminal_.colour ? "\x1b[0m" : "");
  }
  void good(const std::string& text) { mark(terminal_.ascii ? "[ok] " : "✓ ", "\x1b[32m", text); }
  void bad(const std::string& text) { mark(terminal_.ascii ? "[no] " : "✗ ", "\x1b[31m", text); }
  void plain(const std::string& text, const std::string& indent = "  ") { fold(indent, indent, text); }
  void gap() { std::puts(""); }

 private:
  void mark(const std::string& sign, const std::string& colour, const std::string& text) {
    const std::string hanging(2 + (terminal_.ascii ? sign.size() : 2), ' ');
    fold("  " + (terminal_.colour ? colour + sign + "\x1b[0m" : sign), hanging, text);
  }

  void fold(const std::string& first, const std::string& next, const std::string& text) {
    const std::string clean = printable(text, terminal_.ascii);
    const auto room = static_cast<std::size_t>(terminal_.width) - next.size();
    std::size_t at = 0;
    std::string lead = first;
    while (at < clean.size()) {
      std::size_t length = clean.size() - at;
      if (length > room) {
        const std::size_t space = clean.rfind(' ', at + room);
        length = space == std::string::npos || space <= at ? room : space - at;
      }
      std::printf("%s%s\n", lead.c_str(), clean.substr(at, length).c_str());
      at += length;
      while (at < clean.size() && clean[at] == ' ') ++at;
      lead = next;
    }
  }

  Terminal terminal_;
};

std::string amount(double bytes) { return show(Quantity{bytes, ReportUnit::bytes, {}, {}, ""}); }

std::string describe(const DeviceInfo& device) {
  std::string line = device.id + "  " + device.name;
  if (!device.architecture.empty()) line += ", " + device.architecture;
  if (device.compute_units) {
    line += fmt::format(", {} {}", *device.compute_units, device.backend == "cpu" ? "cores" : "compute units");
  }
  if (device.memory_total) line += ", " + amount(static_cast<double>(*device.memory_total)) + " of memory";
  return line;
}

std::string join(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : ", ") + word;
  return line;
}

// "memory_limit_bytes" as people say it: "memory limit".
std::string spoken(const Fact& fact) {
  std::string words = fact.name;
  for (const std::string& unit : {std::string("_bytes"), std::string("_cores"), "_" + fact.unit}) {
    if (unit.size() > 1 && words.size() > unit.size() && words.ends_with(unit))
      words.resize(words.size() - unit.size());
  }
  for (char& c : words) c = c == '_' ? ' ' : c;
  return words;
}

// What a fact says, as one line; facts that could not be found give their reason.
std::string describe(const Fact& fact) {
  std::string line = spoken(fact);
  if (fact.value) {
    const bool bytes = fact.unit == "bytes";
    line += ": " + (bytes ? amount(*fact.value) : fmt::format("{:g} {}", *fact.value, fact.unit));
  } else if (!fact.text.empty()) {
    line += ": " + fact.text;
  }
  if (!fact.reason.empty()) line += " (" + fact.reason + ")";
  return line;
}

// A number that is not there is a limit that nobody set; a word that is not there is something missing.
bool unset(const Fact& fact) { return !fact.value && fact.text.empty() && !fact.unit.empty(); }
bool missing(const Fact& fact) { return !fact.value && fact.text.empty() && fact.unit.empty(); }

bool told(const std::vector<Fact>& facts, const Fact& fact) {
  return std::any_of(facts.begin(), facts.end(), [&](const Fact& other) { return other.name == fact.name; });
}

void host_page(Page& page) {
  const HostLimits limits = host_limits();
  page.heading("This host");
  page.plain(fmt::format("{} of {} cores may be used{}; {} of {} of memory is free for this process",
                         usable_threads(limits), limits.cores_online,
                         limits.cores_quota ? fmt::format(" (quota: {:g} cores)", *limits.cores_quota) : "",
                         amount(static_cast<double>(usable_memory(limits))),
                         amount(static_cast<double>(limits.memory_limit.value_or(limits.memory_total)))));
}

// A device that is listed and yet does not work says so in a fact; empty where it works.
std::string unusable(const DeviceInfo& device) {
  for (const Fact& fact : device.facts)
    if (fact.name == "usable" && fact.text == "no") return fact.reason.empty() ? "it cannot be used" : fact.reason;
  return "";
}

// Whether a usable device came from this vendor's plug-in.
bool usable(const std::vector<Probed>& probed, const std::string& backend) {
  for (const Probed& answer : probed) {
    if (answer.plugin != backend) continue;
    for (const DeviceInfo& device : answer.devices)
      if (unusable(device).empty()) return true;
  }
  return false;
}

struct Obstacle {
  std::string problem;
  std::string cure;
};

// A plug-in that finds no device says why in a fact of this name, and after these words what to do about it.
bool is_obstacle(const Fact& fact, const Probed& answer) {
  return answer.devices.empty() && fact.name == answer.plugin + "_devices" && !fact.reason.empty();
}
Obstacle split(const std::string& reason) {
  const std::string words = "; to mend it: ";
  const auto at = reason.find(words);
  if (at == std::string::npos) return {reason, ""};
  return {reason.substr(0, at), reason.substr(at + words.size())};
}

// Why cards of a vendor that can be seen cannot be used, and what to do.
Obstacle obstacle(const Presence& presence, const std::vector<Probed>& probed) {
  if (!presence.problem.empty()) return {presence.problem, presence.cure};
  for (const Probed& answer : probed) {
    if (answer.plugin != presence.backend) continue;
    for (const Fact& fact : answer.diagnosis)
      if (is_obstacle(fact, answer)) return split(fact.reason);
    for (const DeviceInfo& device : answer.devices)
      if (!unusable(device).empty()) return {unusable(device), ""};
    return {answer.reason, ""};
  }
  return {"this build of Assay has no plug-in for it",
          "build Assay where the vendor's toolkit is installed; the build says which plug-ins it made"};
}

// Whether any card that can be seen cannot be used; says so first, since that is what a renter pays for.
bool blocked_page(Page& page, const std::vector<Presence>& presences, const std::vector<Probed>& probed) {
  bool blocked = false;
  for (const Presence& presence : presences) {
    if (presence.cards.empty() || usable(probed, presence.backend)) continue;
    const Obstacle found = obstacle(presence, probed);
    blocked = true;
    page.heading("A GPU is here but cannot be used");
    page.bad(presence.vendor + " " + join(presence.cards) + ": " + found.problem);
    if (!found.cure.empty()) page.plain("To mend it: " + found.cure + ".", "    ");
    page.gap();
  }
  return blocked;
}

// Of the devices of one plug-in, all but the first show only what tells them from it: that is where to look when one of
// eight is slow.
bool devices_page(Page& page, const std::vector<Probed>& probed) {
  bool anything = false;
  page.heading("Can be measured");
  for (const Probed& answer : probed) {
    const DeviceInfo* first = nullptr;
    for (const DeviceInfo& device : answer.devices) {
      if (const std::string why = unusable(device); !why.empty()) {
        page.bad(describe(device) + ": " + why);
        continue;
      }
      anything = true;
      page.good(describe(device));
      for (const Fact& fact : device.facts) {
        if (unset(fact) || told(answer.diagnosis, fact)) continue;
        const std::string line = describe(fact);
        const bool same = first != nullptr && std::any_of(first->facts.begin(), first->facts.end(),
                                                          [&](const Fact& other) { return describe(other) == line; });
        if (!same) page.plain(line, "      ");
      }
      if (first == nullptr) first = &device;
    }
  }
  if (!anything) page.bad("nothing: no plug-in found a device");
  page.gap();
  return anything;
}

void diagnosis_page(Page& page, const std::vector<Presence>& presences, const std::vector<Probed>& probed) {
  page.heading("Looked up");
  for (const Probed& answer : probed) {
    const bool explained = std::any_of(answer.diagnosis.begin(), answer.diagnosis.end(),
                                       [&](const Fact& fact) { return is_obstacle(fact, answer); });
    if (!answer.reason.empty() && !explained) page.bad(answer.plugin + ": " + answer.reason);
    for (const Fact& fact : answer.diagnosis) {
      if (unset(fact)) continue;
      if (is_obstacle(fact, answer)) {
        const Obstacle found = split(fact.reason);
        page.bad(answer.plugin + ": " + found.problem);
        if (!found.cure.empty()) page.plain("To mend it: " + found.cure + ".", "    ");
        continue;
      }
      missing(fact) ? page.bad(describe(fact)) : page.good(describe(fact));
    }
  }
  for (const Presence& presence : presences) {
    if (presence.cards.empty()) page.bad("no " + presence.vendor + " GPU is visible on the PCI bus or under /dev");
  }
  if (std::all_of(presences.begin(), presences.end(), [](const Presence& one) { return one.cards.empty(); }))
    page.plain(
        "If this machine was rented with a GPU: start the container with the GPU passed in (docker run --gpus all, "
        "or --device=/dev/kfd --device=/dev/dri), or ask the provider where it is.",
        "    ");
  page.gap();
}

}  // namespace

int doctor(const Terminal& terminal, const std::vector<Presence>& presences, const std::vector<Probed>& probed) {
  Page page(terminal);
  const bool blocked = blocked_page(page, presences, probed);
  const bool anything = devices_page(page, probed);
  diagnosis_page(page, presences, probed);
  host_page(page);
  page.gap();
  if (anything)
    page.plain(blocked ? "Next: mend the GPU, or measure the processor with  assay evaluate --device cpu"
                       : "Next: assay evaluate --model llama-3-8b",
               "");
  return !anything ? exit_unknown : blocked ? exit_bad : exit_good;
}

int doctor(const Terminal& terminal, const std::filesystem::path& plugins) {
  ProbeQuestion question;
  question.folder = plugins.empty() ? plugin_folder() : plugins;
  return doctor(terminal, presences(), probe(question));
}

int show_overview(const Terminal& terminal, const std::filesystem::path& plugins) {
  Page page(terminal);
  page.heading(std::string("Assay ") + version::program + ": what this machine delivers for AI work");
  page.gap();
  bool blocked = false;
  for (const Presence& presence : presences()) {
    if (presence.cards.empty()) {
      page.plain("No " + presence.vendor + " GPU is visible.");
    } else if (presence.problem.empty()) {
      page.good(presence.vendor + " " + join(presence.cards));
    } else {
      blocked = true;
      page.bad(presence.vendor + " " + join(presence.cards) + ": " + presence.problem);
    }
  }
  const std::filesystem::path folder = plugins.empty() ? plugin_folder() : plugins;
  const std::vector<std::string> names = plugin_names(folder);
  page.plain(names.empty() ? "No plug-ins in " + folder.string() + "; nothing can be measured."
                           : "Plug-ins of this build: " + join(names) + ".");
  host_page(page);
  page.gap();
  page.plain(blocked ? "Next: assay doctor" : "Next: assay evaluate", "");
  page.plain("(assay --help shows all commands)", "");
  return exit_good;
}

void choose_devices(RunOptions& options) {
  if (!options.devices.empty()) return;
  for (const Presence& presence : presences()) {
    if (presence.cards.empty() || presence.problem.empty()) continue;
    throw BadInput("a GPU is visible but cannot be used: " + presence.vendor + " " + presence.cards.front() + ": " +
                   presence.problem + ". To mend it: " + presence.cure +
                   ". To measure the processor instead, add --device cpu (assay doctor says more)");
  }
}

}  // namespace assay
