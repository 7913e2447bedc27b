// The program: reads the command line, runs one command, and turns what was thrown into an exit code and a sentence.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <exception>
#include <new>

#include "bench/children.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "core/error.h"

int main(int argc, char** argv) {
  if (assay::is_child(argc, argv)) return assay::child_main(argc, argv);
  try {
    return assay::run_command_line(argc, argv);
  } catch (const assay::BadInput& bad) {
    std::fprintf(stderr, "assay: %s\n", bad.what());
    return assay::exit_usage;
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "assay: the machine has no memory left for this program\n");
    return assay::exit_internal;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "assay: %s\n", error.what());
    return assay::exit_internal;
  }
}
