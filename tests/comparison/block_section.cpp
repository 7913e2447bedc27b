// A decoder block's step against the sum of its ops, each timed alone.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/models/decoder.h"
#include "core/op.h"
#include "tests/comparison/pairs.h"
#include "tests/comparison/sections.h"

namespace assay::comparison {
namespace {

constexpr double bar = 1.10;

// Every different op once, with how often the block does it.
struct Alone {
  std::shared_ptr<Program> program;
  int times = 0;
};

std::map<std::string, Alone> ops_alone(const Setup& setup, const Work& work) {
  std::map<std::string, Alone> alone;
  for (const Step& step : work.steps) {
    const std::string op = text(step.op);
    if (alone.find(op) == alone.end()) {
      alone[op].program = prepare_op(setup, op);
    }
    ++alone[op].times;
  }
  return alone;
}

// Seconds of all ops of one step, each the mean of several executions after a warm one.
double sum_alone(std::map<std::string, Alone>& alone) {
  double sum = 0;
  for (auto& [op, entry] : alone) {
    const double once = std::max(1e-7, entry.program->run(1).front());
    const int executions = static_cast<int>(std::clamp(2e-3 / once, 1.0, 1000.0));
    sum += entry.times * entry.program->run(executions).front() / executions;
  }
  return sum;
}

void compare(const Setup& setup, Table& table, const std::string& model, std::int64_t length, Element element) {
  BlockSetup block;
  block.length = length;
  block.compute = {element, Scaling::none};
  const Work work = decoder_block(find_model(model), block);
  for (const Step& step : work.steps) {
    const Support support = setup.backend.supports(step.op, 0);
    if (!support.yes) {
      std::printf("%s: skipped, %s\n", work.name.c_str(), support.reason.c_str());
      return;
    }
  }
  const auto program = setup.backend.prepare(work, 0, {});
  program->fill(Pattern::typical, 1);
  auto alone = ops_alone(setup, work);
  program->run(1);
  sum_alone(alone);
  std::vector<double> whole;
  std::vector<double> parts;
  std::vector<double> ratios;
  for (int pair = 0; pair < setup.pairs; ++pair) {
    whole.push_back(program->run(1).front());
    parts.push_back(sum_alone(alone));
    ratios.push_back(whole.back() / parts.back());
  }
  const auto middle = [](std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
  };
  table.line_at_most(work.name, middle(whole) * 1e3, middle(parts) * 1e3, middle(ratios), bar);
}

}  // namespace

int compare_block(const Setup& setup) {
  Table table("ms");
  table.title("one decoder block against the sum of its ops", "block", "sum of ops");
  for (const Element element : {Element::fp32, Element::bf16}) {
    compare(setup, table, "gpt2", 256, element);
    compare(setup, table, "llama-3.2-1b", 128, element);
  }
  return table.below();
}

}  // namespace assay::comparison
