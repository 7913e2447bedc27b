// Programs of the CPU back end.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/program.h"

#include <omp.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "core/error.h"
#include "kernels/cpu/clock.h"
#include "kernels/cpu/fill.h"
#include "kernels/cpu/make_kernel.h"
#include "kernels/cpu/memory.h"

namespace assay::cpu {
namespace {

constexpr std::int64_t alignment = 64;  // bytes: a cache line, and the widest vector

// One set of the work's tensors, with the kernels bound to it.
struct Copy {
  std::vector<Block> blocks;        // by place
  std::vector<std::byte*> address;  // by tensor
  std::vector<std::unique_ptr<Kernel>> steps;
};

// Which block a tensor lives in, and how large the blocks are.
struct Places {
  std::vector<Place> place;        // by block
  std::vector<std::int64_t> size;  // by block
  std::vector<std::size_t> block;  // by tensor
};

Places places_of(const Work& work, const Plan& plan) {
  Places places;
  for (std::size_t i = 0; i < work.tensors.size(); ++i) {
    const auto found = std::find(places.place.begin(), places.place.end(), work.tensors[i].place);
    const auto block = static_cast<std::size_t>(found - places.place.begin());
    if (found == places.place.end()) {
      places.place.push_back(work.tensors[i].place);
      places.size.push_back(0);
    }
    places.block.push_back(block);
    places.size[block] = std::max(places.size[block], plan.offset[i] + plan.bytes[i]);
  }
  return places;
}

std::int64_t sum(const std::vector<std::int64_t>& sizes) {
  std::int64_t total = 0;
  for (const std::int64_t size : sizes) {
    total += size;
  }
  return total;
}

bool written_by(const Step& step, int tensor) {
  const auto all = operands(step.op);
  for (std::size_t i = 0; i < step.operands.size(); ++i) {
    if (step.operands[i] == tensor && all.at(i).access != Access::read) {
      return true;
    }
  }
  return false;
}

bool constant(const Work& work, int tensor) {
  return work.tensors.at(static_cast<std::size_t>(tensor)).persistent &&
         std::none_of(work.steps.begin(), work.steps.end(), [&](const Step& s) { return written_by(s, tensor); });
}

class CpuProgram : public Program {
 public:
  CpuProgram(const Work& work, const Preparation& preparation, const ProgramSetup& setup)
      : work_(work),
        plan_(plan(work, alignment)),
        places_(places_of(work, plan_)),
        libraries_(setup.libraries),
        threads_(setup.threads),
        resident_before_(resident_bytes()) {
    omp_set_num_threads(threads_);
    require_memory(preparation.operand_copies, setup.limits);
    for (int i = 0; i < preparation.operand_copies; ++i) {
      copies_.push_back(make_copy(preparation));
    }
    scratch_->allocate(threads_);
  }

  void fill(Pattern pattern, std::uint64_t seed) override {
    omp_set_num_threads(threads_);
    for (std::size_t i = 0; i < work_.tensors.size(); ++i) {
      const Tensor& tensor = work_.tensors[i];
      const Filling values = filling(work_, static_cast<int>(i), pattern, seed);
      for (Copy& copy : copies_) {
        if (tensor.persistent) {
          if (&copy == &copies_.front()) {
            fill_tensor(tensor, values, copy.address[i], threads_);
          } else {
            copy_tensor(tensor, copies_.front().address[i], copy.address[i], threads_);
          }
        } else {
          poison_tensor(tensor, copy.address[i], threads_);
        }
      }
    }
    stale_ = true;
  }

  void write(int tensor, const std::vector<std::byte>& stored) override {
    const Tensor& target = tensor_at(tensor);
    if (!target.persistent) {
      throw Error("writing tensor \"" + target.name + "\" of " + work_.name + ", which is not persistent");
    }
    const std::int64_t wanted = bytes(target);
    if (static_cast<std::int64_t>(stored.size()) != wanted) {
      throw Error("writing " + std::to_string(stored.size()) + " bytes to tensor \"" + target.name + "\", which has " +
                  std::to_string(wanted));
    }
    for (Copy& copy : copies_) {
      std::memcpy(copy.address[static_cast<std::size_t>(tensor)], stored.data(), stored.size());
    }
    stale_ = true;
  }

  std::vector<double> read(int tensor, std::int64_t first, std::int64_t count) override {
    return read_tensor(tensor_at(tensor), copies_.front().address[static_cast<std::size_t>(tensor)], first, count);
  }

  std::vector<double> run(int executions) override {
    make_ready();
    const std::size_t copies = copies_.size();
    const double start = monotonic_seconds();
    for (std::size_t execution = 0; execution < static_cast<std::size_t>(executions); ++execution) {
      for (const auto& step : copies_[execution % copies].steps) {
        step->run();
      }
    }
    return {monotonic_seconds() - start};
  }

  std::vector<double> run_by_step() override {
    make_ready();
    std::vector<double> seconds;
    for (const auto& step : copies_.front().steps) {
      const double start = monotonic_seconds();
      step->run();
      seconds.push_back(monotonic_seconds() - start);
    }
    return seconds;
  }

  Footprint footprint() const override {
    Footprint footprint;
    footprint.planned = sum(places_.size) * static_cast<std::int64_t>(copies_.size());
    std::int64_t reserved = 0;
    for (const Copy& copy : copies_) {
      for (const Block& block : copy.blocks) {
        footprint.allocated += block.bytes();
        reserved += block.reserved();  // more by what is missing to whole pages
      }
    }
    footprint.reserved = reserved;
    const auto resident = resident_bytes();
    if (resident && resident_before_ && *resident >= *resident_before_) {
      footprint.device = *resident - *resident_before_;
    }
    footprint.workspace = workspace();
    return footprint;
  }

  Choice choice() const override {
    Choice choice = copies_.front().steps.empty() ? Choice{} : copies_.front().steps.front()->choice();
    if (work_.steps.size() > 1) {
      choice = Choice{};
      choice.method = methods();
    }
    choice.workspace = workspace();
    add_note(choice.note, huge_page_note());
    return choice;
  }

 private:
  const Tensor& tensor_at(int tensor) const {
    if (tensor < 0 || static_cast<std::size_t>(tensor) >= work_.tensors.size()) {
      throw Error("there is no tensor " + std::to_string(tensor) + " in " + work_.name);
    }
    return work_.tensors[static_cast<std::size_t>(tensor)];
  }

  // Pages are only promised when they are mapped, and taken when they are touched: then it is too late to say no.
  void require_memory(int copies, const HostLimits& limits) const {
    const std::int64_t needed = sum(places_.size) * copies;
    const std::int64_t usable = usable_memory(limits);
    if (needed > usable) {
      throw OutOfMemory("preparing " + work_.name + " takes " + std::to_string(needed) + " bytes of memory, and only " +
                        std::to_string(usable) + " can be had now");
    }
  }

  Copy make_copy(const Preparation& preparation) {
    Copy copy;
    for (const std::int64_t size : places_.size) {
      copy.blocks.emplace_back(size);
    }
    for (std::size_t i = 0; i < work_.tensors.size(); ++i) {
      copy.address.push_back(copy.blocks[places_.block[i]].data() + plan_.offset[i]);
      touch(copy.address.back(), plan_.bytes[i], threads_);
    }
    for (const Step& step : work_.steps) {
      KernelSetup setup{*libraries_, threads_, preparation.algorithm, preparation.workspace_limit, scratch_, {}};
      Pointers pointers;
      for (const int operand : step.operands) {
        pointers.push_back(copy.address.at(static_cast<std::size_t>(operand)));
        setup.constant.push_back(constant(work_, operand));
      }
      copy.steps.push_back(make_kernel(step.op, pointers, setup));
    }
    return copy;
  }

  void make_ready() {
    omp_set_num_threads(threads_);
    if (!stale_) {
      return;
    }
    for (Copy& copy : copies_) {
      for (const auto& step : copy.steps) {
        step->refresh();
      }
    }
    stale_ = false;
  }

  // Scratch memory is shared by all steps; what is packed belongs to each step.
  std::int64_t workspace() const {
    std::int64_t total = scratch_->bytes();
    for (const Copy& copy : copies_) {
      for (const auto& step : copy.steps) {
        total += step->packed_bytes();
      }
    }
    return total;
  }

  std::string methods() const {
    std::vector<std::string> different;
    for (const auto& step : copies_.front().steps) {
      if (std::find(different.begin(), different.end(), step->method()) == different.end()) {
        different.push_back(step->method());
      }
    }
    std::string joined;
    for (const std::string& method : different) {
      joined += (joined.empty() ? "" : "; ") + method;
    }
    return joined;
  }

  static void add_note(std::string& note, const std::string& more) {
    if (!more.empty()) {
      note += (note.empty() ? "" : "; ") + more;
    }
  }

  std::string huge_page_note() const {
    std::int64_t huge = 0;
    std::int64_t all = 0;
    for (const Copy& copy : copies_) {
      for (const Block& block : copy.blocks) {
        const auto found = block.huge_bytes();
        if (!found) {
          return "";
        }
        huge += *found;
        all += block.reserved();
      }
    }
    if (all < (std::int64_t{2} << 20)) {
      return "";  // smaller than one large page
    }
    return std::to_string(huge >> 20) + " of " + std::to_string(all >> 20) + " MiB on large pages";
  }

  Work work_;
  Plan plan_;
  Places places_;
  std::shared_ptr<Libraries> libraries_;
  int threads_;
  std::optional<std::int64_t> resident_before_;
  std::shared_ptr<Scratch> scratch_ = std::make_shared<Scratch>();
  std::vector<Copy> copies_;
  bool stale_ = true;  // the kernels have not seen the operands as they are
};

}  // namespace

std::unique_ptr<Program> make_program(const Work& work, const Preparation& preparation, const ProgramSetup& setup) {
  check(work);
  if (work.lanes > 1) {
    throw Unsupported("the processor runs one lane: all its cores work on one step at a time, and " + work.name +
                      " has " + std::to_string(work.lanes) + " lanes");
  }
  if (preparation.launch == LaunchMode::graph) {
    throw Unsupported("a processor has no graphs of launches; its steps run one after the other");
  }
  if (preparation.operand_copies < 1) {
    throw Error("preparing " + work.name + " with " + std::to_string(preparation.operand_copies) +
                " copies of its operands; there must be at least one");
  }
  return std::make_unique<CpuProgram>(work, preparation, setup);
}

}  // namespace assay::cpu
