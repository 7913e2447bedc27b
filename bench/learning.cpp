// The byte model, its text, and the loop over its steps.
// SPDX-License-Identifier: Apache-2.0
#include "bench/learning.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <numeric>

#include "core/error.h"
#include "core/fill.h"

namespace assay {

namespace {

std::vector<std::byte> stored(const std::vector<std::int32_t>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(std::int32_t));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

}  // namespace

std::string licence_text(const std::filesystem::path& folder) {
  for (const char* name : {"GPL-3", "Apache-2.0", "GPL-2", "LGPL-2.1"}) {
    std::ifstream file(folder / name, std::ios::binary);
    std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    if (text.size() > 8192) return text;
  }
  throw Unsupported("there is no licence text in " + folder.string() + " that a model could learn from");
}

ModelSpec byte_model() {
  ModelSpec model;
  model.name = "bytes";
  model.type = "gpt2";
  model.layers = 2;
  model.hidden = 64;
  model.heads = model.kv_heads = 4;
  model.head_size = 16;
  model.feed_forward = 256;
  model.vocabulary = 256;
  model.tied_embeddings = true;
  model.mlp = MlpKind::plain;
  model.norm = NormStyle::layer;
  model.position = PositionKind::learned;
  model.positions = 64;
  model.attention_bias = model.output_bias = model.mlp_bias = true;
  return model;
}

StepSetup byte_setup(const std::string& precision) {
  StepSetup setup;
  setup.batch = 8;
  setup.length = 64;
  setup.learning_rate = 4e-3;
  setup.warmup = 10;
  setup.compute = {Element::fp32, Scaling::none};
  if (precision == "fp32") return setup;
  if (precision == "tf32") {
    setup.compute = {Element::tf32, Scaling::none};
  } else if (precision == "bf16") {
    setup.compute = {Element::bf16, Scaling::none};
  } else if (precision == "fp16") {
    setup.compute = {Element::fp16, Scaling::none};
    setup.loss_scaling = true;
  } else if (precision == "fp8") {
    setup.compute = {Element::bf16, Scaling::none};
    setup.fp8 = true;
  } else {
    throw Error("there is no way to train in '" + precision + "'");
  }
  return setup;
}

std::vector<double> learn(const TrainingStep& step, Program& program, const std::string& text, int steps,
                          std::uint64_t seed) {
  program.fill(Pattern::typical, seed);
  std::vector<double> curve;
  for (int number = 0; number < steps; ++number) {
    for (std::size_t part = 0; part < step.tokens.size(); ++part) {
      const Tensor& shape = step.work.tensors.at(static_cast<std::size_t>(step.tokens[part]));
      const std::int64_t batch = shape.shape.at(0);
      const std::int64_t length = shape.shape.at(1);
      const std::int64_t room = static_cast<std::int64_t>(text.size()) - length;  // places where a piece can begin
      if (room < 1) throw Error("the text to learn has only " + std::to_string(text.size()) + " bytes");
      std::vector<std::int32_t> tokens;
      std::vector<std::int32_t> targets;
      for (std::int64_t sequence = 0; sequence < batch; ++sequence) {
        const auto piece = static_cast<std::uint64_t>((number * batch + sequence)) * step.tokens.size() + part;
        const auto begin = static_cast<std::size_t>(uniform_below(mix(seed, piece), room));
        for (std::size_t i = 0; i < static_cast<std::size_t>(length); ++i) {
          tokens.push_back(static_cast<unsigned char>(text[begin + i]));
          targets.push_back(static_cast<unsigned char>(text[begin + i + 1]));
        }
      }
      program.write(step.tokens[part], stored(tokens));
      program.write(step.targets[part], stored(targets));
    }
    program.run(1);
    double sum = 0;
    double count = 0;
    for (const int tensor : step.losses) {
      const std::vector<double> losses =
          program.read(tensor, 0, elements(step.work.tensors.at(static_cast<std::size_t>(tensor))));
      sum = std::accumulate(losses.begin(), losses.end(), sum);
      count += static_cast<double>(losses.size());
    }
    curve.push_back(sum / count);
  }
  return curve;
}

double mean_of_last(const std::vector<double>& losses, int count) {
  const auto wanted = std::min<std::ptrdiff_t>(count, static_cast<std::ptrdiff_t>(losses.size()));
  if (wanted < 1) throw Error("a curve without losses has no mean");
  return std::accumulate(losses.end() - wanted, losses.end(), 0.0) / static_cast<double>(wanted);
}

}  // namespace assay
