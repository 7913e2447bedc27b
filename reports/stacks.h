// What the common software stacks need of a card, from their own documents: a card may have the memory and still no
// supported path. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/catalogue.h"

namespace assay {

enum class StackRole : std::uint8_t { training, inference, kernel };  // kernel: a part that other stacks use
std::string text(StackRole role);

// A number format of weights ("bf16", "fp8", "int4", "nf4", "gguf") and the cards on which the stack takes it.
struct StackFormat {
  std::string name;
  std::optional<int> minimum;        // compute capability times ten: 89 for 8.9
  std::vector<std::string> targets;  // or named targets; empty without a minimum: all of the stack's
};

// One line of reports/stacks.csv.
struct Stack {
  std::string name;
  std::vector<std::string> profiles;  // framework profiles of a workload that this stack stands for
  std::vector<StackRole> roles;
  std::string maker;                    // of the cards
  std::optional<int> minimum, maximum;  // compute capability times ten
  std::vector<std::string> targets;     // where cards are named by target ("gfx942")
  std::vector<StackFormat> formats;
  std::string driver, note;
  std::vector<std::string> sources;
};

const std::vector<Stack>& builtin_stacks();
std::vector<Stack> parse_stacks(std::string_view csv);

// Why this stack cannot serve weights of this format on the card, or "" where it can.
std::string obstacle(const Stack& stack, const Gpu& gpu, const std::string& format);

struct Support {
  std::vector<const Stack*> stacks;  // those with a path
  std::string reason;                // where there is none: what stands against it
  bool any() const { return !stacks.empty(); }
};
// `profile` empty: any stack will do. A profile that no stack stands for ("own") is not looked up: any will do.
Support support(const Gpu& gpu, StackRole role, const std::string& format, const std::string& profile = "");

}  // namespace assay
