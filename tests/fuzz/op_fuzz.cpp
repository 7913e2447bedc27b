// Any text is either refused as bad input or an op that comes back from its own text.
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/error.h"
#include "core/op.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const assay::Op op = assay::parse_op(std::string_view(reinterpret_cast<const char*>(data), size));
    const std::string canonical = assay::text(op);
    const assay::Op again = assay::parse_op(canonical);
    if (!(again == op) || assay::text(again) != canonical || assay::hash(again) != assay::hash(op)) std::abort();
    if (!(assay::cost(op).flops >= 0)) std::abort();
    assay::operands(op);
  } catch (const assay::BadInput&) {
    // refused, as it should be
  }
  return 0;
}
