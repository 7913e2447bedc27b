// Reads a claim: parts between commas, each a quantity with its unit, a link, a price, or a card.
// SPDX-License-Identifier: Apache-2.0
#include "reports/accept/claim.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

#include "core/error.h"
#include "core/nearest.h"
#include "reports/phrase.h"

namespace assay {
namespace {

constexpr const char* example = "\"8x H100 SXM 80GB, 2 TB NVMe, 26 vCPU, 240 GB RAM, NVLink, 2.49 USD/h\"";

std::string lower(std::string_view text) {
  std::string small;
  for (const char letter : text) small += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return small;
}

// Words between blanks, with numbers and units apart: "80GB" is "80" "gb", "8x" is "8" "x", "$2.49/h" "$" "2.49" "/h".
std::vector<std::string> words_of(std::string_view part) {
  std::vector<std::string> words;
  std::string word;
  const auto end = [&] {
    if (!word.empty()) words.push_back(word);
    word.clear();
  };
  for (const char letter : part) {
    if (std::isspace(static_cast<unsigned char>(letter)) != 0) {
      end();
      continue;
    }
    word += letter;
  }
  end();
  return words;
}

struct Amount {
  double value = 0;
  std::string unit;      // lower case, may be empty
  std::size_t used = 0;  // words
};

// A number, and the unit that is glued to it or is the next word.
std::optional<Amount> amount(const std::vector<std::string>& words, std::size_t at) {
  std::string word = words[at];
  bool dollars = false;
  if (word.front() == '$') {
    dollars = true;
    word.erase(0, 1);
  }
  double value = 0;
  const auto [rest, failed] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (failed != std::errc() || !std::isfinite(value) || value <= 0) return std::nullopt;
  Amount found{value, lower(std::string_view(rest, static_cast<std::size_t>(word.data() + word.size() - rest))), 1};
  if (dollars) found.unit = "usd" + found.unit;
  if (found.unit.empty() && at + 1 < words.size()) {
    found.unit = lower(words[at + 1]);
    found.used = 2;
  }
  return found;
}

std::optional<double> bytes_of(const std::string& unit, bool as_memory) {
  struct Unit {
    const char* name;
    double decimal, binary;
  };
  constexpr double kib = 1024;
  constexpr std::array<Unit, 6> units = {{{"gb", 1e9, kib * kib * kib},
                                          {"gib", kib * kib * kib, kib * kib * kib},
                                          {"g", 1e9, kib * kib * kib},
                                          {"tb", 1e12, kib * kib * kib * kib},
                                          {"tib", kib * kib * kib * kib, kib * kib * kib * kib},
                                          {"t", 1e12, kib * kib * kib * kib}}};
  for (const Unit& one : units)
    if (unit == one.name) return as_memory ? one.binary : one.decimal;
  return std::nullopt;
}

bool is_one_of(const std::string& word, std::initializer_list<const char*> list) {
  return std::any_of(list.begin(), list.end(), [&](const char* one) { return word == one; });
}

// Names as words for comparison: lower case, parted at blanks and hyphens, makers' names left out.
std::vector<std::string> name_words(const std::string& name) {
  std::vector<std::string> words;
  std::string word;
  for (const char letter : lower(name) + " ") {
    if (letter != ' ' && letter != '-' && letter != '_' && letter != '(' && letter != ')') {
      word += letter;
      continue;
    }
    const bool maker = std::any_of(builtin_gpus().begin(), builtin_gpus().end(),
                                   [&](const Gpu& gpu) { return lower(gpu.vendor) == word; });
    if (!word.empty() && !maker && !is_one_of(word, {"tesla", "gpu", "gpus", "card", "cards", "graphics"}))
      words.push_back(word);
    word.clear();
  }
  return words;
}

bool means(const Gpu& gpu, const std::vector<std::string>& wanted) {
  std::vector<std::string> known = name_words(gpu.name);
  for (const std::string& alias : gpu.aliases)
    for (const std::string& word : name_words(alias)) known.push_back(word);
  return std::all_of(wanted.begin(), wanted.end(), [&](const std::string& word) {
    return std::any_of(known.begin(), known.end(), [&](const std::string& one) {
      // "sxm" means "sxm4" and "sxm5"; but "a10" does not mean "a100", and "rtx" alone means nothing new.
      return one == word || (is_one_of(word, {"sxm", "hbm"}) && one.rfind(word, 0) == 0);
    });
  });
}

std::vector<const Gpu*> gpus_of(const std::string& words) {
  const std::vector<std::string> wanted = name_words(words);
  std::vector<const Gpu*> found;
  if (wanted.empty()) return found;
  for (const Gpu& gpu : builtin_gpus()) {
    if (lower(gpu.name) == lower(words)) return {&gpu};
    if (means(gpu, wanted)) found.push_back(&gpu);
  }
  // Words that are all of one card's short name mean that card: "H200" is not the H200 NVL.
  std::vector<const Gpu*> exact;
  for (const Gpu* gpu : found)
    for (const std::string& alias : gpu->aliases)
      if (name_words(alias) == wanted) exact.push_back(gpu);
  return exact.size() == 1 ? exact : found;
}

[[noreturn]] void refuse(const std::string& part, const std::string& more) {
  throw BadInput("--claim: '" + part + "' is not understood" + more + "; write it like " + example);
}

// "... is 30x ... at inference"
std::optional<SpeedClaim> speed_claim(const std::vector<std::string>& words) {
  const auto is = std::find_if(words.begin(), words.end(), [](const std::string& word) { return lower(word) == "is"; });
  if (is == words.end() || is == words.begin() || is + 2 >= words.end()) return std::nullopt;
  SpeedClaim claim;
  for (auto word = words.begin(); word != is; ++word) claim.fast += (claim.fast.empty() ? "" : " ") + *word;
  const std::string factor = lower(*(is + 1));
  const auto [rest, failed] = std::from_chars(factor.data(), factor.data() + factor.size(), claim.factor);
  if (failed != std::errc() || std::string_view(rest) != "x" || !(claim.factor > 0)) return std::nullopt;
  auto word = is + 2;
  for (; word != words.end() && lower(*word) != "at"; ++word)
    if (!is_one_of(lower(*word), {"faster", "than", "an", "a", "the"}))
      claim.slow += (claim.slow.empty() ? "" : " ") + *word;
  if (word != words.end() && ++word != words.end()) claim.training = lower(*word) == "training";
  if (claim.slow.empty()) return std::nullopt;
  return claim;
}

bool take_link(Claim& claim, const std::vector<std::string>& words) {
  const std::string first = lower(words[0]);
  if (words.size() == 1 && is_one_of(first, {"nvlink", "nvswitch"})) {
    claim.link = "NVLink";
    return true;
  }
  if (words.size() == 1 && is_one_of(first, {"xgmi", "infinityfabric"})) {
    claim.link = "xGMI";
    return true;
  }
  if (!is_one_of(first, {"pcie", "pci-e", "gen3", "gen4", "gen5", "gen6"})) return false;
  for (const std::string& raw : words) {
    const std::string word = lower(raw);
    if (word == "pcie" || word == "pci-e" || word == "gen") continue;
    if (word.front() == 'x' && word.size() > 1) {
      claim.pcie_lanes = std::atoi(word.c_str() + 1);
      continue;
    }
    const std::string digits = word.rfind("gen", 0) == 0 ? word.substr(3) : word;
    const int generation = std::atoi(digits.c_str());
    if (generation < 1 || generation > 9) return false;
    claim.pcie_generation = generation;
  }
  return claim.pcie_generation || claim.pcie_lanes;
}

bool take_amount(Claim& claim, const std::vector<std::string>& words) {
  const auto found = amount(words, 0);
  if (!found) return false;
  std::vector<std::string> rest;
  for (std::size_t at = found->used; at < words.size(); ++at) rest.push_back(lower(words[at]));
  const std::string last = rest.empty() ? "" : rest.back();
  if (is_one_of(found->unit, {"vcpu", "vcpus", "cpu", "cpus", "core", "cores", "threads"}) && rest.empty()) {
    claim.cores = found->value;
    return true;
  }
  for (const char* currency : {"usd", "eur", "gbp"}) {
    if (found->unit.rfind(currency, 0) != 0) continue;
    const std::string per = found->unit.substr(3) + joined(rest, "");
    if (!is_one_of(per, {"/h", "/hour", "/hr", "perhour", "h"})) return false;
    claim.price_per_hour = found->value;
    claim.currency = currency;
    std::transform(claim.currency.begin(), claim.currency.end(), claim.currency.begin(),
                   [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
    return true;
  }
  if (!bytes_of(found->unit, true)) return false;
  if (is_one_of(last, {"ram", "memory", "dram", "ddr4", "ddr5"})) {
    if (rest.size() == 2 && !is_one_of(rest.front(), {"host", "system"})) return false;
    claim.ram = bytes_of(found->unit, true).value() * found->value;
    return true;
  }
  if (is_one_of(last, {"nvme", "ssd", "disk", "storage", "drive"}) || (rest.size() == 2 && rest.front() == "nvme")) {
    claim.storage = bytes_of(found->unit, false).value() * found->value;
    const std::string all = joined(rest, " ");
    claim.storage_kind = all.find("nvme") != std::string::npos  ? "nvme"
                         : all.find("ssd") != std::string::npos ? "ssd"
                                                                : "";
    return true;
  }
  if (is_one_of(last, {"vram", "hbm", "hbm3", "hbm2e"})) {
    claim.memory = bytes_of(found->unit, true).value() * found->value;
    return true;
  }
  return false;
}

bool take_gpu(Claim& claim, std::vector<std::string> words) {
  int count = 0;
  const std::string first = lower(words[0]);
  const auto [rest, failed] = std::from_chars(first.data(), first.data() + first.size(), count);
  const std::string_view after(rest, static_cast<std::size_t>(first.data() + first.size() - rest));
  if (failed == std::errc() && count > 0 && (after == "x" || after == "\xC3\x97")) {
    words.erase(words.begin());
  } else if (failed == std::errc() && count > 0 && after.empty() && words.size() > 1) {
    words.erase(words.begin());
    if (is_one_of(lower(words[0]), {"x", "\xC3\x97"})) words.erase(words.begin());
  } else {
    count = 0;
  }
  if (words.empty()) return false;
  // "80 GB" as one word, as the catalogue writes it.
  for (std::size_t at = 0; at + 1 < words.size(); ++at) {
    const bool digits = words[at].find_first_not_of("0123456789") == std::string::npos;
    if (digits && is_one_of(lower(words[at + 1]), {"gb", "gib"})) {
      words[at] += "GB";
      words.erase(words.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    }
  }
  const std::string name = joined(words, " ");
  const std::vector<const Gpu*> gpus = gpus_of(name);
  if (gpus.empty()) return false;
  if (!claim.gpu_words.empty()) throw BadInput("--claim names two cards, '" + claim.gpu_words + "' and '" + name + "'");
  claim.gpu_words = name;
  claim.gpus = gpus;
  if (count > 0) claim.devices = count;
  const bool one_size =
      std::all_of(gpus.begin(), gpus.end(), [&](const Gpu* gpu) { return gpu->memory == gpus.front()->memory; });
  if (one_size && !claim.memory) claim.memory = gpus.front()->memory;
  return true;
}

// The card that a part which nothing understands comes nearest to.
std::string suggestion(std::string part) {
  const std::size_t begin = part.find_first_not_of("0123456789xX ");
  if (begin != std::string::npos) part.erase(0, begin);
  std::vector<std::string> names;
  for (const Gpu& gpu : builtin_gpus()) {
    names.push_back(gpu.name);
    names.insert(names.end(), gpu.aliases.begin(), gpu.aliases.end());
  }
  std::string hint = did_you_mean(part, names);
  const std::size_t blank = part.find(' ');
  if (hint.empty() && blank != std::string::npos) hint = did_you_mean(part.substr(0, blank), names);
  return hint;
}

}  // namespace

Claim parse_claim(const std::string& text) {
  Claim claim;
  claim.text = text;
  std::string part;
  const auto take = [&] {
    const std::vector<std::string> words = words_of(part);
    part.clear();
    if (words.empty()) return;
    if (auto speed = speed_claim(words)) {
      claim.speed = speed;
      return;
    }
    if (take_link(claim, words) || take_amount(claim, words) || take_gpu(claim, words)) return;
    refuse(joined(words, " "), suggestion(joined(words, " ")));
  };
  for (const char letter : text) {
    if (letter == ',' || letter == ';' || letter == '+') {
      take();
    } else {
      part += letter;
    }
  }
  take();
  const bool nothing = claim.gpu_words.empty() && !claim.storage && !claim.cores && !claim.ram && claim.link.empty() &&
                       !claim.pcie_generation && !claim.pcie_lanes && !claim.memory && !claim.price_per_hour &&
                       !claim.speed;
  if (nothing) throw BadInput(std::string("--claim is empty; write it like ") + example);
  return claim;
}

}  // namespace assay
