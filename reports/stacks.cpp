// What the common software stacks need of a card.
// SPDX-License-Identifier: Apache-2.0
#include "reports/stacks.h"

#include <algorithm>
#include <charconv>

#include "reports/embedded.h"
#include "reports/phrase.h"

namespace assay {
namespace {

// "8.9" is 89; absent for names such as "gfx942".
std::optional<int> tenths(std::string_view text) {
  int major = 0, minor = 0;
  const char* const end = text.data() + text.size();
  const auto [point, first] = std::from_chars(text.data(), end, major);
  if (first != std::errc() || point == end || *point != '.') return std::nullopt;
  const auto [rest, second] = std::from_chars(point + 1, end, minor);
  if (second != std::errc() || rest != end || minor < 0 || minor > 9 || major < 0) return std::nullopt;
  return major * 10 + minor;
}

std::string shown_capability(int capability) {
  return std::to_string(capability / 10) + "." + std::to_string(capability % 10);
}

std::vector<std::string> split_words(const std::string& text) {
  std::vector<std::string> words(1);
  for (const char letter : text) {
    if (letter == ' ')
      words.emplace_back();
    else
      words.back() += letter;
  }
  words.erase(std::remove(words.begin(), words.end(), ""), words.end());
  return words;
}

StackRole role_of(const EmbeddedRow& row, const std::string& word) {
  for (const StackRole role : {StackRole::training, StackRole::inference, StackRole::kernel})
    if (text(role) == word) return role;
  row.refuse("role", "unknown: " + word);
}

std::optional<int> capability_of(const EmbeddedRow& row, std::string_view column) {
  if (row.text(column).empty()) return std::nullopt;
  const auto value = tenths(row.text(column));
  if (!value) row.refuse(column, "not a compute capability: " + row.text(column));
  return value;
}

// "fp8:8.9", "fp8:gfx942 gfx950", "bf16:gfx" (all targets of the stack).
StackFormat format_of(const EmbeddedRow& row, const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos || colon == 0) row.refuse("formats", "expected name:where, not " + text);
  StackFormat format{text.substr(0, colon), {}, {}};
  const std::string where = text.substr(colon + 1);
  format.minimum = tenths(where);
  if (!format.minimum && where != "gfx") format.targets = split_words(where);
  return format;
}

Stack stack_of(const EmbeddedRow& row) {
  Stack stack;
  stack.name = row.required("name");
  stack.profiles = row.words("profile");
  for (const std::string& word : row.list("role")) stack.roles.push_back(role_of(row, word));
  stack.maker = row.required("maker");
  stack.minimum = capability_of(row, "minimum");
  stack.maximum = capability_of(row, "maximum");
  stack.targets = row.words("targets");
  if (stack.minimum.has_value() == !stack.targets.empty())
    row.refuse("minimum", "give a minimum or targets, one of them");
  for (const std::string& text : row.list("formats")) stack.formats.push_back(format_of(row, text));
  stack.driver = row.text("driver");
  stack.note = row.text("note");
  stack.sources = row.words("source");
  if (stack.sources.empty()) row.refuse("source", "a line without a source");
  return stack;
}

bool holds(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::string obstacle_of_format(const Stack& stack, const Gpu& gpu, const std::string& format) {
  const auto is_wanted = [&](const StackFormat& one) { return one.name == format; };
  const auto found = std::find_if(stack.formats.begin(), stack.formats.end(), is_wanted);
  if (found == stack.formats.end()) return stack.name + " has no " + format;
  if (found->minimum) {
    const auto capability = tenths(gpu.capability);
    if (!capability || *capability < *found->minimum)
      return stack.name + " takes " + format + " from compute capability " + shown_capability(*found->minimum);
  }
  if (!found->targets.empty() && !holds(found->targets, gpu.capability))
    return stack.name + " takes " + format + " on " + joined(found->targets) + " only";
  return "";
}

}  // namespace

std::string text(StackRole role) {
  switch (role) {
    case StackRole::training:
      return "training";
    case StackRole::inference:
      return "inference";
    case StackRole::kernel:
      return "kernel";
  }
  return "";
}

std::vector<Stack> parse_stacks(std::string_view csv) {
  std::vector<Stack> stacks;
  for (const EmbeddedRow& row : read_embedded(csv, "reports/stacks.csv")) stacks.push_back(stack_of(row));
  return stacks;
}

const std::vector<Stack>& builtin_stacks() {
  static const std::vector<Stack> stacks = parse_stacks(stacks_csv());
  return stacks;
}

std::string obstacle(const Stack& stack, const Gpu& gpu, const std::string& format) {
  if (stack.maker != gpu.vendor) return stack.name + " is for cards of " + stack.maker;
  if (stack.minimum) {
    const auto capability = tenths(gpu.capability);
    if (!capability) return stack.name + " knows no " + gpu.capability;
    if (*capability < *stack.minimum)
      return stack.name + " needs compute capability " + shown_capability(*stack.minimum);
    if (stack.maximum && *capability > *stack.maximum)
      return stack.name + " ends at compute capability " + shown_capability(*stack.maximum);
  } else if (!holds(stack.targets, gpu.capability)) {
    return stack.name + " does not name " + gpu.capability;
  }
  return obstacle_of_format(stack, gpu, format);
}

Support support(const Gpu& gpu, StackRole role, const std::string& format, const std::string& profile) {
  const auto stands_for = [&](const Stack& stack) { return holds(stack.profiles, profile); };
  const bool known = std::any_of(builtin_stacks().begin(), builtin_stacks().end(), stands_for);
  Support result;
  std::vector<std::string> reasons;
  for (const Stack& stack : builtin_stacks()) {
    const bool has_role = std::find(stack.roles.begin(), stack.roles.end(), role) != stack.roles.end();
    if (!has_role || stack.maker != gpu.vendor || (known && !stands_for(stack))) continue;
    const std::string why = obstacle(stack, gpu, format);
    if (why.empty())
      result.stacks.push_back(&stack);
    else
      reasons.push_back(why);
  }
  if (result.any()) return result;
  result.reason = reasons.empty() ? "no " + text(role) + " stack of the table is for this card"
                                  : joined(reasons, "; ") + "; this card is " + gpu.capability;
  return result;
}

}  // namespace assay
