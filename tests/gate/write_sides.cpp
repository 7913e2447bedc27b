// Writes runs of both sides of a made-up change. Usage: gate_write_sides FOLDER SLOWDOWN RUNS ROWS
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <string>

#include "tests/gate/sides_on_disk.h"

int main(int argc, char** argv) {
  if (argc != 5) return 64;
  assay::gate::write_sides(argv[1], std::atof(argv[2]), static_cast<std::size_t>(std::atoi(argv[3])),
                           static_cast<std::size_t>(std::atoi(argv[4])));
  return 0;
}
