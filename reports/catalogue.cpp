// The cards that this program knows without having measured one.
// SPDX-License-Identifier: Apache-2.0
#include "reports/catalogue.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/error.h"
#include "core/models/names.h"
#include "reports/embedded.h"

namespace assay {
namespace {

constexpr double gibi = 1024.0 * 1024 * 1024, mebi = 1024.0 * 1024;

std::optional<double> scaled(const EmbeddedRow& row, std::string_view column, double factor) {
  const auto value = row.number(column);
  if (!value) return std::nullopt;
  return *value * factor;
}

GpuClass class_of(const EmbeddedRow& row) {
  const std::string& word = row.required("class");
  for (const GpuClass kind : {GpuClass::server, GpuClass::workstation, GpuClass::consumer})
    if (text(kind) == word) return kind;
  row.refuse("class", "unknown: " + word);
}

Ecc ecc_of(const EmbeddedRow& row) {
  const std::string& word = row.text("ecc");
  if (word.empty()) return Ecc::unknown;
  for (const Ecc ecc : {Ecc::yes, Ecc::no, Ecc::optional})
    if (text(ecc) == word) return ecc;
  row.refuse("ecc", "unknown: " + word);
}

// PCI Express: transfers a second and lane of each generation with its line code (128/130 from the third on; the sixth
// sends flits of 242 useful bytes in 256), in bytes per direction.
std::optional<double> host_bandwidth(const std::string& link) {
  if (link.find("x16") == std::string::npos || link.size() < 3) return std::nullopt;
  switch (link.front()) {
    case '3':
      return 8e9 * 16 / 8 * 128 / 130;
    case '4':
      return 16e9 * 16 / 8 * 128 / 130;
    case '5':
      return 32e9 * 16 / 8 * 128 / 130;
    case '6':
      return 64e9 * 16 / 8 * 242 / 256;
    default:
      return std::nullopt;
  }
}

Gpu gpu_of(const EmbeddedRow& row) {
  constexpr double tera = 1e12, giga = 1e9, mega = 1e6;
  Gpu gpu;
  gpu.name = row.required("name");
  gpu.aliases = row.list("aliases");
  gpu.vendor = row.required("vendor");
  gpu.kind = class_of(row);
  gpu.architecture = row.required("architecture");
  gpu.capability = row.required("capability");
  if (const auto year = row.number("year")) gpu.year = static_cast<int>(*year);
  const auto memory = scaled(row, "memory_gib", gibi);
  if (!memory) row.refuse("memory_gib", "must not be empty");
  gpu.memory = *memory;
  gpu.memory_kind = row.text("memory_kind");
  gpu.bandwidth = scaled(row, "bandwidth_gb_s", giga);
  gpu.fp64 = scaled(row, "fp64", tera);
  gpu.fp64_matrix = scaled(row, "fp64_matrix", tera);
  gpu.fp32 = scaled(row, "fp32", tera);
  gpu.tf32 = scaled(row, "tf32", tera);
  gpu.fp16 = scaled(row, "fp16", tera);
  gpu.bf16 = scaled(row, "bf16", tera);
  gpu.fp8 = scaled(row, "fp8", tera);
  gpu.int8 = scaled(row, "int8", tera);
  gpu.fp4 = scaled(row, "fp4", tera);
  gpu.fp16_accumulate = scaled(row, "fp16_accumulate", tera);
  gpu.units = row.number("units");
  gpu.boost_hertz = scaled(row, "boost_mhz", mega);
  gpu.cache = scaled(row, "cache_mib", mebi);
  gpu.watts = row.number("watts");
  gpu.host_link = row.text("host_link");
  gpu.host_bandwidth = host_bandwidth(gpu.host_link);
  gpu.link = row.text("link");
  gpu.link_bandwidth = scaled(row, "link_gb_s", giga);
  gpu.ecc = ecc_of(row);
  gpu.form = row.text("form");
  gpu.confidence = row.required("confidence");
  gpu.sources = row.words("source");
  if (gpu.sources.empty()) row.refuse("source", "a line without a source");
  return gpu;
}

using Words = std::set<std::string>;

std::set<std::string> makers() {
  std::set<std::string> all{"corporation", "inc", "graphics"};
  for (const Gpu& gpu : builtin_gpus()) all.insert(loose(gpu.vendor));
  return all;
}

// "NVIDIA A100-SXM4-80GB" is {"a100", "sxm4", "80gb"}.
Words words_of(std::string_view name) {
  static const std::set<std::string> of_makers = makers();
  Words words;
  std::string word;
  const auto end_word = [&] {
    if (!word.empty() && !of_makers.contains(word)) words.insert(word);
    word.clear();
  };
  for (const char letter : name) {
    const std::string kept = loose(std::string_view(&letter, 1));
    if (kept.empty())
      end_word();
    else
      word += kept;
  }
  end_word();
  return words;
}

// Whether what was typed stands for a word of the name: "sxm" for "sxm5", "80" or "80g" for "80gb", nothing looser.
bool stands_for(const std::string& typed, const std::string& word) {
  if (typed == word) return true;
  if (typed == "sxm" && word.starts_with("sxm")) return true;
  return word == typed + "gb" || word == typed + "b";
}

bool every_word_in(const Words& typed, const Words& name) {
  return std::all_of(typed.begin(), typed.end(), [&](const std::string& word) {
    return std::any_of(name.begin(), name.end(), [&](const std::string& other) { return stands_for(word, other); });
  });
}

// The words of a name and of each of its aliases.
struct Spelling {
  const Gpu* gpu;
  Words words;
  std::string letters;
};

const std::vector<Spelling>& spellings() {
  static const std::vector<Spelling> all = [] {
    std::vector<Spelling> made;
    for (const Gpu& gpu : builtin_gpus()) {
      made.push_back({&gpu, words_of(gpu.name), loose(gpu.name)});
      for (const std::string& alias : gpu.aliases) made.push_back({&gpu, words_of(alias), loose(alias)});
    }
    return made;
  }();
  return all;
}

// Near the name or one of its aliases.
std::vector<std::string> nearest_names(const std::string& wanted) {
  std::vector<std::string> all, near;
  for (const Gpu& gpu : builtin_gpus()) {
    all.push_back(gpu.name);
    all.insert(all.end(), gpu.aliases.begin(), gpu.aliases.end());
  }
  for (const std::string& spelling : suggestions(wanted, all, 8)) {
    const auto is_meant = [&](const Gpu& gpu) {
      return gpu.name == spelling || std::find(gpu.aliases.begin(), gpu.aliases.end(), spelling) != gpu.aliases.end();
    };
    const auto found = std::find_if(builtin_gpus().begin(), builtin_gpus().end(), is_meant);
    if (near.size() < 5 && std::find(near.begin(), near.end(), found->name) == near.end()) near.push_back(found->name);
  }
  return near;
}

[[noreturn]] void refuse_name(const std::string& wanted, const std::set<std::string>& meant) {
  std::string shown;  // it came from outside and goes to a terminal
  for (const char letter : wanted.substr(0, 80)) shown += letter >= ' ' && letter <= '~' ? letter : '?';
  std::string list;
  if (!meant.empty()) {
    for (const std::string& name : meant) list += (list.empty() ? "" : ", ") + name;
    throw BadInput("\"" + shown + "\" may be any of these cards, name one: " + list);
  }
  for (const std::string& name : nearest_names(wanted)) list += (list.empty() ? "" : ", ") + name;
  throw BadInput("no card \"" + shown + "\" is in the catalogue; the nearest names: " + list +
                 "; `assay list gpus` shows all");
}

}  // namespace

std::string text(GpuClass kind) {
  switch (kind) {
    case GpuClass::server:
      return "server";
    case GpuClass::workstation:
      return "workstation";
    case GpuClass::consumer:
      return "consumer";
  }
  return "";
}

std::string text(Ecc ecc) {
  switch (ecc) {
    case Ecc::yes:
      return "yes";
    case Ecc::no:
      return "no";
    case Ecc::optional:
      return "optional";
    case Ecc::unknown:
      return "unknown";
  }
  return "";
}

std::vector<Gpu> parse_gpus(std::string_view csv) {
  std::vector<Gpu> gpus;
  for (const EmbeddedRow& row : read_embedded(csv, "reports/gpus.csv")) gpus.push_back(gpu_of(row));
  return gpus;
}

const std::vector<Gpu>& builtin_gpus() {
  static const std::vector<Gpu> gpus = parse_gpus(gpus_csv());
  return gpus;
}

const Gpu* recognise_gpu(const std::string& device_name) {
  const Words words = words_of(device_name);
  if (words.empty()) return nullptr;
  for (const Spelling& spelling : spellings())
    if (spelling.words == words) return spelling.gpu;
  return nullptr;
}

const Gpu& find_gpu(const std::string& wanted) {
  if (const Gpu* gpu = recognise_gpu(wanted.substr(0, 200))) return *gpu;
  const std::string letters = loose(wanted.substr(0, 200));
  const Words typed = words_of(wanted.substr(0, 200));
  std::set<const Gpu*> meant;
  for (const Spelling& spelling : spellings()) {
    if (!letters.empty() && spelling.letters == letters) return *spelling.gpu;
    if (!typed.empty() && every_word_in(typed, spelling.words)) meant.insert(spelling.gpu);
  }
  if (meant.size() == 1) return **meant.begin();
  std::set<std::string> names;
  for (const Gpu* gpu : meant) names.insert(gpu->name);
  refuse_name(wanted, names);
}

std::optional<double> peak(const Gpu& gpu, Element element) {
  switch (element) {
    case Element::fp64:
      return gpu.fp64_matrix ? gpu.fp64_matrix : gpu.fp64;
    case Element::fp32:
      return gpu.fp32;
    case Element::tf32:
      return gpu.tf32;
    case Element::fp16:
      return gpu.fp16;
    case Element::bf16:
      return gpu.bf16;
    case Element::fp8_e4m3:
    case Element::fp8_e5m2:
    case Element::fp8_e4m3_fnuz:
    case Element::fp8_e5m2_fnuz:
      return gpu.fp8;
    case Element::int8:
      return gpu.int8;
    case Element::fp4_e2m1:
      return gpu.fp4;
    case Element::int32:
    case Element::int64:
    case Element::ue8m0:
      break;
  }
  return std::nullopt;
}

}  // namespace assay
