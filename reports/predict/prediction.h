// What is predicted of a model, a workload and a card: memory and speed, each between bounds, each with its origin.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/models/model.h"
#include "reports/predict/speed.h"
#include "reports/predict/workload.h"

namespace assay {

// A value with the bounds between which the true one is expected nine times in ten.
struct Estimate {
  double value = 0, lower = 0, upper = 0;
};

struct Setting {
  ModelSpec model;
  Workload workload;  // resolved
};

// Four numbers that people call "memory used". Out of memory is decided by the last.
enum class Counter : std::uint8_t {
  requested,  // what tensors hold
  allocated,  // rounded by the allocator: torch.cuda.max_memory_allocated
  reserved,   // segments the allocator holds: torch.cuda.max_memory_reserved
  device,     // what the driver counts: nvidia-smi
};
std::string text(Counter counter);

struct PredictedItem {
  std::string name;
  Estimate bytes;
  std::string formula;  // in words with the numbers
  std::string origin;   // "arithmetic", "fitted: ...", "published: ..."
};

struct MemoryPrediction {
  std::vector<PredictedItem> items;  // on the fullest device, at the moment of the peak, up to Counter::device
  std::string moment;                // "at the end of the forward pass", "when the loss is computed"
  Estimate requested, allocated, reserved, device;  // bytes on the fullest device
  Estimate weights, kv, activation;                 // the parts that engines print, on the fullest device

  const Estimate& of(Counter counter) const;
};

// Throws BadInput with a sentence where the model cannot do what the workload asks, or where this is not modelled:
// convolutions, latent attention, offload, optimizers other than AdamW, what a server keeps beside weights and cache.
MemoryPrediction predict_memory(const Setting& setting);

// That a need is at most `there`: from the estimate as a normal distribution whose 5th and 95th percentiles are the
// bounds.
double probability_within(const Estimate& need, double there);

// What predictions of speed take of a model and a workload; the card is still to be filled in. Serving engines are
// taken where the workload names no other program. Throws BadInput for convolutions.
predict::SpeedSetting speed_setting(const ModelSpec& model, const Workload& workload);

}  // namespace assay
