// assay-comparison: is what Assay runs as fast as the libraries and the memory it stands on? Not a test in CI, since a
// busy machine would fail it; run it on a quiet one.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/host.h"
#include "core/work.h"
#include "kernels/cpu/backend.h"
#include "tests/comparison/sections.h"

namespace assay::comparison {

std::shared_ptr<Program> prepare_op(const Setup& setup, const std::string& op) {
  std::shared_ptr<Program> program = setup.backend.prepare(single(parse_op(op)), 0, {});
  program->fill(Pattern::typical, 1);
  return program;
}

namespace {

using Section = std::pair<std::string, std::function<int(const Setup&)>>;

int run(const std::vector<std::string>& arguments) {
  const std::vector<Section> sections = {
      {"gemm", compare_gemm}, {"stream", compare_streams}, {"kernels", compare_kernels}, {"block", compare_block}};
  const auto backend = cpu::make_backend();
  Setup setup{*backend, usable_threads(host_limits()), 11};
  std::vector<std::string> wanted;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--pairs" && i + 1 < arguments.size()) {
      setup.pairs = std::max(1, std::atoi(arguments[++i].c_str()));
    } else {
      wanted.push_back(arguments[i]);
    }
  }
  std::printf("%s, %d threads, median of %d pairs in turns\n", backend->devices().front().name.c_str(), setup.threads,
              setup.pairs);
  int below = 0;
  for (const auto& [name, compare] : sections) {
    bool chosen = wanted.empty();
    for (const std::string& one : wanted) {
      chosen = chosen || one == name;
    }
    if (!chosen) {
      continue;
    }
    LoadMeter meter;
    below += compare(setup);
    const auto load = meter.other_load();
    if (load && *load > 0.02) {
      std::printf("other programs took %.0f %% of the cores meanwhile: worth little, repeat on a quiet machine\n",
                  *load * 100);
    }
  }
  std::printf("\n%s\n",
              below == 0 ? "PASS: every bar is met" : ("below: " + std::to_string(below) + " bars missed").c_str());
  return below == 0 ? 0 : 1;
}

}  // namespace
}  // namespace assay::comparison

// usage: assay-comparison [gemm] [stream] [kernels] [block] [--pairs N]
int main(int count, char** arguments) {
  try {
    return assay::comparison::run(std::vector<std::string>(arguments + 1, arguments + count));
  } catch (const assay::Error& error) {
    std::fprintf(stderr, "assay-comparison: %s\n", error.what());
    return 70;
  }
}
