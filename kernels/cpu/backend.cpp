// The CPU back end.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/backend.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "core/error.h"
#include "core/host.h"
#include "kernels/cpu/clock.h"
#include "kernels/cpu/device.h"
#include "kernels/cpu/make_kernel.h"
#include "kernels/cpu/memory.h"
#include "kernels/cpu/program.h"
#include "kernels/cpu/survey.h"

namespace assay::cpu {
namespace {

void require_device(int device) {
  if (device != 0) {
    throw Error("there is no device cpu:" + std::to_string(device) + "; all cores together are cpu:0");
  }
}

Fact onednn_fact(Libraries& libraries) {
  const OneDnn& onednn = libraries.onednn();
  Fact fact;
  fact.name = "onednn";
  fact.text = onednn.usable() ? onednn.version() : "";
  fact.reason = onednn.usable() ? "matrix products in FP32, BF16 and INT8" : onednn.reason();
  fact.source = onednn.path();
  return fact;
}

Fact openblas_fact(Libraries& libraries) {
  const OpenBlas& openblas = libraries.openblas();
  Fact fact;
  fact.name = "openblas";
  fact.text = openblas.usable() ? openblas.version() + " with kernels for " + openblas.kernels() : "";
  fact.reason = openblas.usable() ? "matrix products in FP64" : openblas.reason();
  if (!openblas.note().empty()) {
    fact.reason += "; " + openblas.note();
  }
  fact.source = openblas.path();
  return fact;
}

// What a user has told OpenMP is set aside, since every row must know its number of threads.
void add_environment(std::vector<Fact>& facts) {
  for (const char* name : {"OMP_NUM_THREADS", "OMP_PROC_BIND", "OMP_PLACES", "OMP_WAIT_POLICY", "GOMP_CPU_AFFINITY",
                           "GOMP_SPINCOUNT", "OPENBLAS_CORETYPE", "ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA"}) {
    if (const char* value = std::getenv(name)) {
      Fact fact;
      fact.name = "environment_" + std::string(name);
      std::transform(fact.name.begin(), fact.name.end(), fact.name.begin(),
                     [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      fact.text = value;
      fact.reason = std::string(name) == "OMP_NUM_THREADS" ? "set by the user; the number of threads is chosen anew"
                                                           : "set by the user and honoured";
      fact.source = "environment";
      facts.push_back(fact);
    }
  }
}

class CpuBackend : public Backend {
 public:
  explicit CpuBackend(const BackendSetup& setup)
      : setup_(setup), libraries_(std::make_shared<Libraries>(setup.libraries)), limits_(host_limits(setup.root)) {}

  std::vector<DeviceInfo> devices() override {
    DeviceInfo device = describe_processor(setup_.root, limits_, setup_.features, setup_.libraries);
    add_environment(device.facts);
    return {device};
  }

  std::vector<Fact> diagnosis() override {
    std::vector<Fact> facts = {onednn_fact(*libraries_), openblas_fact(*libraries_)};
    Fact level;
    level.name = "instruction_set";
    level.text = setup_.features.level;
    level.reason = "own kernels run as compiled for " + body_level();
    level.source = "cpuid";
    facts.push_back(level);
    const auto known = survey_limits(limits_);
    facts.insert(facts.end(), known.begin(), known.end());
    add_environment(facts);
    return facts;
  }

  Support supports(const Op& op, int device) override {
    if (device != 0) {
      return {false, "there is no device cpu:" + std::to_string(device) + "; all cores together are cpu:0"};
    }
    return support(op, *libraries_);
  }

  std::unique_ptr<Program> prepare(const Work& work, int device, const Preparation& preparation) override {
    require_device(device);
    ProgramSetup setup;
    setup.libraries = libraries_;
    setup.limits = host_limits(setup_.root);
    const int most = usable_threads(limits_);
    setup.threads = preparation.threads > 0 ? std::min(preparation.threads, most) : most;
    return make_program(work, preparation, setup);
  }

  std::vector<Fact> survey(Question question, int device) override {
    require_device(device);
    const int threads = usable_threads(limits_);
    switch (question) {
      case Question::capacity: {
        CapacityLimits limits = capacity_limits(host_limits(setup_.root));
        limits.look = [root = setup_.root] { return host_limits(root); };
        limits.clock = monotonic_seconds;
        return survey_capacity(limits, threads);
      }
      case Question::context_cost:
        return survey_context_cost(*libraries_, threads);
      case Question::rounding:
        return survey_rounding();
      case Question::limits:
        return survey_limits(host_limits(setup_.root));
      case Question::integrity: {
        Fact fact;
        fact.name = "tested_bytes";
        fact.unit = "bytes";
        fact.reason = "the memory of a device is tested; the host's belongs to other programs too";
        return {fact};
      }
    }
    throw Error("asking the processor an unknown question");
  }

 private:
  BackendSetup setup_;
  std::shared_ptr<Libraries> libraries_;
  HostLimits limits_;  // as found at the start: a thread library may later bind this thread to fewer cores
};

}  // namespace

std::unique_ptr<Backend> make_backend(const BackendSetup& setup) { return std::make_unique<CpuBackend>(setup); }

}  // namespace assay::cpu
