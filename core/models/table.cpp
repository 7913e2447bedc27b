// Reads the built-in table of models, and finds a model by name or path.
// SPDX-License-Identifier: Apache-2.0
#include "core/models/table.h"

#include <array>
#include <charconv>
#include <map>

#include "core/error.h"
#include "core/models/checkpoint.h"
#include "core/models/config_types.h"
#include "core/models/names.h"

namespace assay {
namespace {

// Columns of models.csv. The last one may hold commas.
enum Field : std::uint8_t {
  name,
  title,
  type,
  layers,
  hidden,
  heads,
  kv_heads,
  head_size,
  feed_forward,
  vocabulary,
  context,
  tied,
  options,
  published,
  source,
  note,
  fields
};

[[noreturn]] void refuse(std::size_t line, const std::string& what) {
  throw Error("core/models/models.csv, line " + std::to_string(line) + ": " + what);
}

std::array<std::string_view, fields> split(std::string_view text, std::size_t line) {
  std::array<std::string_view, fields> cells;
  for (std::size_t index = 0; index + 1 < cells.size(); ++index) {
    const std::size_t end = text.find(',');
    if (end == std::string_view::npos) refuse(line, "too few columns");
    cells[index] = text.substr(0, end);
    text.remove_prefix(end + 1);
  }
  cells.back() = text;
  return cells;
}

std::int64_t number(std::string_view cell, std::size_t line) {
  std::int64_t value = 0;
  if (cell.empty()) return 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc() || end != cell.data() + cell.size() || value < 0)
    refuse(line, "not a number: " + std::string(cell));
  return value;
}

// "3-4-6-3"
std::vector<std::int64_t> numbers(std::string_view cell, std::size_t line) {
  std::vector<std::int64_t> values;
  while (!cell.empty()) {
    const std::size_t end = std::min(cell.find('-'), cell.size());
    values.push_back(number(cell.substr(0, end), line));
    cell.remove_prefix(std::min(end + 1, cell.size()));
  }
  return values;
}

void set_option(ModelSpec& model, std::string_view key, std::string_view value, std::size_t line) {
  const auto experts = [&]() -> Experts& {
    if (!model.experts) model.experts = Experts{};
    return *model.experts;
  };
  if (key == "window") {
    model.window = number(value, line);
    if (*model.window == 0) model.window.reset();
  } else if (key == "norms") {
    model.norms_per_layer = static_cast<int>(number(value, line));
  } else if (key == "biases") {
    model.attention_bias = model.output_bias = model.mlp_bias = model.norm_bias = true;
  } else if (key == "positions") {
    model.position = PositionKind::learned;
    model.positions = number(value, line);
  } else if (key == "experts") {
    const auto parts = numbers(value, line);  // how many, used by one token, width of one
    if (parts.size() != 3) refuse(line, "experts=COUNT-ACTIVE-WIDTH");
    experts().count = parts[0];
    experts().active = parts[1];
    experts().width = parts[2];
  } else if (key == "expert_biases") {
    experts().bias = experts().router_bias = true;
  } else if (key == "router_bias") {
    experts().router_bias = true;
  } else if (key == "shared") {
    experts().shared = number(value, line);
  } else if (key == "dense_layers") {
    experts().dense_layers = number(value, line);
  } else if (key == "latent") {
    const auto parts = numbers(value, line);
    if (parts.size() != 5) refuse(line, "latent=QUERY-KV-NOPE-ROPE-VALUE");
    model.latent = LatentAttention{parts[0], parts[1], parts[2], parts[3], parts[4]};
  } else if (key == "stages") {
    model.stages = numbers(value, line);
  } else {
    refuse(line, "unknown option " + std::string(key));
  }
}

void set_options(ModelSpec& model, std::string_view text, std::size_t line) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view option = text.substr(0, end);
    const std::size_t equals = std::min(option.find('='), option.size());
    set_option(model, option.substr(0, equals), option.substr(std::min(equals + 1, option.size())), line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

ModelSpec parse_model(std::string_view text, std::size_t line) {
  const auto cells = split(text, line);
  ModelSpec model = type_traits(cells[type]);
  model.name = std::string(cells[name]);
  model.title = std::string(cells[title]);
  model.layers = number(cells[layers], line);
  model.hidden = number(cells[hidden], line);
  model.heads = number(cells[heads], line);
  model.kv_heads = number(cells[kv_heads], line);
  model.head_size = number(cells[head_size], line);
  model.feed_forward = number(cells[feed_forward], line);
  model.vocabulary = number(cells[vocabulary], line);
  model.context = number(cells[context], line);
  model.tied_embeddings = cells[tied] == "yes";
  if (model.position == PositionKind::learned) model.positions = model.context;
  set_options(model, cells[options], line);
  if (!cells[published].empty()) model.published_parameters = number(cells[published], line);
  model.source = std::string(cells[source]);
  model.note = std::string(cells[note]);
  return model;
}

std::string_view without_maker(std::string_view text) {
  const std::size_t slash = text.rfind('/');
  return slash == std::string_view::npos ? text : text.substr(slash + 1);
}

// What was tuned for instructions has the shape of what it was tuned from: "Meta-Llama-3-8B-Instruct" is "llama38b".
std::string without_tuning(std::string letters) {
  for (const std::string_view tuned : {"hf", "it", "instruct", "chat", "base"})
    if (letters.size() > tuned.size() + 3 && letters.ends_with(tuned)) letters.resize(letters.size() - tuned.size());
  if (letters.starts_with("metallama")) letters.erase(0, 4);
  return letters;
}

const ModelSpec* find_named(const std::string& whole, const std::string& bare) {
  if (bare.empty()) return nullptr;
  for (const ModelSpec& model : builtin_models()) {
    const bool named = loose(model.name) == bare || loose(model.title) == bare;
    const bool at_source = loose(model.source) == whole || loose(without_maker(model.source)) == bare;
    if (named || at_source) return &model;
  }
  return nullptr;
}

const ModelSpec* find_builtin(const std::string& wanted) {
  const std::string whole = loose(wanted), bare = loose(without_maker(wanted));
  if (const ModelSpec* exact = find_named(whole, bare)) return exact;
  return find_named(whole, without_tuning(bare));
}

// "7B", "0.5b", "350M": a number of parameters and nothing else.
std::optional<double> bare_count(const std::string& text) {
  if (text.size() < 2 || text.size() > 12) return std::nullopt;
  const char unit = text.back();
  const double factor = unit == 'b' || unit == 'B' ? 1e9 : unit == 'm' || unit == 'M' ? 1e6 : 0;
  double count = 0;
  const char* const end = text.data() + text.size() - 1;
  const auto [rest, failed] = std::from_chars(text.data(), end, count);
  if (factor == 0 || failed != std::errc() || rest != end || !(count > 0) || count * factor > 1e14) return std::nullopt;
  return count * factor;
}

// The shape of the dense decoder nearest in size, stretched in its layers; what is left over is said to be "other".
ModelSpec of_size(double count, const std::string& text) {
  const ModelSpec* nearest = nullptr;
  const auto distance = [&](const ModelSpec& model) {
    return std::abs(std::log(static_cast<double>(parameters(model)) / count));
  };
  for (const ModelSpec& model : builtin_models()) {
    const bool plain = model.kind == ModelKind::decoder && !model.experts && !model.latent && !model.window &&
                       model.position == PositionKind::rotary && model.mlp == MlpKind::gated;
    if (plain && (nearest == nullptr || distance(model) < distance(*nearest))) nearest = &model;
  }
  ModelSpec model = *nearest;
  double in_layers = 0;
  for (const ParameterItem& item : parameter_items(model))
    if (item.layer_matrix) in_layers += static_cast<double>(item.count);
  const double rest = static_cast<double>(parameters(model)) - in_layers;
  const double stretch = std::max(1.0, count - rest) / in_layers;
  model.layers = std::max<std::int64_t>(1, std::llround(static_cast<double>(model.layers) * stretch));
  model.name = loose(text);
  model.title = "a model of " + text + " parameters";
  model.published_parameters.reset();
  model.assumed_shape = true;
  model.source = "";
  model.extra_parameters = 0;
  model.extra_parameters = std::max<std::int64_t>(0, std::llround(count) - parameters(model));
  model.note = "Only the number of parameters was given; the shape is that of " + nearest->title +
               ", its layers stretched. Name the model or its config.json for narrower figures.";
  return model;
}

[[noreturn]] void refuse_name(const std::string& wanted) {
  std::vector<std::string> names;
  for (const ModelSpec& model : builtin_models()) names.push_back(model.name);
  std::string near;
  for (const std::string& candidate : suggestions(without_maker(wanted), names, 5))
    near += (near.empty() ? "" : ", ") + candidate;
  std::string shown;  // it came from outside and goes to a terminal
  for (const char letter : wanted.substr(0, 80)) shown += letter >= ' ' && letter <= '~' ? letter : '?';
  throw BadInput("no model \"" + shown + "\" is built in, and there is no such file or folder; the nearest names: " +
                 near + "; `assay list models` shows all, and a path to a config.json works too");
}

}  // namespace

std::vector<ModelSpec> parse_models(std::string_view csv) {
  std::vector<ModelSpec> models;
  std::size_t line = 0;
  while (!csv.empty()) {
    const std::size_t end = std::min(csv.find('\n'), csv.size());
    const std::string_view text = csv.substr(0, end);
    csv.remove_prefix(std::min(end + 1, csv.size()));
    ++line;
    if (line > 1 && !text.empty()) models.push_back(parse_model(text, line));  // the first line names the columns
  }
  return models;
}

const std::vector<ModelSpec>& builtin_models() {
  static const std::vector<ModelSpec> models = parse_models(models_csv());
  return models;
}

namespace {

ModelSpec read_file(const std::string& path) { return is_checkpoint(path) ? read_checkpoint(path) : read_config(path); }

}  // namespace

ModelSpec find_model(const std::string& name_or_path) {
  const auto is_path = [&] {
    std::error_code error;
    return name_or_path.find('\0') == std::string::npos && std::filesystem::exists(name_or_path, error);
  };
  const bool has_slash = name_or_path.find('/') != std::string::npos;
  if (has_slash && is_path()) return read_file(name_or_path);
  if (const ModelSpec* model = find_builtin(name_or_path)) return *model;
  if (is_path()) return read_file(name_or_path);
  if (const auto count = bare_count(name_or_path)) return of_size(*count, name_or_path);
  refuse_name(name_or_path);
}

}  // namespace assay
