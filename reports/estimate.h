// What a model and a workload would take and give on a card that nobody has measured: memory from the model's own
// arithmetic, speed from published rates and what programs make of them (docs/prediction.md).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reports/catalogue.h"
#include "reports/judge.h"
#include "reports/memory.h"
#include "reports/money.h"
#include "reports/predict/prediction.h"

namespace assay {

struct Span {
  double middle = 0, lower = 0, upper = 0;
};

// What does not depend on the card.
struct Demand {
  ModelSpec model;
  Workload workload;                           // resolved, with its layout
  Workload alone;                              // the same on one card
  MemoryBudget budget, whole;                  // on the fullest card, and if there were but one; runtime included
  std::map<int, Span> on_each;                 // bytes on the fullest of so many cards, shared out as usual
  std::optional<predict::SpeedSetting> speed;  // its card is still to be filled in
  std::string no_speed;                        // why there is none
  std::string format;                          // of the weights, as stacks call it

  bool training() const { return workload.purpose == Purpose::training; }
  bool decodes() const { return !training() && model.kind == ModelKind::decoder; }
};
// Throws BadInput where the model cannot do what the workload asks.
Demand demand(const ModelSpec& model, const Workload& workload, int cards = 1);

// What a card leaves to programs: as sold, less a sixteenth where ECC is kept in the same GDDR, less what the driver
// keeps.
double usable_memory(const Gpu& gpu);
std::string usable_memory_words(const Gpu& gpu);

// Bytes on the fullest of `cards` cards (reports/spread.h).
Span memory_on_each(const Demand& demand, int cards);

struct CardEstimate {
  const Gpu* gpu = nullptr;
  int cards = 1;
  Answer answer = Answer::not_judged;
  bool unsupported = false;    // it may have the memory, but no stack takes this format on it
  std::string support;         // the stacks that do, or why none does
  Span needed;                 // bytes on the fullest card
  double usable = 0;           // bytes on each
  double probability = 0;      // that it fits
  std::optional<Span> speed;   // tokens/s of all cards: decode of all sequences, training, or one pass
  std::optional<Span> prompt;  // seconds to the first token
  std::optional<HourlyCost> cost;
  std::optional<Span> per_million;  // USD a million tokens
  std::optional<Power> power;
  std::optional<double> joules_per_token;
  std::optional<int> cards_needed;  // the least power of two that fits, at most 64
};
CardEstimate estimate(const Demand& demand, const Gpu& gpu, int cards, const MoneyInput& money);

// The least number of cards, doubling from 1, on which it fits; absent where 64 do not do.
std::optional<int> cards_needed(const Demand& demand, const Gpu& gpu);

// That a need between these bounds is at most `there`: 0.95 where the upper bound is, 0.05 where the lower one is.
double probability_of(const Span& need, double there);

}  // namespace assay
