// A model's own step at the size that somebody wants it: `assay run --model M` measures it beside everything else.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/case.h"

namespace assay {

struct Asked {
  std::string model;       // a built-in name, or the absolute path of a config.json
  bool training = false;   // else a prompt, and a token after it
  std::int64_t batch = 1;  // sequences at a time
  std::int64_t context = 0;
  std::string precision = "bf16";  // fp32, tf32, bf16, fp16; fp8: products in FP8 beside bf16
  bool short_cache = false;        // keys and values in FP8
  std::string recompute = "none";  // of training: none, selective, full
  bool short_optimizer = false;    // AdamW with 8-bit moments
  std::int64_t lora_rank = 0;
  std::int64_t micro_batches = 1;
};

// How it travels to the processes of a run and into run.json.
nlohmann::json to_json(const Asked& asked);
Asked asked_from(const nlohmann::json& from);  // throws BadInput or a JSON error

// The step at the asked batch; and near the limit, where it takes more than a quarter of the room, at twice, four times
// it and so on while there is any: the largest that really runs is then known. Where the asked one has no room it is
// measured all the same, which leaves a row that says so, and half of it, a quarter and so on besides, until one has.
// Names: "asked/train/<model>/<precision>/<batch>x<context>", "asked/infer/<model>/<precision>/prefill/..." and
// ".../decode/...". Throws BadInput with a sentence for models and settings that no step is built of.
std::vector<Case> asked_cases(const DeviceInfo& device, ProfileKind profile, const Asked& asked);

}  // namespace assay
