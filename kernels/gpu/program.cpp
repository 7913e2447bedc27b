// Programs: steps queued on lanes, behind a gate, between events; or as graphs.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/program.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/error.h"
#include "kernels/gpu/gate.h"
#include "kernels/gpu/handles.h"
#include "kernels/gpu/launch_program.h"
#include "kernels/gpu/make_kernel.h"
#include "kernels/gpu/order.h"
#include "kernels/gpu/tensors.h"

namespace assay::gpu {
namespace {

// A queue takes about a thousand entries and then keeps the host waiting, which a closed gate must never meet.
constexpr int queue_room = 500;

// The kernels bound to one set of tensors, with the events that other lanes wait for.
struct Copy {
  std::vector<std::unique_ptr<Kernel>> steps;
  std::vector<EventHandle> done;  // by step; only where another lane waits for it
  GraphHandle graph;
};

struct Lane {
  StreamHandle stream = new_stream();
  EventHandle first = new_event();
  EventHandle last = new_event();
};

// Frees what waits when its block is left, by an exception too.
class OpensAtEnd {
 public:
  explicit OpensAtEnd(Gate& gate) : gate_(gate) {}
  OpensAtEnd(const OpensAtEnd&) = delete;
  OpensAtEnd& operator=(const OpensAtEnd&) = delete;
  ~OpensAtEnd() { gate_.open(); }

 private:
  Gate& gate_;
};

void add_note(std::string& note, const std::string& more) {
  if (!more.empty()) note += (note.empty() ? "" : "; ") + more;
}

std::int64_t free_memory(int device) {
  vendor::use(device);
  return vendor::memory_state().free;
}

class GpuProgram : public Program {
 public:
  GpuProgram(const Work& work, const Preparation& preparation, const ProgramSetup& setup)
      : work_(work),
        device_(setup.device),
        launch_mode_(preparation.launch),
        library_(setup.library),
        plan_(plan(work_, Tensors::alignment)),
        order_(order_of(work_, plan_)),
        free_before_(free_memory(setup.device)),
        lanes_(static_cast<std::size_t>(work.lanes)),
        gate_(setup.device),
        tensors_(work_, plan_, preparation.operand_copies, setup.device, stream()) {
    // Algorithms are compared on numbers like those they will be timed on: cards run faster on zeros.
    if (preparation.algorithm == Algorithm::best) tensors_.fill(Pattern::typical, 0);
    for (int copy = 0; copy < tensors_.copies(); ++copy) copies_.push_back(make_copy(copy, preparation));
    for (const auto& step : copies_.front().steps) {
      launches_ += step->launches() + 2;  // with what lanes say to each other
      blocks_host_ = blocks_host_ || step->blocks_host();
    }
  }

  // What is queued must be over before its memory goes.
  ~GpuProgram() override {
    gate_.open();
    try {
      vendor::use(device_);
      for (const Lane& lane : lanes_) vendor::synchronise(lane.stream.get());
    } catch (...) {  // the device is lost, and its memory with it
    }
  }

  void fill(Pattern pattern, std::uint64_t seed) override {
    vendor::use(device_);
    tensors_.fill(pattern, seed);
    stale_ = true;
  }

  void write(int tensor, const std::vector<std::byte>& stored) override {
    vendor::use(device_);
    tensors_.write(tensor, stored);
    stale_ = true;
  }

  std::vector<double> read(int tensor, std::int64_t first, std::int64_t count) override {
    vendor::use(device_);
    return tensors_.read(tensor, first, count);
  }

  std::vector<double> run(int executions) override {
    require(executions);
    make_ready();
    const vendor::Range range(work_.name);
    std::vector<double> seconds(lanes_.size());
    int done = 0;
    while (done < executions) {
      const int some = std::min(executions - done, chunk());
      run_some(done, some, seconds);
      done += some;
    }
    return seconds;
  }

  std::vector<double> run_by_step() override {
    make_ready();
    const vendor::Range range(work_.name + ", step by step");
    std::vector<EventHandle> marks;
    marks.push_back(new_event());
    vendor::record(marks.back().get(), stream());
    for (const auto& step : copies_.front().steps) {
      step->enqueue(stream());
      marks.push_back(new_event());
      vendor::record(marks.back().get(), stream());
    }
    vendor::synchronise(stream());
    ran_ = true;
    std::vector<double> seconds;
    for (std::size_t i = 1; i < marks.size(); ++i) {
      seconds.push_back(vendor::seconds_between(marks[i - 1].get(), marks[i].get()));
    }
    return seconds;
  }

  Footprint footprint() const override {
    Footprint footprint;
    footprint.planned = tensors_.planned();
    footprint.allocated = tensors_.allocated();
    footprint.workspace = workspace();
    const std::int64_t free = free_memory(device_);
    if (free <= free_before_) footprint.device = free_before_ - free;
    return footprint;
  }

  Choice choice() const override {
    Choice choice = copies_.front().steps.size() == 1 ? copies_.front().steps.front()->choice() : all_choices();
    choice.workspace = workspace();
    add_note(choice.note, tensors_.note());
    if (launch_mode_ == LaunchMode::graph) {
      add_note(choice.note, graphs() ? "launched as a graph"
                                     : "asked for a graph, which copies of pageable memory "
                                       "cannot be in");
    }
    if (gate_.gave_up()) add_note(choice.note, "the device did not wait for the host, so there may be gaps");
    return choice;
  }

 private:
  vendor::Stream stream() const { return lanes_.front().stream.get(); }
  bool graphs() const { return launch_mode_ == LaunchMode::graph && !blocks_host_; }

  void require(int executions) const {
    if (executions < 1) throw Error("running " + work_.name + " " + std::to_string(executions) + " times");
  }

  Copy make_copy(int number, const Preparation& preparation) {
    Copy copy;
    for (std::size_t i = 0; i < work_.steps.size(); ++i) {
      const Step& step = work_.steps[i];
      copy.done.push_back(order_.awaited[i] ? new_event() : EventHandle());
      if (number > 0) {  // nothing is chosen twice, and workspace is held once
        if (auto kernel = copies_.front().steps[i]->again(tensors_.operands(number, step))) {
          copy.steps.push_back(std::move(kernel));
          continue;
        }
      }
      KernelSetup setup;
      setup.device = device_;
      setup.constant = tensors_.constant(step);
      setup.stream = stream();
      setup.algorithm = preparation.algorithm;
      setup.workspace_limit = preparation.workspace_limit;
      copy.steps.push_back(make_kernel(step.op, tensors_.operands(number, step), setup, *library_));
    }
    return copy;
  }

  void make_ready() {
    vendor::use(device_);
    if (!stale_) return;
    for (Copy& copy : copies_) {
      for (const auto& step : copy.steps) step->refresh();
    }
    stale_ = false;
  }

  // The first run is as plain as can be: what it loads lazily would wait for the device, and the device for the gate.
  bool gated() const { return ran_ && !blocks_host_ && !gate_.gave_up() && (graphs() || launches_ <= queue_room); }

  int chunk() const {
    if (!ran_) return 1;
    if (!gated()) return queue_room;
    return graphs() ? queue_room : std::max(1, queue_room / std::max(1, launches_));
  }

  // Executions [done, done + some), and their seconds added.
  void run_some(int done, int some, std::vector<double>& seconds) {
    const bool as_graphs = graphs() && ran_;
    if (as_graphs) capture_graphs();
    {
      const OpensAtEnd opener(gate_);
      begin(gated());
      for (int i = done; i < done + some; ++i) {
        Copy& copy = copies_[static_cast<std::size_t>(i) % copies_.size()];
        as_graphs ? vendor::launch(copy.graph.get(), stream()) : queue_steps(copy, true);
      }
      for (const Lane& lane : lanes_) vendor::record(lane.last.get(), lane.stream.get());
    }
    for (const Lane& lane : lanes_) vendor::synchronise(lane.stream.get());
    ran_ = true;
    const vendor::Event start = lanes_.front().first.get();
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      // A graph is on the first lane whatever was captured into it.
      seconds[i] += vendor::seconds_between(start, lanes_[as_graphs ? 0 : i].last.get());
    }
  }

  // All lanes start at the same moment.
  void begin(bool behind_gate) {
    if (behind_gate) gate_.close(stream());
    vendor::record(lanes_.front().first.get(), stream());
    for (std::size_t i = 1; i < lanes_.size(); ++i) vendor::wait(lanes_[i].stream.get(), lanes_.front().first.get());
  }

  void queue_steps(Copy& copy, bool with_executions_before) {
    for (std::size_t i = 0; i < copy.steps.size(); ++i) {
      const vendor::Stream lane = lanes_[static_cast<std::size_t>(work_.steps[i].lane)].stream.get();
      for (const Wait& wait : order_.waits[i]) {
        if (wait.execution_before && !with_executions_before) continue;
        vendor::wait(lane, copy.done[static_cast<std::size_t>(wait.step)].get());
      }
      copy.steps[i]->enqueue(lane);
      if (copy.done[i]) vendor::record(copy.done[i].get(), lane);
    }
  }

  // One graph for each copy. Graphs follow each other on one stream, so only waits within an execution are needed.
  void capture_graphs() {
    for (Copy& copy : copies_) {
      if (copy.graph) continue;
      Capture capture(stream());
      vendor::record(lanes_.front().first.get(), stream());
      for (std::size_t i = 1; i < lanes_.size(); ++i) {
        vendor::wait(lanes_[i].stream.get(), lanes_.front().first.get());
      }
      queue_steps(copy, false);
      for (std::size_t i = 1; i < lanes_.size(); ++i) {
        vendor::record(lanes_[i].last.get(), lanes_[i].stream.get());
        vendor::wait(stream(), lanes_[i].last.get());
      }
      copy.graph = capture.end();
    }
  }

  std::int64_t workspace() const {
    std::int64_t total = 0;
    for (const Copy& copy : copies_) {
      for (const auto& step : copy.steps) total += step->workspace_bytes();
    }
    return total;
  }

  // Every different method once.
  Choice all_choices() const {
    Choice all;
    std::vector<std::string> methods;
    for (const auto& step : copies_.front().steps) {
      const std::string method = step->choice().method;
      if (method.empty() || std::find(methods.begin(), methods.end(), method) != methods.end()) continue;
      methods.push_back(method);
      add_note(all.method, method);
    }
    return all;
  }

  Work work_;
  int device_;
  LaunchMode launch_mode_;
  std::shared_ptr<vendor::MatrixLibrary> library_;
  Plan plan_;
  Order order_;
  std::int64_t free_before_;
  std::vector<Lane> lanes_;
  Gate gate_;
  Tensors tensors_;
  std::vector<Copy> copies_;
  int launches_ = 0;          // of one execution, at most
  bool blocks_host_ = false;  // whether any step does
  bool stale_ = true;         // the kernels have not seen the operands as they are
  bool ran_ = false;          // everything that is loaded at its first use is there
};

}  // namespace

std::unique_ptr<Program> make_program(const Work& work, const Preparation& preparation, const ProgramSetup& setup) {
  check(work);
  if (preparation.operand_copies < 1) throw Error("preparing " + work.name + " without operands");
  vendor::use(setup.device);
  if (is_launch_work(work)) return make_launch_program(work, setup.device);
  return std::make_unique<GpuProgram>(work, preparation, setup);
}

}  // namespace assay::gpu
