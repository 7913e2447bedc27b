// Feeds arbitrary bytes to the readers of checkpoints' headers.
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/error.h"
#include "core/models/checkpoint.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    assay::parse_gguf(bytes, "fuzz");
  } catch (const assay::BadInput&) {
    // Refusing is an answer. Any other exception ends the fuzzer.
  }
  try {
    assay::parse_safetensors(bytes, "fuzz");
  } catch (const assay::BadInput&) {
    // The same.
  }
  return 0;
}
