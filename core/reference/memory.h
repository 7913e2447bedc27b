// What streams, chases and transfers leave in memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/ops/memory.h"
#include "core/reference/scalar.h"

namespace assay::reference {

inline std::int64_t units(const Stream& op) { return op.kind == StreamKind::read ? 1 : op.count; }
inline std::int64_t unit_of(const Stream&, int, std::int64_t index) { return index; }

template <class Number, class Read, class Write>
void compute(const Stream& op, std::int64_t unit, const Read& read, const Write& write) {
  const Number s(3.0);
  switch (op.kind) {
    case StreamKind::copy:
      write(1, unit, read(0, unit));
      break;
    case StreamKind::scale:
      write(1, unit, s * read(0, unit));
      break;
    case StreamKind::add:
      write(2, unit, read(0, unit) + read(1, unit));
      break;
    case StreamKind::triad:
      write(2, unit, read(0, unit) + s * read(1, unit));
      break;
    case StreamKind::read: {
      Sum<Number> sum(Terms::independent);
      for (std::int64_t i = 0; i < op.count; ++i) sum.add(read(0, i));
      write(1, 0, sum.result() * Number(static_cast<double>(op.turns)));
      break;
    }
    case StreamKind::write:
      write(0, unit, s);
      break;
  }
}

inline std::int64_t units(const Chase&) { return 0; }
inline std::int64_t unit_of(const Chase&, int, std::int64_t) { return 0; }
template <class Number, class Read, class Write>
void compute(const Chase&, std::int64_t, const Read&, const Write&) {}

inline std::int64_t units(const Transfer& op) { return op.bytes; }
inline std::int64_t unit_of(const Transfer&, int, std::int64_t index) { return index; }

template <class Number, class Read, class Write>
void compute(const Transfer& op, std::int64_t unit, const Read& read, const Write& write) {
  write(1, unit, read(0, unit));
  if (op.both_ways) write(3, unit, read(2, unit));
}

}  // namespace assay::reference
