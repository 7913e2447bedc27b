// What a model is made of: the numbers that decide its parameters, memory and work.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

enum class ModelKind : std::uint8_t { decoder, encoder, convolution };
enum class MlpKind : std::uint8_t { gated, plain };  // three matrices (SwiGLU, GeGLU), or two (GELU)
enum class NormStyle : std::uint8_t { rms, layer };
enum class PositionKind : std::uint8_t { rotary, learned, alibi, none };

// Multi-head latent attention: one latent row a token is cached, not keys and values.
struct LatentAttention {
  std::int64_t query_rank = 0;  // 0: queries are not compressed
  std::int64_t kv_rank = 0;
  std::int64_t nope_head = 0;
  std::int64_t rope_head = 0;
  std::int64_t value_head = 0;
};

struct Experts {
  std::int64_t count = 0;
  std::int64_t active = 0;        // experts a token uses
  std::int64_t shared = 0;        // always used
  std::int64_t width = 0;         // feed-forward width of one
  std::int64_t dense_layers = 0;  // leading layers with a plain feed-forward
  bool router_bias = false;
  bool bias = false;              // on the matrices of the experts
  std::int64_t shared_width = 0;  // of all shared experts together; 0: shared x width
  bool shared_gate = false;       // one weight vector that gates the shared experts
};

struct ModelSpec {
  std::string name;   // "llama-3-8b"
  std::string title;  // "Llama-3-8B"
  std::string type;   // Hugging Face model_type: "llama"
  ModelKind kind = ModelKind::decoder;
  std::int64_t layers = 0, hidden = 0, heads = 0, kv_heads = 0, head_size = 0, feed_forward = 0, vocabulary = 0;
  std::int64_t context = 0;  // 0: not stated
  bool tied_embeddings = false;
  MlpKind mlp = MlpKind::gated;
  NormStyle norm = NormStyle::rms;
  PositionKind position = PositionKind::rotary;
  std::int64_t positions = 0;   // rows of a learned position table
  bool attention_bias = false;  // on q, k, v
  bool output_bias = false;     // on the attention output
  bool mlp_bias = false;
  bool query_key_norm = false;
  bool query_key_norm_full = false;  // over all heads together, not one head's width
  bool sinks = false;                // one learned attention sink a head
  bool norm_bias = true;             // layer norms have a bias beside the weight
  bool final_norm = true;            // a norm after the last layer
  bool embedding_norm = false;       // a norm after the embedding
  std::int64_t token_types = 0;      // rows of a token type table (bert)
  bool pooler = false;               // a dense layer on the first token (bert)
  int norms_per_layer = 2;
  bool head_bias = false;                       // bias on the output projection (phi)
  std::optional<std::int64_t> window;           // sliding window, tokens
  int window_every = 1;                         // of this many layers, all but one have the window (1: all layers)
  std::optional<std::int64_t> windowed_layers;  // where the config counts them itself; else from window_every
  std::optional<LatentAttention> latent;
  std::optional<Experts> experts;
  std::vector<std::int64_t> stages;   // convolution: bottleneck blocks a stage; vocabulary is the number of classes
  std::int64_t extra_parameters = 0;  // anything the fields above do not make, explained in `note`
  std::optional<std::int64_t> published_parameters;
  std::optional<std::int64_t> stored_bytes;  // of the checkpoint's tensors, as its header says
  bool assumed_shape = false;                // only the number of parameters is known
  std::string source;                        // the repository whose config carries these numbers
  std::string note;
};

// One line of a parameter count: what, how many, and the formula in words with numbers.
struct ParameterItem {
  std::string name;
  std::int64_t count = 0;
  std::string formula;        // "32 layers x (4096 x 4096 x 2 + 4096 x 1024 x 2)"
  bool layer_matrix = false;  // a large matrix of a layer: what weight formats below 16 bits apply to
};
std::vector<ParameterItem> parameter_items(const ModelSpec& model);
std::int64_t parameters(const ModelSpec& model);
std::int64_t active_parameters(const ModelSpec& model);  // used for one token

// Bytes of cache for one token over all layers, before windows cap it; `bits` of one cached number.
std::int64_t kv_bytes_per_token(const ModelSpec& model, int bits);
// Bytes of cache for one sequence of `length`, windows applied.
std::int64_t kv_bytes(const ModelSpec& model, std::int64_t length, int bits);

// Layers that see no more than `window` tokens.
std::int64_t windowed_layers(const ModelSpec& model);

// One convolution of a residual network with the batch norm behind it.
struct Convolution {
  std::string name;
  std::int64_t input = 0, output = 0;  // channels
  std::int64_t kernel = 1, stride = 1;
  std::int64_t side = 0;  // height and width of what comes out
};
// All convolutions of a ModelKind::convolution in order, for square pictures of `side` pixels (224).
std::vector<Convolution> convolutions(const ModelSpec& model, std::int64_t side = 224);

// The table that ships with the program.
const std::vector<ModelSpec>& builtin_models();

// A built-in name (any case, with or without the maker), or a config.json, or a folder that holds one. Throws BadInput:
// unknown name with the nearest ones; unknown model_type; a field missing, negative, huge or not a number, with the
// path and the field.
ModelSpec find_model(const std::string& name_or_path);

// Hugging Face config.json.
ModelSpec read_config(const std::filesystem::path& path);

// The same from text already in memory; `where` names it in messages.
ModelSpec parse_config(std::string_view json, const std::string& where);

// The model_types that read_config knows, each with what it takes for granted.
struct KnownType {
  std::string name;
  std::string says;
};
std::vector<KnownType> known_types();

}  // namespace assay
