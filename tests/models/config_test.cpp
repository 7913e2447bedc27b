// Reading config.json: every type against published figures, and every way in which a file can be bad.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/error.h"
#include "core/models/model.h"

namespace assay {
namespace {

using testing::HasSubstr;

// Fields as the releases have them, without those that do not matter here, and the published number of parameters.
struct Released {
  const char* of;
  const char* json;
  std::int64_t parameters;
  std::int64_t kv_bytes_per_token;  // in 16 bits
};

const Released released[] = {
    {"Llama-3-8B",
     R"({"model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336, "num_attention_heads": 32,
         "num_hidden_layers": 32, "num_key_value_heads": 8, "vocab_size": 128256, "attention_bias": false,
         "max_position_embeddings": 8192, "tie_word_embeddings": false, "rope_scaling": null})",
     8030261248, 131072},
    {"Llama-3.2-1B",
     R"({"model_type": "llama", "hidden_size": 2048, "intermediate_size": 8192, "num_attention_heads": 32, "head_dim": 64,
         "num_hidden_layers": 16, "num_key_value_heads": 8, "vocab_size": 128256, "tie_word_embeddings": true})",
     1235814400, 32768},
    {"Llama-2-7B, which says nothing of KV heads",
     R"({"model_type": "llama", "hidden_size": 4096, "intermediate_size": 11008, "num_attention_heads": 32,
         "num_hidden_layers": 32, "vocab_size": 32000})",
     6738415616, 524288},
    {"Mixtral-8x7B",
     R"({"model_type": "mixtral", "hidden_size": 4096, "intermediate_size": 14336, "num_attention_heads": 32,
         "num_hidden_layers": 32, "num_key_value_heads": 8, "num_local_experts": 8, "num_experts_per_tok": 2,
         "vocab_size": 32000, "sliding_window": null, "tie_word_embeddings": false})",
     46702792704, 131072},
    {"Qwen2.5-7B",
     R"({"model_type": "qwen2", "hidden_size": 3584, "intermediate_size": 18944, "num_attention_heads": 28,
         "num_hidden_layers": 28, "num_key_value_heads": 4, "vocab_size": 152064, "max_window_layers": 28,
         "sliding_window": 131072, "use_sliding_window": false, "tie_word_embeddings": false})",
     7615616512, 57344},
    {"Qwen1.5-MoE-A2.7B",  // 14.3 B parameters, 2.7 B used, as its card says
     R"({"model_type": "qwen2_moe", "hidden_size": 2048, "intermediate_size": 5632, "num_attention_heads": 16,
         "num_hidden_layers": 24, "num_key_value_heads": 16, "vocab_size": 151936, "moe_intermediate_size": 1408,
         "shared_expert_intermediate_size": 5632, "num_experts": 60, "num_experts_per_tok": 4,
         "decoder_sparse_step": 1, "tie_word_embeddings": false})",
     14315784192, 196608},
    {"Qwen3-30B-A3B",
     R"({"model_type": "qwen3_moe", "hidden_size": 2048, "intermediate_size": 6144, "num_attention_heads": 32,
         "head_dim": 128, "num_hidden_layers": 48, "num_key_value_heads": 4, "vocab_size": 151936,
         "moe_intermediate_size": 768, "num_experts": 128, "num_experts_per_tok": 8, "decoder_sparse_step": 1,
         "mlp_only_layers": [], "tie_word_embeddings": false})",
     30532122624, 98304},
    {"Qwen3-8B",
     R"({"model_type": "qwen3", "hidden_size": 4096, "intermediate_size": 12288, "num_attention_heads": 32,
         "head_dim": 128, "num_hidden_layers": 36, "num_key_value_heads": 8, "vocab_size": 151936,
         "tie_word_embeddings": false})",
     8190735360, 147456},
    {"Qwen-7B, whose config states both widths together",
     R"({"model_type": "qwen", "hidden_size": 4096, "intermediate_size": 22016, "num_attention_heads": 32,
         "kv_channels": 128, "num_hidden_layers": 32, "vocab_size": 151936, "no_bias": true, "seq_length": 8192,
         "tie_word_embeddings": false})",
     7721324544, 524288},
    {"Gemma-2-9B",
     R"({"model_type": "gemma2", "hidden_size": 3584, "intermediate_size": 14336, "num_attention_heads": 16,
         "head_dim": 256, "num_hidden_layers": 42, "num_key_value_heads": 8, "vocab_size": 256000,
         "sliding_window": 4096})",
     9241705984, 344064},
    {"Gemma-7B, published as 8.54 B",
     R"({"model_type": "gemma", "hidden_size": 3072, "intermediate_size": 24576, "num_attention_heads": 16,
         "head_dim": 256, "num_hidden_layers": 28, "num_key_value_heads": 16, "vocab_size": 256000})",
     8537680896, 458752},
    {"Gemma-3-4B, nested, which leaves heads and vocabulary to the implementation",
     R"({"model_type": "gemma3", "vision_config": {"hidden_size": 1152}, "text_config": {"model_type": "gemma3_text",
         "hidden_size": 2560, "intermediate_size": 10240, "num_hidden_layers": 34, "sliding_window": 1024}})",
     // 262208 - 262144 = 64 rows of 2560 more than the 3,880,099,328 of the unpadded vocabulary.
     3880263168, 139264},
    {"Phi-2",
     R"({"model_type": "phi", "hidden_size": 2560, "intermediate_size": 10240, "num_attention_heads": 32,
         "num_hidden_layers": 32, "num_key_value_heads": 32, "vocab_size": 51200, "qk_layernorm": false,
         "tie_word_embeddings": false})",
     2779683840, 327680},
    {"Phi-3-mini",
     R"({"model_type": "phi3", "hidden_size": 3072, "intermediate_size": 8192, "num_attention_heads": 32,
         "num_hidden_layers": 32, "num_key_value_heads": 32, "vocab_size": 32064, "sliding_window": 2047})",
     3821079552, 393216},
    {"Falcon-7B",
     R"({"model_type": "falcon", "hidden_size": 4544, "num_attention_heads": 71, "num_hidden_layers": 32,
         "vocab_size": 65024, "multi_query": true, "parallel_attn": true, "bias": false, "alibi": false,
         "new_decoder_architecture": false})",
     6921720704, 8192},
    {"Falcon-40B",
     R"({"model_type": "falcon", "hidden_size": 8192, "num_attention_heads": 128, "num_hidden_layers": 60,
         "vocab_size": 65024, "num_kv_heads": 8, "bias": false, "new_decoder_architecture": true})",
     41303293952, 122880},
    {"GPT-2",
     R"({"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 1024, "n_ctx": 1024,
         "vocab_size": 50257})",
     124439808, 36864},
    {"SantaCoder",  // 1,124,886,528 with one KV head
     R"({"model_type": "gpt_bigcode", "n_embd": 2048, "n_layer": 24, "n_head": 16, "n_inner": 8192,
         "n_positions": 2048, "vocab_size": 49280, "multi_query": true})",
     1124886528, 12288},
    {"Pythia-6.9B",
     R"({"model_type": "gpt_neox", "hidden_size": 4096, "intermediate_size": 16384, "num_attention_heads": 32,
         "num_hidden_layers": 32, "vocab_size": 50432, "max_position_embeddings": 2048,
         "tie_word_embeddings": false})",
     6857302016, 524288},
    {"OLMo-2-7B",
     R"({"model_type": "olmo2", "hidden_size": 4096, "intermediate_size": 11008, "num_attention_heads": 32,
         "num_hidden_layers": 32, "num_key_value_heads": 32, "vocab_size": 100352, "attention_bias": false})",
     7298617344, 524288},
    {"OLMo-1B, published as 1,176,764,416",
     R"({"model_type": "olmo", "hidden_size": 2048, "intermediate_size": 8192, "num_attention_heads": 16,
         "num_hidden_layers": 16, "num_key_value_heads": 16, "vocab_size": 50304, "tie_word_embeddings": true})",
     1176764416, 131072},
    {"OLMoE-1B-7B, published as 6.92 B",
     R"({"model_type": "olmoe", "hidden_size": 2048, "intermediate_size": 1024, "num_attention_heads": 16,
         "num_hidden_layers": 16, "num_key_value_heads": 16, "vocab_size": 50304, "num_experts": 64,
         "num_experts_per_tok": 8, "tie_word_embeddings": false})",
     6919161856, 131072},
    {"MPT-7B",
     R"({"model_type": "mpt", "d_model": 4096, "n_layers": 32, "n_heads": 32, "expansion_ratio": 4, "max_seq_len": 2048,
         "vocab_size": 50432, "no_bias": true, "learned_pos_emb": true, "attn_config": {"alibi": true,
         "attn_type": "multihead_attention", "qk_ln": false}})",
     6649286656, 524288},
    {"BLOOM-560M, published as 559,214,592",
     R"({"model_type": "bloom", "n_embed": 1024, "n_layer": 24, "num_attention_heads": 16, "vocab_size": 250880})",
     559214592, 98304},
    {"OPT-125M, published as 125,239,296",
     R"({"model_type": "opt", "hidden_size": 768, "ffn_dim": 3072, "num_attention_heads": 12, "num_hidden_layers": 12,
         "vocab_size": 50272, "max_position_embeddings": 2048, "word_embed_proj_dim": 768,
         "do_layer_norm_before": true})",
     125239296, 36864},
    {"StarCoder2-3B, published as 3,030,371,328",
     R"({"model_type": "starcoder2", "hidden_size": 3072, "intermediate_size": 12288, "num_attention_heads": 24,
         "num_hidden_layers": 30, "num_key_value_heads": 2, "vocab_size": 49152, "use_bias": true,
         "sliding_window": 4096})",
     3030371328, 30720},
    {"StableLM-2-1.6B, published as 1,644,515,328",
     R"({"model_type": "stablelm", "hidden_size": 2048, "intermediate_size": 5632, "num_attention_heads": 32,
         "num_hidden_layers": 24, "num_key_value_heads": 32, "vocab_size": 100352, "use_qkv_bias": true,
         "tie_word_embeddings": false})",
     1644515328, 196608},
    {"Command R, published as 34,980,831,232",
     R"({"model_type": "cohere", "hidden_size": 8192, "intermediate_size": 22528, "num_attention_heads": 64,
         "num_hidden_layers": 40, "num_key_value_heads": 64, "vocab_size": 256000, "use_qk_norm": false})",
     34980831232, 1310720},
    {"DeepSeek-V2-Lite, published as 15,706,484,224",
     R"({"model_type": "deepseek_v2", "hidden_size": 2048, "intermediate_size": 10944, "num_attention_heads": 16,
         "num_key_value_heads": 16, "num_hidden_layers": 27, "vocab_size": 102400, "q_lora_rank": null,
         "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
         "n_routed_experts": 64, "n_shared_experts": 2, "num_experts_per_tok": 6, "moe_intermediate_size": 1408,
         "moe_layer_freq": 1, "first_k_dense_replace": 1, "topk_method": "greedy", "tie_word_embeddings": false})",
     15706484224, 31104},
    {"DeepSeek-V3",
     R"({"model_type": "deepseek_v3", "hidden_size": 7168, "intermediate_size": 18432, "num_attention_heads": 128,
         "num_key_value_heads": 128, "num_hidden_layers": 61, "vocab_size": 129280, "q_lora_rank": 1536,
         "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
         "n_routed_experts": 256, "n_shared_experts": 1, "num_experts_per_tok": 8, "moe_intermediate_size": 2048,
         "moe_layer_freq": 1, "first_k_dense_replace": 3, "topk_method": "noaux_tc", "num_nextn_predict_layers": 1})",
     671026419200, 70272},
    {"gpt-oss-20b",
     R"({"model_type": "gpt_oss", "hidden_size": 2880, "intermediate_size": 2880, "num_attention_heads": 64,
         "head_dim": 64, "num_key_value_heads": 8, "num_hidden_layers": 24, "vocab_size": 201088,
         "num_local_experts": 32, "num_experts_per_tok": 4, "sliding_window": 128, "attention_bias": true,
         "tie_word_embeddings": false})",
     20914757184, 49152},
    {"BERT-base",
     R"({"model_type": "bert", "hidden_size": 768, "intermediate_size": 3072, "num_attention_heads": 12,
         "num_hidden_layers": 12, "vocab_size": 30522, "max_position_embeddings": 512, "type_vocab_size": 2})",
     109482240, 0},
    {"Granite-3.0-2B, published as 2,533,531,648",
     R"({"model_type": "granite", "hidden_size": 2048, "intermediate_size": 8192, "num_attention_heads": 32,
         "num_hidden_layers": 40, "num_key_value_heads": 8, "vocab_size": 49155, "attention_bias": false,
         "mlp_bias": false, "tie_word_embeddings": true})",
     2533531648, 81920},
};

TEST(Config, OfEveryKnownTypeGivesThePublishedParameters) {
  for (const Released& release : released) {
    const ModelSpec model = parse_config(release.json, release.of);
    EXPECT_EQ(parameters(model), release.parameters) << release.of;
    EXPECT_EQ(kv_bytes_per_token(model, 16), release.kv_bytes_per_token) << release.of;
  }
}

TEST(Config, CoversEveryTypeThatIsSaidToBeKnown) {
  std::string all;
  for (const Released& release : released) all += release.json;
  all += R"("model_type": "mistral")";  // below
  for (const KnownType& type : known_types()) {
    EXPECT_THAT(all, HasSubstr("\"model_type\": \"" + type.name + "\""));
    EXPECT_FALSE(type.says.empty()) << type.name;
  }
}

std::string mistral(const std::string& more) {
  return R"({"model_type": "mistral", "hidden_size": 4096, "intermediate_size": 14336, "num_attention_heads": 32,
             "num_hidden_layers": 32, "num_key_value_heads": 8, "vocab_size": 32000)" +
         more + "}";
}

TEST(Config, OfMistralHasAWindowUnlessItSaysNull) {
  EXPECT_EQ(parse_config(mistral(R"(, "sliding_window": 1000)"), "c").window, 1000);
  EXPECT_EQ(parse_config(mistral(""), "c").window, 4096);  // what the implementation fills in
  EXPECT_EQ(parse_config(mistral(R"(, "sliding_window": null)"), "c").window, std::nullopt);
  EXPECT_EQ(parameters(parse_config(mistral(""), "c")), 7241732096);
}

TEST(Config, CountsTheWindowedLayersOfLayerTypes) {
  const std::string three = R"({"model_type": "qwen3", "hidden_size": 64, "intermediate_size": 128, "head_dim": 16,
      "num_attention_heads": 4, "num_key_value_heads": 2, "num_hidden_layers": 3, "vocab_size": 100,
      "use_sliding_window": true, "sliding_window": 8, "layer_types": )";
  const ModelSpec model = parse_config(three + R"(["sliding_attention", "full_attention", "sliding_attention"]})", "c");
  EXPECT_EQ(windowed_layers(model), 2);
  EXPECT_THROW(parse_config(three + R"(["full_attention"]})", "c"), BadInput);
  EXPECT_THROW(parse_config(three + R"(["full_attention", "full_attention", "linear_attention"]})", "c"), BadInput);
}

TEST(Config, OfQwen2HasItsWindowFromALayerOn) {
  const ModelSpec model = parse_config(
      R"({"model_type": "qwen2", "hidden_size": 64, "intermediate_size": 128, "num_attention_heads": 4,
          "num_key_value_heads": 2, "num_hidden_layers": 30, "vocab_size": 100, "use_sliding_window": true,
          "sliding_window": 8, "max_window_layers": 21})",
      "c");
  EXPECT_EQ(windowed_layers(model), 9);
}

std::string refusal(const std::string& json) {
  try {
    parse_config(json, "some/config.json");
  } catch (const BadInput& error) {
    return error.what();
  }
  return "was taken";
}

std::string llama_with(const std::string& field, const std::string& value) {
  std::string json = R"({"model_type": "llama")";
  for (const auto& [name, usual] : std::vector<std::pair<std::string, std::string>>{{"hidden_size", "64"},
                                                                                    {"intermediate_size", "128"},
                                                                                    {"num_attention_heads", "4"},
                                                                                    {"num_hidden_layers", "2"},
                                                                                    {"vocab_size", "100"},
                                                                                    {"num_key_value_heads", "2"},
                                                                                    {"tie_word_embeddings", "false"}}) {
    const std::string& written = name == field ? value : usual;
    if (!written.empty()) json += ", \"" + name + "\": " + written;
  }
  return json + "}";
}

TEST(BadConfig, IsRefusedWithPathFieldWhatWasFoundAndWhatWasExpected) {
  ASSERT_EQ(refusal(llama_with("", "")), "was taken");
  EXPECT_EQ(refusal(llama_with("hidden_size", "-4")),
            "some/config.json: hidden_size is -4; expected a whole number from 1 to 100000000");
  for (const char* field : {"hidden_size", "intermediate_size", "num_attention_heads", "num_hidden_layers",
                            "vocab_size", "num_key_value_heads"}) {
    for (const char* value : {"0", "-1", "true", "\"64\"", "64.5", "1e30", "1000000000", "[]", "{}", "[64]",
                              "99999999999999999999", "-9223372036854775808"}) {
      const std::string said = refusal(llama_with(field, value));
      EXPECT_THAT(said, HasSubstr(std::string("some/config.json: ") + field)) << value;
      EXPECT_THAT(said, HasSubstr("expected a whole number")) << value;
    }
  }
  for (const char* field :
       {"hidden_size", "intermediate_size", "num_attention_heads", "num_hidden_layers", "vocab_size"})
    for (const char* value : {"", "null"}) EXPECT_THAT(refusal(llama_with(field, value)), HasSubstr(field)) << value;
  EXPECT_THAT(refusal(llama_with("tie_word_embeddings", "1")), HasSubstr("expected true or false"));
  EXPECT_THAT(refusal(llama_with("num_key_value_heads", "3")), HasSubstr("a divisor of the 4 heads"));
  EXPECT_THAT(refusal(llama_with("num_attention_heads", "6")), HasSubstr("a divisor of the hidden size 64"));
}

TEST(BadConfig, WithSizesThatAreHugeTogetherIsRefused) {
  EXPECT_THAT(refusal(R"({"model_type": "llama", "hidden_size": 100000000, "intermediate_size": 100000000,
                          "num_attention_heads": 1, "num_hidden_layers": 100000000, "vocab_size": 100000000})"),
              HasSubstr("too large together"));
}

TEST(BadConfig, ThatIsNoJsonIsRefusedWithThePlace) {
  for (const std::string& json :
       {std::string(), std::string("{"), std::string("{\"model_type\": \"llama\", "), std::string("{\0}", 3),
        std::string("\xff\xfe"), std::string("{\"hidden_size\": NaN}"), std::string("{\"a\": Infinity}"),
        std::string("{} x"), std::string("{'a': 1}")})
    EXPECT_THAT(refusal(json), HasSubstr("not valid JSON at byte")) << json;
  EXPECT_THAT(refusal("{\"hidden_size\": 3e3333333}"), HasSubstr("no computer number can hold"));
  for (const char* json : {"[]", "3", "null", "\"llama\"", "true"})
    EXPECT_THAT(refusal(json), HasSubstr("expected an object")) << json;
}

TEST(BadConfig, NestedWithoutEndIsRefused) {
  EXPECT_THAT(refusal(std::string(100000, '[')), HasSubstr("nested deeper than 64"));
  std::string objects;
  for (int depth = 0; depth < 1000; ++depth) objects += "{\"a\":";
  EXPECT_THAT(refusal(objects), HasSubstr("nested deeper than 64"));
}

TEST(BadConfig, OfAnUnknownTypeIsRefusedWithTheNearest) {
  const std::string said = refusal(R"({"model_type": "lama", "hidden_size": 64})");
  EXPECT_THAT(said, HasSubstr("model_type is \"lama\""));
  EXPECT_THAT(said, HasSubstr("llama"));
  EXPECT_THAT(refusal(R"({"hidden_size": 64})"), HasSubstr("model_type is missing"));
  EXPECT_THAT(refusal(R"({"model_type": 7})"), HasSubstr("model_type is 7; expected a text"));
  EXPECT_THAT(refusal(R"({"model_type": "gemma3"})"), HasSubstr("text_config is missing"));
  EXPECT_THAT(refusal(R"({"model_type": "gemma3", "text_config": 3})"), HasSubstr("text_config is 3"));
  const std::string escaped = refusal("{\"model_type\": \"\\u001b[31m\"}");
  EXPECT_EQ(escaped.find('\x1b'), std::string::npos);
}

TEST(BadConfig, OfExpertsThatCannotBeIsRefused) {
  EXPECT_THAT(refusal(R"({"model_type": "mixtral", "hidden_size": 64, "intermediate_size": 128,
                          "num_attention_heads": 4, "num_key_value_heads": 2, "num_hidden_layers": 2,
                          "vocab_size": 100, "num_local_experts": 2, "num_experts_per_tok": 3})"),
              HasSubstr("no more than the 2 experts"));
}

class ConfigFile : public testing::Test {
 protected:
  ConfigFile() : folder_(std::filesystem::temp_directory_path() / ("assay-config-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_ / "my-model");
  }
  ~ConfigFile() override { std::filesystem::remove_all(folder_); }

  void write(const std::filesystem::path& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  std::string refusal(const std::filesystem::path& name) const {
    try {
      read_config(folder_ / name);
    } catch (const BadInput& error) {
      return error.what();
    }
    return "was taken";
  }

  std::filesystem::path folder_;
};

TEST_F(ConfigFile, IsReadFromAFolderOrByItsOwnName) {
  write("my-model/config.json", llama_with("", ""));
  EXPECT_EQ(find_model((folder_ / "my-model").string()).title, "my-model");
  EXPECT_EQ(find_model((folder_ / "my-model" / "").string()).title, "my-model");
  EXPECT_EQ(find_model((folder_ / "my-model/config.json").string()).title, "my-model");
  write("small.json", llama_with("", ""));
  EXPECT_EQ(find_model((folder_ / "small.json").string()).title, "small");
}

TEST_F(ConfigFile, ThatCannotBeReadIsRefusedWithItsPath) {
  EXPECT_THAT(refusal("none.json"), HasSubstr("none.json: no such file"));
  EXPECT_THAT(refusal("my-model"), HasSubstr("holds no config.json"));
  std::filesystem::create_directories(folder_ / "odd/config.json");
  EXPECT_THAT(refusal("odd"), HasSubstr("not a regular file"));
  write("empty.json", "");
  EXPECT_THAT(refusal("empty.json"), HasSubstr("not valid JSON"));
  EXPECT_THROW(read_config("/dev/zero"), BadInput);
}

TEST_F(ConfigFile, OfTenGigabytesIsRefusedBeforeItIsRead) {
  write("huge.json", "{");
  std::filesystem::resize_file(folder_ / "huge.json", 10'000'000'000);  // sparse: takes no space
  EXPECT_THAT(refusal("huge.json"), HasSubstr("10000000000 bytes; a config.json has at most"));
}

}  // namespace
}  // namespace assay
