// Adds tensors and steps to a work, with the few defaults that the steps of a model share.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/work.h"

namespace assay {

using Shape = std::vector<std::int64_t>;

class WorkBuilder {
 public:
  WorkBuilder(std::string name, Format compute) : compute_(compute) { work_.name = std::move(name); }

  // Made by a step, needed until the last step that reads it.
  int activation(const std::string& name, Shape shape) {
    return add({name, compute_, std::move(shape), {}, Category::activation});
  }
  int activation(const std::string& name, Shape shape, Format format) {
    return add({name, format, std::move(shape), {}, Category::activation});
  }

  // Lives before the first and after the last step.
  int persistent(const std::string& name, Format format, Shape shape, Category category, Initial initial,
                 double magnitude = 0) {
    return add({name, format, std::move(shape), {}, category, true, initial, 0, magnitude});
  }

  // Integers below `bound`: tokens and targets.
  int indices(const std::string& name, Shape shape, std::int64_t bound) {
    Tensor tensor{name, {Element::int32, Scaling::none}, std::move(shape), {}, Category::input, true, Initial::index};
    tensor.bound = bound;
    return add(std::move(tensor));
  }

  // Like another tensor, but for its name and what it is for.
  int like(int tensor, const std::string& name, Format format, Category category, bool persistent, Initial initial) {
    Tensor copy = at(tensor);
    copy.name = name;
    copy.format = format;
    copy.category = category;
    copy.persistent = persistent;
    copy.initial = initial;
    copy.stream = -1;
    return add(std::move(copy));
  }

  // Which numbers a tensor holds; see Tensor::stream.
  void set_stream(int tensor, int stream) { work_.tensors.at(static_cast<std::size_t>(tensor)).stream = stream; }

  void set_bound(int tensor, std::int64_t bound) { work_.tensors.at(static_cast<std::size_t>(tensor)).bound = bound; }

  void set_phase(std::string phase) { phase_ = std::move(phase); }
  void step(const Op& op, std::vector<int> operands) { work_.steps.push_back({op, std::move(operands), 0, phase_}); }

  const Work& work() const { return work_; }
  const Tensor& at(int tensor) const { return work_.tensors.at(static_cast<std::size_t>(tensor)); }
  Format compute() const { return compute_; }

  // The work, checked.
  Work finish() {
    check(work_);
    return std::move(work_);
  }

 private:
  int add(Tensor tensor) {
    work_.tensors.push_back(std::move(tensor));
    return static_cast<int>(work_.tensors.size()) - 1;
  }

  Work work_;
  Format compute_;
  std::string phase_;
};

}  // namespace assay
