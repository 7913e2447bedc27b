// Feeds arbitrary bytes to the reader of results.csv; what it accepts must read back the same once written again.
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/error.h"
#include "results/run.h"

namespace {

std::string written(const std::vector<assay::Row>& rows) {
  std::string text = assay::csv_header();
  for (const assay::Row& row : rows) text += assay::csv_line(row);
  return text;
}

void read(const std::string& text) {
  try {
    const std::string once = written(assay::parse_rows(text, "fuzz").rows);
    if (written(assay::parse_rows(once, "again").rows) != once) std::abort();
  } catch (const assay::BadInput&) {
    // Refusing is an answer. Any other exception ends the fuzzer.
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  // The long first line is hard to guess, so what has none of its own gets it.
  const bool has_header = text.substr(0, text.find('\n')).find("schema") != std::string::npos;
  read(has_header ? text : assay::csv_header() + text);
  return 0;
}
