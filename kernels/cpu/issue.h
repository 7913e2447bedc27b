// The rate at which the processor multiplies and adds from registers alone.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/backend.h"
#include "kernels/cpu/features.h"
#include "kernels/cpu/kernel.h"

namespace assay::cpu {

// One way to issue multiply-adds: one instruction, again and again, on registers that do not depend on each other.
struct IssuePath {
  Element element = Element::fp32;
  Element accumulate = Element::fp32;
  const char* name = "";  // "avx512 vfmadd"
  int lanes = 1;          // results in one register
  int products = 1;       // multiply-adds that one instruction does for each result
  int chains = 1;         // independent registers
  bool (*available)(const Features&) = nullptr;
  // One turn is one instruction on every chain. Writes what every lane of every chain holds afterwards; `results` has
  // chains times lanes places.
  void (*execute)(std::int64_t turns, double* results) = nullptr;
  // What each of them must be, worked out one number at a time.
  double (*expected)(std::int64_t turns) = nullptr;
};

// Every path this build knows; of each format the fastest first.
const std::vector<IssuePath>& issue_paths();

// The first available one; nullptr where there is none.
const IssuePath* issue_path(const Issue& issue, const Features& features);

// All lanes of all chains after so many turns.
std::vector<double> issue_results(const IssuePath& path, std::int64_t turns);

Support issue_support(const Issue& issue);
std::unique_ptr<Kernel> make_issue_kernel(const Issue& issue, int threads);

}  // namespace assay::cpu
