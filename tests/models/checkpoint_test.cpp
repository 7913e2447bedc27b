// Headers of checkpoints, made by hand.
// SPDX-License-Identifier: Apache-2.0
#include "core/models/checkpoint.h"

#include <gtest/gtest.h>

#include <fstream>

#include "core/error.h"
#include "tests/run_program.h"

namespace assay {
namespace {

// The parts of a GGUF header, lowest byte first.
class Bytes {
 public:
  Bytes& number(std::uint64_t value, int width) {
    for (int i = 0; i < width; ++i) text_ += static_cast<char>(value >> (8 * i) & 0xFFU);
    return *this;
  }
  Bytes& word(const std::string& word) {
    number(word.size(), 8);
    text_ += word;
    return *this;
  }
  Bytes& raw(const std::string& bytes) {
    text_ += bytes;
    return *this;
  }
  Bytes& count(const std::string& key, std::uint64_t value) { return word(key).number(4, 4).number(value, 4); }
  Bytes& tensor(const std::string& name, std::uint64_t columns, std::uint64_t rows, std::uint32_t type) {
    return word(name).number(2, 4).number(columns, 8).number(rows, 8).number(type, 4).number(0, 8);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// Two layers of 64, four heads, a vocabulary of 96; the embedding in F16, one matrix in Q4_K (144 bytes for 256
// numbers).
std::string small_gguf() {
  Bytes bytes;
  bytes.raw("GGUF").number(3, 4).number(2, 8).number(7, 8);
  bytes.word("general.architecture").number(8, 4).word("llama");
  bytes.count("llama.block_count", 2).count("llama.embedding_length", 64).count("llama.feed_forward_length", 256);
  bytes.count("llama.attention.head_count", 4).count("llama.attention.head_count_kv", 2);
  bytes.word("tokenizer.ggml.tokens").number(9, 4).number(8, 4).number(2, 8).word("a").word("b");
  bytes.tensor("token_embd.weight", 64, 96, 1).tensor("blk.0.ffn_up.weight", 64, 256, 12);
  return bytes.text();
}

TEST(Checkpoint, ReadsShapeAndBytesOfAGguf) {
  const ModelSpec model = parse_gguf(small_gguf(), "small.gguf");
  EXPECT_EQ(model.type, "llama");
  EXPECT_EQ(model.layers, 2);
  EXPECT_EQ(model.hidden, 64);
  EXPECT_EQ(model.kv_heads, 2);
  EXPECT_EQ(model.head_size, 16);
  EXPECT_EQ(model.vocabulary, 96);
  EXPECT_TRUE(model.tied_embeddings) << "it has no output.weight";
  EXPECT_EQ(model.stored_bytes, 64 * 96 * 2 + 64 * 256 / 256 * 144);
}

TEST(Checkpoint, RefusesAGgufThatIsCutAnywhere) {
  const std::string whole = small_gguf();
  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_THROW(parse_gguf(std::string_view(whole).substr(0, length), "cut"), BadInput) << length;
}

TEST(Checkpoint, RefusesWhatNoGgufCanHold) {
  const auto refused = [](Bytes bytes) { EXPECT_THROW(parse_gguf(bytes.text(), "bad"), BadInput); };
  refused(Bytes().raw("GGUF").number(9, 4).number(0, 8).number(0, 8));
  refused(Bytes().raw("GGUF").number(3, 4).number(~0ULL, 8).number(0, 8));
  refused(Bytes().raw("GGUF").number(3, 4).number(0, 8).number(1, 8).number(~0ULL, 8));
  refused(Bytes().raw("GGUF").number(3, 4).number(1, 8).number(0, 8).tensor("t", 1ULL << 60U, 1ULL << 60U, 0));
  refused(Bytes().raw("GGUF").number(3, 4).number(1, 8).number(0, 8).tensor("t", 64, 64, 4711));
}

TEST(Checkpoint, AddsUpTheTensorsOfSafetensors) {
  const StoredTensors stored = parse_safetensors(
      R"({"__metadata__":{"format":"pt"},"a":{"dtype":"BF16","shape":[2,3],"data_offsets":[0,12]},
          "b":{"dtype":"F32","shape":[4],"data_offsets":[12,28]}})",
      "x.safetensors");
  EXPECT_EQ(stored.bytes, 28);
  EXPECT_EQ(stored.tensors, 2);
  EXPECT_EQ(parse_safetensors(R"({"metadata":{"total_size":123},"weight_map":{"a":"1","b":"2"}})", "i").bytes, 123);
}

TEST(Checkpoint, RefusesSafetensorsThatLie) {
  for (const char* bad : {"", "[]", "{}", R"({"a":1})", R"({"a":{"data_offsets":[5,2]}})",
                          R"({"a":{"data_offsets":[0,-1]}})", R"({"a":{"data_offsets":[0,1e300]}})",
                          R"({"weight_map":{}})", R"({"metadata":{"total_size":"x"},"weight_map":{}})"})
    EXPECT_THROW(parse_safetensors(bad, "bad"), BadInput) << bad;
}

TEST(Checkpoint, FindsAModelByItsFile) {
  TemporaryFolder folder;
  std::ofstream(folder.path() / "small.gguf", std::ios::binary) << small_gguf();
  EXPECT_EQ(find_model((folder.path() / "small.gguf").string()).stored_bytes, 64 * 96 * 2 + 64 * 256 / 256 * 144);

  const std::string header = R"({"a":{"dtype":"BF16","shape":[6],"data_offsets":[0,12]}})";
  const auto file = folder.path() / "model.safetensors";
  std::ofstream(file, std::ios::binary) << Bytes().number(header.size(), 8).raw(header).text() << "123456789012";
  EXPECT_THROW(find_model(file.string()), BadInput) << "no config.json beside it";
  std::ofstream(folder.path() / "config.json")
      << R"({"model_type":"llama","num_hidden_layers":2,"hidden_size":64,"intermediate_size":128,"num_attention_heads":4,)"
         R"("num_key_value_heads":2,"vocab_size":96,"max_position_embeddings":128,"rms_norm_eps":1e-5,"tie_word_embeddings":true})";
  EXPECT_EQ(find_model(file.string()).stored_bytes, 12);
  std::ofstream(file, std::ios::binary) << Bytes().number(1ULL << 60U, 8).raw(header).text();
  EXPECT_THROW(find_model(file.string()), BadInput);
}

}  // namespace
}  // namespace assay
