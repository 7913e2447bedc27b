// A benchmark is a list of cases: no clock, no allocation, no vendor name, no printing.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/sampler.h"
#include "core/backend.h"
#include "core/models/training_step.h"
#include "core/work.h"

namespace assay {

enum class ProfileKind : std::uint8_t { quick, standard, full };

// One thing to find out on one device. Either `work` has steps (a timed case), or `question`, `host_survey` or
// `training` is set.
struct Case {
  std::string name;    // "gemm/bf16/square/2048": clean, unique within a device, stable over releases
  std::string family;  // "gemm", "issue", "memory", "latency", "transfer", "launch", "concurrency", "capacity", "host",
                       // "train", "infer"
  Work work;
  Preparation preparation;
  Pattern data = Pattern::typical;
  std::string cache;    // "cold", "hot" or ""
  std::string phase;    // "burst", "sustained" or ""
  std::string variant;  // "default", "best", "nontemporal" or ""
  std::string precision;
  bool whole_step = false;   // a many-step work: rows for its phases and its memory too
  Work twin;                 // the same steps in a shape that the interpreter can afford; checks a whole step
  std::int64_t tokens = 0;   // that one execution trains on, reads or makes; 0: it has none
  std::string token_metric;  // what its seconds are called by those who serve: "seconds_per_token"; may be empty
  std::optional<TrainingStep> training;  // a model that learns real text, for so many steps; nothing is timed
  int learning_steps = 0;
  std::optional<Limits> limits;         // where the profile's do not suit: a point of a curve, or a sustained load
  std::vector<std::string> conditions;  // flags known beforehand: "near_cache" (not four times the last cache)
  std::optional<Question> question;     // answered by the back end
  std::string host_survey;         // answered by bench/host: "cpu", "memory", "shared_memory", "processes", "storage"
  std::int64_t storage_bytes = 0;  // what the storage survey may write
  double seconds_expected = 0.5;   // rough, for the budget
  int rank = 1;                    // 0: what a short budget should get first; 2: only when everything else is there
};

// A question people ask, and the cases that answer it on this device, within this profile.
struct Benchmark {
  std::string family;
  std::string question;  // "How fast is a matrix product, by precision and size?"
  std::vector<Case> (*cases)(const DeviceInfo& device, ProfileKind profile);
};

// All benchmarks, in the order of a report. Deterministic: the same device facts give the same cases in every process.
const std::vector<Benchmark>& catalogue();

// Every case for a device, most informative first, so that a short budget still gives an answer.
std::vector<Case> cases_for(const DeviceInfo& device, ProfileKind profile);

}  // namespace assay
