// What is predicted of a model, a workload and a card: memory and speed, each between bounds, each with its origin.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/format.h"
#include "core/models/model.h"
#include "reports/predict/workload.h"

namespace assay {

// A value with the bounds between which the true one is expected nine times in ten.
struct Estimate {
  double value = 0, lower = 0, upper = 0;
};

// A number somebody stated or measured, and who.
struct Stated {
  double value = 0;
  std::string source;
};

// A card as predictions see it. What is not known is absent.
struct Card {
  std::string name;
  std::optional<Stated> memory;          // bytes, as a driver reports it
  std::optional<Stated> bandwidth;       // bytes/s
  std::map<Element, Stated> peak;        // dense flops/s (int8: operations/s) of products with fp32 accumulation
  std::optional<Stated> link_bandwidth;  // bytes/s per direction to the other cards of a machine, all links together
  std::optional<Stated> node_bandwidth;  // bytes/s per direction and card to other machines
  std::optional<Stated> host_bandwidth;  // bytes/s per direction to the host
  std::optional<double> watts;           // the maker's limit
  std::string capability;                // "9.0", "gfx942"; empty: unknown
  double units = 0;                      // multiprocessors or compute units; 0: unknown
};

// What a run measured on the very card, where there is one.
struct Measured {
  std::optional<Stated> context_bytes;     // a process before the model's own numbers
  std::optional<Stated> collective_bytes;  // buffers of the collective library
  std::optional<Stated> rounding;          // reserved over allocated, 1.03
};

struct Setting {
  ModelSpec model;
  Workload workload;  // resolved
  Card card;
  std::int64_t cards = 1;
  std::int64_t cards_per_node = 8;
  Measured measured;
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

struct SpeedPrediction {
  std::optional<Estimate> training_tokens;  // tokens/s a device (pictures/s for a convolution)
  std::optional<Estimate> prefill_tokens;   // tokens/s of all devices
  std::optional<Estimate> decode_tokens;    // tokens/s of all sequences together
  std::optional<Estimate> first_token;      // seconds
  std::optional<Estimate> token;            // seconds between two tokens of one sequence
  std::vector<std::string> origins;         // what each rate was taken from
  std::string bound_by;                     // "memory bandwidth", "matrix products", "launching"
  std::string not_judged;                   // why there is no speed; empty where there is one
};

}  // namespace assay
