// docs/worked-example.md, worked out again: every number of the page is what the program says.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>

#include "reports/memory.h"
#include "reports/phrase.h"
#include "reports/workload.h"
#include "tests/reports/made_up_run.h"

namespace assay {
namespace {

std::string page() {
  std::ifstream file(std::string(ASSAY_SOURCE_DIR) + "/docs/worked-example.md");
  return {std::istreambuf_iterator<char>(file), {}};
}

// Numbers with separators, "8,030,261,248".
std::set<std::string> long_numbers(const std::string& text) {
  std::set<std::string> found;
  std::string now;
  for (const char letter : text + " ") {
    if ((letter >= '0' && letter <= '9') || (letter == ',' && !now.empty())) {
      now += letter;
      continue;
    }
    while (!now.empty() && now.back() == ',') now.pop_back();
    if (now.find(',') != std::string::npos) found.insert(now);
    now.clear();
  }
  return found;
}

class Said {
 public:
  void number(double value) { numbers_.insert(grouped(value)); }
  void gibibytes(double bytes) { words_.push_back(fmt::format("{:.2f}", bytes / gib)); }
  void item(const MemoryBudget& budget, const std::string& name) {
    for (const MemoryItem& one : budget.items) {
      if (one.name != name) continue;
      number(one.bytes);
      gibibytes(one.bytes);
      sum_ += one.bytes;
      return;
    }
    ADD_FAILURE() << name;
  }
  void sum() {
    number(sum_);
    gibibytes(sum_);
    sum_ = 0;
  }
  const std::set<std::string>& numbers() const { return numbers_; }
  const std::vector<std::string>& words() const { return words_; }

 private:
  std::set<std::string> numbers_;
  std::vector<std::string> words_;
  double sum_ = 0;
};

MemoryBudget budget_of(const ModelSpec& model, const Workload& workload) {
  return memory_budget(model, resolve(workload, model), Overheads{});
}

double bytes_of(const MemoryBudget& budget, const std::string& name) {
  for (const MemoryItem& one : budget.items)
    if (one.name == name) return one.bytes;
  return 0;
}

void say_inference(Said& said, const ModelSpec& model) {
  Workload workload = default_workload(Purpose::inference);
  const MemoryBudget budget = budget_of(model, workload);
  for (const char* name : {"weights", "KV cache", "activations", "logits"}) said.item(budget, name);
  said.sum();
  said.number(static_cast<double>(kv_bytes_per_token(model, 16)));
  said.number(bytes_of(budget, "activations") / 2);
  workload.context = 8192;
  said.number(bytes_of(budget_of(model, workload), "KV cache"));
  workload.weights = Format{Element::fp4_e2m1, Scaling::block16_e4m3};
  said.number(bytes_of(budget_of(model, workload), "weights"));
  said.gibibytes(bytes_of(budget_of(model, workload), "weights"));
  const SplitParameters split = split_parameters(model);
  said.number(split.matrices);
  said.number(split.rest);
  const double head = static_cast<double>(model.hidden) * static_cast<double>(model.vocabulary);
  said.number((split.matrices + head) * 2 + bytes_of(budget, "KV cache"));
}

void say_training(Said& said, const ModelSpec& model) {
  Workload workload = default_workload(Purpose::training);
  const MemoryBudget budget = budget_of(model, workload);
  for (const char* name : {"weights", "gradients", "optimizer", "activations", "logits"}) said.item(budget, name);
  said.sum();
  said.number(bytes_of(budget, "activations") / (32.0 * 4096 * 2));
  workload.recompute = Recompute::full;
  const double again = bytes_of(budget_of(model, workload), "activations");
  said.number(again);
  said.gibibytes(again);
  said.number(again / (4096 * 2));
  workload.tuning = Tuning::lora;
  const MemoryBudget lora = budget_of(model, workload);
  said.number(static_cast<double>(adapter_parameters(model, 16)));
  const double states = bytes_of(lora, "adapters") + bytes_of(lora, "gradients") + bytes_of(lora, "optimizer");
  said.number(states);
  said.gibibytes(states);
}

TEST(WorkedExample, SaysWhatTheProgramSays) {
  const ModelSpec model = find_model("llama-3-8b");
  Said said;
  for (const ParameterItem& item : parameter_items(model)) said.number(static_cast<double>(item.count));
  said.number(static_cast<double>(parameters(model)));
  said.number(gib);
  said.number(4096);  // tokens
  said.number(8192);
  said.number(2048);
  say_inference(said, model);
  say_training(said, model);

  const std::string text = page();
  ASSERT_FALSE(text.empty());
  const std::set<std::string> written = long_numbers(text);
  for (const std::string& number : said.numbers())
    EXPECT_TRUE(written.count(number)) << number << " is not on the page";
  for (const std::string& number : written)
    EXPECT_TRUE(said.numbers().count(number)) << number << " is on the page and nowhere else";
  for (const std::string& word : said.words())
    EXPECT_NE(text.find(word), std::string::npos) << word << " GiB is not on the page";
}

TEST(WorkedExample, SpeedsOfATokenAreTheBytesOverTheBandwidth) {
  const double bytes = (6'979'321'856.0 + 525'336'576.0) * 2 + 536'870'912.0;
  const std::string text = page();
  EXPECT_NE(text.find(fmt::format("{:.3f} s", bytes / 100e9)), std::string::npos);
  EXPECT_NE(text.find(fmt::format("{:.1f} tokens a second", 100e9 / bytes)), std::string::npos);
}

}  // namespace
}  // namespace assay
