// Headers of GGUF files: key and value pairs, then the tensors' names, shapes and kinds.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <vector>

#include "core/error.h"
#include "core/models/checkpoint.h"
#include "core/models/config_types.h"

namespace assay {
namespace {

constexpr std::uint64_t most_entries = 1'000'000, most_letters = 1U << 20U, most_elements = 50'000'000;
constexpr std::int64_t most_bytes = std::int64_t{1} << 50U;

// Numbers in a block of each kind and its bytes (ggml's block layouts), by ggml_type.
struct Block {
  std::uint32_t type;
  std::int64_t numbers, bytes;
};
constexpr std::array<Block, 29> blocks = {
    {{0, 1, 4},      {1, 1, 2},      {2, 32, 18},   {3, 32, 20},    {6, 32, 22},    {7, 32, 24},
     {8, 32, 34},    {9, 32, 36},    {10, 256, 84}, {11, 256, 110}, {12, 256, 144}, {13, 256, 176},
     {14, 256, 210}, {15, 256, 292}, {16, 256, 66}, {17, 256, 74},  {18, 256, 98},  {19, 256, 50},
     {20, 32, 18},   {21, 256, 110}, {22, 256, 82}, {23, 256, 136}, {24, 1, 1},     {25, 1, 2},
     {26, 1, 4},     {27, 1, 8},     {28, 1, 8},    {29, 256, 56},  {30, 1, 2}}};

enum class Value : std::uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, text, array, u64, i64, f64 };

class Cursor {
 public:
  Cursor(std::string_view bytes, const std::string& where) : bytes_(bytes), where_(where) {}

  std::uint64_t number(std::size_t width) {
    need(width);
    std::uint64_t value = 0;
    for (std::size_t i = width; i-- > 0;) value = value << 8U | static_cast<unsigned char>(bytes_[at_ + i]);
    at_ += width;
    return value;
  }
  std::string text() {
    const std::uint64_t length = number(8);
    if (length > most_letters) refuse("a text of " + std::to_string(length) + " bytes");
    need(length);
    std::string value(bytes_.substr(at_, length));
    at_ += length;
    return value;
  }
  void skip(std::uint64_t length) {
    need(length);
    at_ += length;
  }
  [[noreturn]] void refuse(const std::string& what) const {
    throw BadInput(where_ + ": " + what + " at byte " + std::to_string(at_) + "; it is no whole GGUF file");
  }

 private:
  void need(std::uint64_t length) const {
    if (length > bytes_.size() - at_) refuse("cut short");
  }
  std::string_view bytes_;
  std::string where_;
  std::size_t at_ = 0;
};

std::size_t width_of(Value kind, const Cursor& cursor) {
  switch (kind) {
    case Value::u8:
    case Value::i8:
    case Value::boolean:
      return 1;
    case Value::u16:
    case Value::i16:
      return 2;
    case Value::u32:
    case Value::i32:
    case Value::f32:
      return 4;
    case Value::u64:
    case Value::i64:
    case Value::f64:
      return 8;
    case Value::text:
    case Value::array:
      break;
  }
  cursor.refuse("a value of an unknown kind");
}

struct Metadata {
  std::map<std::string, std::uint64_t> numbers;
  std::map<std::string, std::string> texts;
};

void take_array(Cursor& cursor) {
  const auto kind = static_cast<Value>(cursor.number(4));
  const std::uint64_t length = cursor.number(8);
  if (length > most_elements) cursor.refuse("an array of " + std::to_string(length) + " values");
  if (kind == Value::text)
    for (std::uint64_t i = 0; i < length; ++i) cursor.text();
  else if (kind == Value::array)
    cursor.refuse("an array of arrays");
  else
    cursor.skip(length * width_of(kind, cursor));
}

Metadata read_metadata(Cursor& cursor, std::uint64_t count) {
  Metadata found;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string key = cursor.text();
    const auto kind = static_cast<Value>(cursor.number(4));
    if (kind == Value::text) {
      found.texts[key] = cursor.text();
    } else if (kind == Value::array) {
      take_array(cursor);
    } else if (kind == Value::f32 || kind == Value::f64) {
      cursor.skip(width_of(kind, cursor));
    } else {
      found.numbers[key] = cursor.number(width_of(kind, cursor));
    }
  }
  return found;
}

struct Tensors {
  std::int64_t bytes = 0, vocabulary = 0;
  bool head = false;
};

void take_tensor(Cursor& cursor, Tensors& tensors) {
  const std::string name = cursor.text();
  const std::uint64_t dimensions = cursor.number(4);
  if (dimensions < 1 || dimensions > 4) cursor.refuse("a tensor of " + std::to_string(dimensions) + " dimensions");
  std::int64_t numbers = 1, last = 0;
  for (std::uint64_t i = 0; i < dimensions; ++i) {
    const std::uint64_t size = cursor.number(8);
    if (size == 0 || size > static_cast<std::uint64_t>(most_bytes / numbers)) cursor.refuse("a tensor of no such size");
    last = static_cast<std::int64_t>(size);
    numbers *= last;
  }
  const auto type = static_cast<std::uint32_t>(cursor.number(4));
  cursor.skip(8);  // where its data lie
  for (const Block& block : blocks) {
    if (block.type != type) continue;
    tensors.bytes += (numbers + block.numbers - 1) / block.numbers * block.bytes;
    if (tensors.bytes > most_bytes) cursor.refuse("tensors larger than any model");
    if (name == "token_embd.weight") tensors.vocabulary = last;
    if (name == "output.weight") tensors.head = true;
    return;
  }
  cursor.refuse("a tensor in the number format " + std::to_string(type) + ", which is not known here,");
}

// GGUF's names for what model_types are called elsewhere; what is not here is the same in both.
std::string model_type(const std::string& architecture) {
  return architecture == "gptneox" ? "gpt_neox" : architecture;
}

}  // namespace

ModelSpec parse_gguf(std::string_view bytes, const std::string& where) {
  Cursor cursor(bytes, where);
  if (bytes.substr(0, 4) != "GGUF") throw BadInput(where + ": does not begin as a GGUF file does");
  cursor.skip(4);
  const std::uint64_t version = cursor.number(4);
  if (version != 2 && version != 3)
    throw BadInput(where + ": GGUF version " + std::to_string(version) + "; versions 2 and 3 can be read");
  const std::uint64_t tensor_count = cursor.number(8), pairs = cursor.number(8);
  if (tensor_count > most_entries || pairs > most_entries) cursor.refuse("more entries than any model has");
  const Metadata metadata = read_metadata(cursor, pairs);
  Tensors tensors;
  for (std::uint64_t i = 0; i < tensor_count; ++i) take_tensor(cursor, tensors);

  const auto named = metadata.texts.find("general.architecture");
  if (named == metadata.texts.end()) throw BadInput(where + ": does not say its general.architecture");
  const auto number = [&](const std::string& key, std::optional<std::int64_t> otherwise) -> std::int64_t {
    const auto found = metadata.numbers.find(named->second + "." + key);
    if (found == metadata.numbers.end() && otherwise) return *otherwise;
    constexpr std::uint64_t most = 1U << 30U;
    if (found == metadata.numbers.end() || found->second == 0 || found->second > most)
      throw BadInput(where + ": " + named->second.substr(0, 40) + "." + key + " is missing or no sensible number");
    return static_cast<std::int64_t>(found->second);
  };
  ModelSpec model = type_traits(model_type(named->second));
  model.layers = number("block_count", {});
  model.hidden = number("embedding_length", {});
  model.feed_forward = number("feed_forward_length", {});
  model.heads = number("attention.head_count", {});
  model.kv_heads = number("attention.head_count_kv", model.heads);
  model.head_size = number("attention.key_length", model.hidden / model.heads);
  model.context = number("context_length", 0);
  if (metadata.numbers.count(named->second + ".expert_count") > 0 &&
      metadata.numbers.at(named->second + ".expert_count") > 0)
    throw BadInput(where + ": a model with experts; give its config.json instead");
  if (tensors.vocabulary <= 0) throw BadInput(where + ": has no tensor token_embd.weight");
  model.vocabulary = tensors.vocabulary;
  model.tied_embeddings = !tensors.head;
  if (model.position == PositionKind::learned) model.positions = model.context;
  model.stored_bytes = tensors.bytes;
  return model;
}

}  // namespace assay
