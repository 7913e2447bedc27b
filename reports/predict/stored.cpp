// How many bytes stored numbers take.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "reports/predict/memory.h"

namespace assay::predict {
namespace {

constexpr double half = 2;

// Bits a number of GGUF's kinds (ggml's block layouts): Q4_0 has a half-precision scale for 32 numbers, Q4_K 144 bytes
// for 256, Q6_K 210 bytes for 256, Q8_0 a scale for 32.
constexpr double q4_0 = 4.5 / 8, q4_k = 4.5 / 8, q6_k = 6.5625 / 8, q8_0 = 8.5 / 8;

// The layers whose values and second feed-forward matrices Q4_K_M keeps in Q6_K: the first and last eighth, and every
// third between them.
double layers_kept_finer(double layers) {
  const auto count = static_cast<int>(layers);
  int finer = 0;
  for (int i = 0; i < count; ++i)
    if (i < count / 8 || i >= 7 * count / 8 || (i - count / 8) % 3 == 2) ++finer;
  return finer;
}

// On the card: the embedding stays with the host.
double gguf_bytes(const Shape& model, Stored stored) {
  const double norms = (2 * model.layers + 1) * model.hidden * 4;
  double head = bytes_of(stored);
  double matrices = model.matrices * bytes_of(stored);
  if (stored == Stored::gguf_q4_k_m) {
    const double finer = model.hidden * (model.kv_heads * model.head_size + model.feed_forward);
    matrices += layers_kept_finer(model.layers) * finer * (q6_k - q4_k);
  }
  if (stored == Stored::gguf_q4_k_m || stored == Stored::gguf_q4_0) head = q6_k;
  return matrices + model.embedding() * head + norms;
}

}  // namespace

bool is_gguf(Stored stored) {
  switch (stored) {
    case Stored::gguf_q4_0:
    case Stored::gguf_q4_k_m:
    case Stored::gguf_q8_0:
    case Stored::gguf_f16:
      return true;
    case Stored::fp32:
    case Stored::half:
    case Stored::fp8_blocks:
    case Stored::int8_groups:
    case Stored::int4_groups:
    case Stored::int4_awq:
    case Stored::nf4:
    case Stored::nf4_double:
      return false;
  }
  return false;
}

double bytes_of(Stored stored) {
  switch (stored) {
    case Stored::fp32:
      return 4;
    case Stored::half:
    case Stored::gguf_f16:
      return half;
    case Stored::fp8_blocks:
      return 1 + 4.0 / (128 * 128);
    case Stored::int8_groups:
      return 1 + 3.0 / 128;
    case Stored::int4_groups:
    case Stored::int4_awq:
      return 0.5 + 2.5 / 128;
    case Stored::nf4:
      return 0.5 + 4.0 / 64;
    case Stored::nf4_double:
      return 0.5 + 1.0 / 64 + 4.0 / (64 * 256);
    case Stored::gguf_q4_0:
      return q4_0;
    case Stored::gguf_q4_k_m:
      return q4_k;
    case Stored::gguf_q8_0:
      return q8_0;
  }
  return half;
}

double weight_bytes(const Setting& setting) {
  const Shape& model = setting.model;
  if (is_gguf(setting.stored)) return gguf_bytes(model, setting.stored);
  double rest = model.rest() * (setting.stored == Stored::fp32 ? 4 : half);
  // FP8 checkpoints hold the head apart from the embedding even where the model has one table for both.
  if (setting.stored == Stored::fp8_blocks && model.tied) rest += model.embedding() * half;
  return model.matrices * bytes_of(setting.stored) + rest;
}

}  // namespace assay::predict
