// Feeds arbitrary bytes to the reader of run.json; what it accepts must read back the same once written again.
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/error.h"
#include "results/run.h"

namespace {

void read(const std::string& text) {
  try {
    const std::string once = assay::write_run_info(assay::parse_run_info(text, "fuzz"));
    if (assay::write_run_info(assay::parse_run_info(once, "again")) != once) std::abort();
  } catch (const assay::BadInput&) {
    // Refusing is an answer. Any other exception ends the fuzzer.
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  read(text);
  read("{\"schema\":1,\"id\":\"r\",\"ending\":\"running\"," + text + "}");  // the fields every file must have
  return 0;
}
