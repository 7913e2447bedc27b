// Picks the level of the bodies at run time and makes kernels of them.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/bodies.h"

#include <algorithm>
#include <limits>
#include <new>
#include <optional>
#include <type_traits>

#include "core/error.h"
#include "kernels/column.h"
#include "kernels/cpu/attention_scratch.h"
#include "kernels/cpu/bodies_table.h"
#include "kernels/cpu/features.h"
#include "kernels/cpu/token_groups.h"
#include "kernels/training.h"

namespace assay::cpu {
namespace {

std::vector<BodyTable> tables() {
#if defined(__x86_64__)
  // Not even the function that returns a table may be called below its level.
  const std::string level = detect_features().level;
  std::vector<BodyTable> usable;
  if (level == "x86-64-v2" || level == "x86-64-v3" || level == "x86-64-v4") usable.push_back(bodies_x86_64_v2());
  if (level == "x86-64-v3" || level == "x86-64-v4") usable.push_back(bodies_x86_64_v3());
  if (level == "x86-64-v4") usable.push_back(bodies_x86_64_v4());
  return usable;
#else
  return {bodies_generic()};
#endif
}

// Whether the bodies take such elements: fp32 and what is computed in fp32.
bool is_common(Format format) {
  return format.scaling == Scaling::none &&
         (format.element == Element::fp32 || format.element == Element::bf16 || format.element == Element::fp16);
}

bool is_castable(Format format) {
  const Element e = format.element;
  return (format.scaling == Scaling::none || format.scaling == Scaling::tensor) &&
         (e == Element::fp32 || e == Element::bf16 || e == Element::fp16 || e == Element::fp8_e4m3 ||
          e == Element::fp8_e5m2 || e == Element::fp8_e4m3_fnuz || e == Element::fp8_e5m2_fnuz || e == Element::int8);
}

bool has_nontemporal_stores() {
#if defined(__x86_64__)
  return true;
#else
  return false;
#endif
}

bool supports(const Stream& op) {
  const bool storable = op.store == Store::plain || has_nontemporal_stores();
  return storable && (is_common(op.format) || op.format == Format{Element::fp64, Scaling::none});
}
bool supports(const Cast& op) { return is_castable(op.from) && is_castable(op.to); }
bool supports(const AdamW& op) { return is_common(op.weight) && is_common(op.gradient); }
bool supports(const Embedding& op) {
  constexpr std::int64_t largest = std::numeric_limits<std::int32_t>::max();  // rows are numbered by int32
  return is_common(op.format) && op.rows <= largest && op.vocabulary <= largest;
}
bool is_cache(Format cache, Format format) {
  return cache == format || cache == Format{Element::fp8_e4m3, Scaling::none};
}
bool supports(const Attention& op) { return is_common(op.format) && is_cache(op.cache, op.format); }
bool supports(const CacheAppend& op) { return is_common(op.from) && is_cache(op.to, op.from); }
bool supports(const AdamControl&) { return true; }
bool supports(const TensorScale& op) { return is_common(op.from) && is_castable(op.to); }
bool supports(const AdamW8& op) { return is_common(op.weight) && is_common(op.gradient); }
template <class Other>
bool supports(const Other& op) {
  return is_common(op.format);
}

// The launch of an op in a table; none for ops that have no bodies.
auto launch_of(const BodyTable& table, const Stream&) { return table.stream; }
auto launch_of(const BodyTable& table, const Pointwise&) { return table.pointwise; }
auto launch_of(const BodyTable& table, const Cast&) { return table.cast; }
auto launch_of(const BodyTable& table, const AdamW&) { return table.adamw; }
auto launch_of(const BodyTable& table, const Softmax&) { return table.softmax; }
auto launch_of(const BodyTable& table, const Norm&) { return table.norm; }
auto launch_of(const BodyTable& table, const NormWeights&) { return table.norm_weights; }
auto launch_of(const BodyTable& table, const ColumnSum&) { return table.column_sum; }
auto launch_of(const BodyTable& table, const CrossEntropy&) { return table.cross_entropy; }
auto launch_of(const BodyTable& table, const Embedding&) { return table.embedding; }
auto launch_of(const BodyTable& table, const Rope&) { return table.rope; }
auto launch_of(const BodyTable& table, const Heads&) { return table.heads; }
auto launch_of(const BodyTable& table, const Attention&) { return table.attention; }
auto launch_of(const BodyTable& table, const CacheAppend&) { return table.cache_append; }
auto launch_of(const BodyTable& table, const SumSquares&) { return table.sum_squares; }
auto launch_of(const BodyTable& table, const AdamControl&) { return table.adam_control; }
auto launch_of(const BodyTable& table, const TensorScale&) { return table.tensor_scale; }
auto launch_of(const BodyTable& table, const AdamW8&) { return table.adamw8; }

template <class Operation>
concept HasBody = requires(const BodyTable& table, const Operation& op) {
  launch_of(table, op);
};

std::int64_t workspace_bytes(const Stream& op, int threads) {
  return op.kind == StreamKind::read ? std::int64_t{64} * std::max(threads, 1) : 0;
}
std::int64_t workspace_bytes(const NormWeights& op, int) {
  const std::int64_t sums = op.kind == NormKind::layer ? 2 : 1;
  return sums * bodies::column_blocks(op.rows) * op.columns * static_cast<std::int64_t>(sizeof(float));
}
std::int64_t workspace_bytes(const ColumnSum& op, int) {
  return bodies::column_blocks(op.rows) * op.columns * static_cast<std::int64_t>(sizeof(float));
}
std::int64_t workspace_bytes(const Embedding& op, int) {
  return op.direction == Direction::backward ? op.columns * static_cast<std::int64_t>(sizeof(float)) : 0;
}
std::int64_t workspace_bytes(const Softmax& op, int threads) {
  const bool needed = op.direction == Direction::forward && op.format.element != Element::fp32;
  return needed ? row_terms(op.columns) * std::max(threads, 1) * static_cast<std::int64_t>(sizeof(float)) : 0;
}
std::int64_t workspace_bytes(const CrossEntropy& op, int threads) {
  const bool needed = op.format.element != Element::fp32;
  return needed ? row_terms(op.columns) * std::max(threads, 1) * static_cast<std::int64_t>(sizeof(float)) : 0;
}
std::int64_t workspace_bytes(const Attention& op, int threads) {
  return attention_floats(op) * std::max(threads, 1) * static_cast<std::int64_t>(sizeof(float));
}
std::int64_t workspace_bytes(const SumSquares& op, int) {
  return (op.count + bodies::square_block - 1) / bodies::square_block * static_cast<std::int64_t>(sizeof(float));
}
std::int64_t workspace_bytes(const TensorScale&, int threads) { return std::int64_t{64} * std::max(threads, 1); }
template <class Other>
std::int64_t workspace_bytes(const Other&, int) {
  return 0;
}

struct FreeAligned {
  void operator()(std::byte* memory) const { ::operator delete (memory, std::align_val_t{64}); }
};
using Workspace = std::unique_ptr<std::byte, FreeAligned>;

Workspace make_workspace(std::int64_t bytes) {
  if (bytes == 0) return nullptr;
  try {
    return Workspace(static_cast<std::byte*>(::operator new (static_cast<std::size_t>(bytes), std::align_val_t{64})));
  } catch (const std::bad_alloc&) {
    throw OutOfMemory("no memory for " + std::to_string(bytes) + " bytes of partial sums");
  }
}

template <class Operation>
class BodyKernel : public Kernel {
 public:
  BodyKernel(const BodyTable& table, const Operation& op, const Pointers& operands, int threads)
      : table_(table),
        op_(op),
        operands_(operands),
        threads_(threads),
        workspace_(make_workspace(workspace_bytes(op, threads))) {
    if constexpr (std::is_same_v<Operation, Embedding>) {
      if (op.direction == Direction::backward) grouping_.emplace(op.rows, op.vocabulary);
    }
  }

  void run() override {
    BodyCall call{operands_.data(), threads_, workspace_.get(), {}};
    // An index from outside its table would be written or read wherever it points.
    if constexpr (std::is_same_v<Operation, Embedding>) {
      const auto* const tokens = reinterpret_cast<const std::int32_t*>(operands_[0]);
      if (grouping_) {
        call.groups = grouping_->group(tokens);
      } else {
        check_indices(tokens, op_.rows, op_.vocabulary, "token");
      }
    }
    if constexpr (std::is_same_v<Operation, CrossEntropy>) {
      check_indices(reinterpret_cast<const std::int32_t*>(operands_[1]), op_.rows, op_.columns, "target");
    }
    launch_of(table_, op_)(op_, call);
  }

  std::string method() const override { return std::string("own ") + table_.name; }

 private:
  BodyTable table_;
  Operation op_;
  Pointers operands_;
  int threads_;
  Workspace workspace_;
  std::optional<TokenGrouping> grouping_;
};

}  // namespace

std::vector<std::string> body_levels() {
  std::vector<std::string> names;
  for (const BodyTable& table : tables()) names.emplace_back(table.name);
  return names;
}

std::string body_level() {
  const std::vector<std::string> levels = body_levels();
  return levels.empty() ? "none" : levels.back();
}

bool bodies_support(const Op& op) {
  return std::visit(
      [](const auto& concrete) {
        if constexpr (HasBody<std::decay_t<decltype(concrete)>>) {
          return supports(concrete);
        } else {
          return false;
        }
      },
      op);
}

std::unique_ptr<Kernel> make_body_kernel(const Op& op, const Pointers& operands, int threads, const BodyTable& table) {
  if (!bodies_support(op)) {
    throw Unsupported("the CPU's own kernels do not do \"" + text(op) +
                      "\": they take fp32, bf16 and fp16 (streams fp64 too, casts the fp8 formats and int8 too)");
  }
  const std::size_t expected = assay::operands(op).size();
  if (operands.size() != expected) {
    throw Error("\"" + text(op) + "\" takes " + std::to_string(expected) + " operands and was given " +
                std::to_string(operands.size()));
  }
  return std::visit(
      [&](const auto& concrete) -> std::unique_ptr<Kernel> {
        using Operation = std::decay_t<decltype(concrete)>;
        if constexpr (HasBody<Operation>) {
          return std::make_unique<BodyKernel<Operation>>(table, concrete, operands, threads);
        } else {
          return nullptr;  // bodies_support() has said no
        }
      },
      op);
}

std::unique_ptr<Kernel> make_body_kernel(const Op& op, const Pointers& operands, int threads,
                                         const std::string& level) {
  for (const BodyTable& table : tables()) {
    if (table.name == level) return make_body_kernel(op, operands, threads, table);
  }
  throw Unsupported("this processor does not have the level \"" + level + "\" that the CPU's own kernels ask for");
}

std::unique_ptr<Kernel> make_body_kernel(const Op& op, const Pointers& operands, int threads) {
  const std::vector<BodyTable> usable = tables();
  if (usable.empty()) {
    throw Unsupported("the CPU's own kernels need an x86-64-v2 processor (SSE4.2 and POPCNT), and this one is older");
  }
  return make_body_kernel(op, operands, threads, usable.back());
}

}  // namespace assay::cpu
