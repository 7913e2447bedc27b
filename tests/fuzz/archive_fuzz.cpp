// Feeds arbitrary bytes, packed or not, to the reader of packed runs.
// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "core/error.h"
#include "results/run.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // A file in memory; gzip reads what is not packed as it is, so the bytes of a tar archive get through too.
  const int descriptor = memfd_create("archive", MFD_CLOEXEC);
  if (descriptor < 0 || write(descriptor, data, size) != static_cast<ssize_t>(size)) std::abort();
  try {
    assay::read_run("/proc/self/fd/" + std::to_string(descriptor));
  } catch (const assay::BadInput&) {
    // Refusing is an answer. Any other exception ends the fuzzer.
  }
  close(descriptor);
  return 0;
}
