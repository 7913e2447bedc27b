// Writes a healthy and a doctored machine as runs on disk, to be looked at: write_made_up_runs FOLDER.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "tests/accept/made_up_machine.h"

namespace {

void write(const assay::Run& run, const std::filesystem::path& folder) {
  assay::RunWriter writer = assay::RunWriter::create(folder, run.info, true);
  writer.append(run.rows);
  writer.update(run.info);
}

// What a bad landlord could hand over: a narrow slot, a lowered power limit, old memory errors, a quota of cores.
assay::made_up::Rented doctored() {
  assay::made_up::Rented rented = assay::made_up::healthy();
  rented.fact("power_limit_watts", 350.0, "below the card's default of 700 W");
  rented.fact("pcie_width", 8.0, "fewer lanes than the 16 of card and slot");
  rented.fact("ecc_uncorrected_ever", 6.0, "memory errors that could not be corrected, in the card's life");
  rented.slower("gemm/", 1.5);
  rented.slower("transfer/host_to_device/pinned", 2.1);
  rented.row("gemm/bf16").conditions = "xid_79,hardware_slowdown";
  rented.host("usable_threads", 6);
  rented.host("storage_read_bytes_per_second", 90e6);
  rented.without_fact("clock_most_hertz");
  return rented;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 64;
  }
  const std::filesystem::path folder = argv[1];
  write(assay::made_up::healthy().run, folder / "healthy");
  write(doctored().run, folder / "doctored");
  return 0;
}
