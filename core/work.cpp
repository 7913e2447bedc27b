// Work made of one op, the checks that every work must pass, and sums over its steps.
// SPDX-License-Identifier: Apache-2.0
#include "core/work.h"

#include <algorithm>

#include "core/checked.h"
#include "core/error.h"

namespace assay {
namespace {

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string list;
  for (const std::int64_t extent : shape) list += (list.empty() ? "" : ", ") + std::to_string(extent);
  return "[" + list + "]";
}

Element stored(Element element) { return element == Element::tf32 ? Element::fp32 : element; }

bool stored_alike(Format a, Format b) { return stored(a.element) == stored(b.element) && a.scaling == b.scaling; }

bool stored_by_rows(Format format) {
  return bits(format.element) < 8 || (format.scaling != Scaling::none && format.scaling != Scaling::tensor);
}

bool shapes_match(Format format, const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
  if (elements_of(a) != elements_of(b)) return false;
  if (!stored_by_rows(format) || a.empty() || b.empty()) return true;
  return a.back() == b.back();
}

// Checks one step, remembering what has been written so far.
class StepChecker {
 public:
  StepChecker(const Work& work, std::vector<bool>& written) : work_(work), written_(written) {}

  void check_step(std::size_t number) {
    const Step& step = work_.steps[number];
    where_ = "work '" + work_.name + "', step " + std::to_string(number) + " (" + text(step.op) + "): ";
    assay::check(step.op);
    if (step.lane < 0 || step.lane >= work_.lanes) {
      fail("lane " + std::to_string(step.lane) + " does not exist, the work has " + std::to_string(work_.lanes));
    }
    const std::vector<Operand> wanted = operands(step.op);
    if (wanted.size() != step.operands.size()) {
      fail("it has " + std::to_string(step.operands.size()) + " operands, the op takes " +
           std::to_string(wanted.size()));
    }
    for (std::size_t i = 0; i < wanted.size(); ++i) check_operand(step, wanted[i], i);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (wanted[i].access != Access::read) written_[static_cast<std::size_t>(step.operands[i])] = true;
    }
  }

 private:
  [[noreturn]] void fail(const std::string& why) const { throw Error(where_ + why); }

  void check_operand(const Step& step, const Operand& wanted, std::size_t position) const {
    const int index = step.operands[position];
    if (index < 0 || static_cast<std::size_t>(index) >= work_.tensors.size()) {
      fail("operand " + wanted.name + " is tensor " + std::to_string(index) + ", which does not exist");
    }
    const Tensor& tensor = work_.tensors[static_cast<std::size_t>(index)];
    const std::string pair = "operand " + wanted.name + " is tensor '" + tensor.name + "', ";
    if (!stored_alike(tensor.format, wanted.format)) {
      fail(pair + "which is " + text(tensor.format) + ", the op takes " + text(wanted.format));
    }
    if (!shapes_match(wanted.format, tensor.shape, wanted.shape)) {
      fail(pair + "which is " + shape_text(tensor.shape) + ", the op takes " + shape_text(wanted.shape));
    }
    if (wanted.access != Access::write && !tensor.persistent && !written_[static_cast<std::size_t>(index)]) {
      fail(pair + "which is read before anything wrote it");
    }
    if (wanted.access != Access::read && std::count(step.operands.begin(), step.operands.end(), index) > 1) {
      fail(pair + "which is written and also another operand of the step");
    }
  }

  const Work& work_;
  std::vector<bool>& written_;
  std::string where_;
};

// Where an operand of an op that runs alone lives.
Place place_of(const Op& op, const std::string& operand) {
  const auto* transfer = std::get_if<Transfer>(&op);
  if (transfer == nullptr) return {};
  return operand == "from" || operand == "back_to" ? transfer->from : transfer->to;
}

// What an operand of an op that runs alone must hold for the result to mean something.
void set_initial(const Op& op, Tensor& tensor) {
  if (const auto* embedding = std::get_if<Embedding>(&op); embedding != nullptr && tensor.name == "tokens") {
    tensor.initial = Initial::index;
    tensor.bound = embedding->vocabulary;
  } else if (const auto* loss = std::get_if<CrossEntropy>(&op); loss != nullptr && tensor.name == "targets") {
    tensor.initial = Initial::index;
    tensor.bound = loss->columns;
  } else if (std::holds_alternative<Rope>(op) && tensor.name == "table") {
    tensor.initial = Initial::rope_table;
  } else if (std::holds_alternative<Cast>(op) && tensor.name == "scale") {
    tensor.initial = Initial::one;
  } else if ((std::holds_alternative<Gemm>(op) || std::holds_alternative<AdamW8>(op)) &&
             tensor.name.find("scale") != std::string::npos && tensor.name != "scalars") {
    tensor.initial = Initial::one;
  } else if (std::holds_alternative<AdamControl>(op) && tensor.name == "total") {
    tensor.initial = Initial::one;
  } else if (tensor.name == "scalars") {  // of AdamW, AdamW8, AdamControl and a scaled loss
    tensor.initial = Initial::adam_scalars;
  } else if (std::holds_alternative<AdamW>(op) && tensor.name == "second") {
    tensor.initial = Initial::one;  // a mean of squares is never negative
  }
}

}  // namespace

std::string text(Category category) {
  switch (category) {
    case Category::weight:
      return "weight";
    case Category::gradient:
      return "gradient";
    case Category::optimizer:
      return "optimizer";
    case Category::activation:
      return "activation";
    case Category::kv_cache:
      return "kv_cache";
    case Category::workspace:
      return "workspace";
    case Category::input:
      return "input";
  }
  return "invalid";
}

std::int64_t elements(const Tensor& tensor) {
  for (const std::int64_t extent : tensor.shape) {
    if (extent < 0) throw Error("tensor '" + tensor.name + "' has a negative dimension: " + shape_text(tensor.shape));
  }
  return elements_of(tensor.shape);
}

std::int64_t bytes(const Tensor& tensor) {
  const std::int64_t all = elements(tensor);
  const std::int64_t columns = tensor.shape.empty() ? 1 : tensor.shape.back();
  const std::int64_t rows = columns == 0 ? 0 : all / columns;
  return checked_add(element_bytes(tensor.format.element, rows, columns), scale_bytes(tensor.format, rows, columns));
}

Work single(const Op& op) {
  check(op);
  Work work;
  work.name = text(op);
  Step step;
  step.op = op;
  for (const Operand& operand : operands(op)) {
    Tensor tensor;
    tensor.name = operand.name;
    tensor.format = operand.format;
    tensor.shape = operand.shape;
    tensor.place = place_of(op, operand.name);
    tensor.category = Category::input;
    tensor.persistent = true;
    set_initial(op, tensor);
    step.operands.push_back(static_cast<int>(work.tensors.size()));
    work.tensors.push_back(std::move(tensor));
  }
  work.steps.push_back(std::move(step));
  return work;
}

void check(const Work& work) {
  if (work.lanes < 1) throw Error("work '" + work.name + "' has no lane");
  for (const Tensor& tensor : work.tensors) {
    bytes(tensor);
    if (tensor.initial == Initial::index && tensor.bound < 1) {
      throw Error("work '" + work.name + "': tensor '" + tensor.name + "' holds indices without a bound");
    }
  }
  std::vector<bool> written(work.tensors.size());
  StepChecker checker(work, written);
  for (std::size_t i = 0; i < work.steps.size(); ++i) checker.check_step(i);
}

Cost cost(const Work& work) {
  Cost total;
  for (const Step& step : work.steps) {
    const Cost one = cost(step.op);
    total.flops += one.flops;
    total.bytes_read += one.bytes_read;
    total.bytes_written += one.bytes_written;
    total.bytes_wire += one.bytes_wire;
  }
  return total;
}

}  // namespace assay
