// What a buyer should have in writing before ordering.
// SPDX-License-Identifier: Apache-2.0
#include "reports/checklist.h"

namespace assay {

Section checklist_section(const ChecklistAnswers& answers) {
  const auto line = [](const std::string& answer) { return answer.empty() ? std::string("________________") : answer; };
  Table table{"checklist", "", {"Question", "Answer", "How to check"}, {}, ""};
  const auto add = [&](const std::string& question, const std::string& answer, const std::string& check) {
    table.rows.push_back({question, line(answer), check});
  };
  add("Is the architecture supported by the runtime and stack?", answers.architecture,
      "assay doctor on the machine; the stack's own start with the model");
  add("What is the budget of weights, intermediates, cache and workspace?", answers.budget,
      "assay report RUN --model M");
  add("What is the peak at the largest input and concurrency?", answers.peak, "assay watch -- the largest request");
  add("Do the framework's and the device's counts agree?", answers.views,
      "assay watch --framework-counters stats.json: what lies between is context, libraries and others");
  add("Were the outputs verified after a change of precision?", answers.outputs,
      "the task's own scores with both formats, not a benchmark's");
  add("What is the exact memory of each device?", answers.memory, "assay list devices on that very machine");
  add("How are the devices linked?", answers.links, "assay doctor; several cards are not one memory");
  add("Are power, circuits and cooling there?", answers.power, "the operator's word for the rack, both feeds");
  add("Are host memory, storage and processors enough?", answers.host, "assay run --filter host");
  add("What does an hour, a token, a run cost?", answers.price, "the offer, with storage, traffic and idle hours");
  table.note = "A figure from a catalogue is not a figure of the machine that is delivered.";
  return {"checklist", "The buyer's checklist", {}, {table}, {}};
}

Report blank_checklist() {
  Report report;
  report.title = "The buyer's checklist";
  report.subtitle = "to be filled in by hand, or by assay report and assay plan --model M --gpu G";
  report.sections.push_back(checklist_section({}));
  return report;
}

}  // namespace assay
