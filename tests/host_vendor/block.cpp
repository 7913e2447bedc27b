// Lanes as fibers. A fiber runs one thread after the other until one of them waits; then the next fiber goes on, so
// that kernels which never wait take one fiber and no switches. SPDX-License-Identifier: Apache-2.0
#include "tests/host_vendor/block.h"

#include <ucontext.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "tests/host_vendor/lanes.h"
#include "tests/host_vendor/machine.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace vendor::host {
namespace {

constexpr std::size_t stack_bytes = 256 << 10;

// A stack and where it was left. The scheduler has one too, on the stack of the program.
struct Fiber {
  ucontext_t context{};
  std::unique_ptr<std::byte[]> stack;
  const void* bottom = nullptr;
  std::size_t size = 0;
  void* fake_stack = nullptr;  // the sanitizer's
};

void change(Fiber& from, Fiber& to) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(&from.fake_stack, to.bottom, to.size);
#endif
  swapcontext(&from.context, &to.context);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(from.fake_stack, nullptr, nullptr);
#endif
}

enum class Waits : std::uint8_t { no, for_block, for_warp };

struct LaneState {
  Fiber* fiber = nullptr;  // where it waits
  Waits waits = Waits::no;
  bool ended = false;
  std::byte slot[largest_exchanged] = {};
};

class Scheduler {
 public:
  bool run_block(const Standing& first, const std::function<void()>& body) {
    body_ = &body;
    standing_ = first;
    lanes_.assign(first.threads, LaneState{});
    next_ = 0;
    while (next_ < standing_.threads) enter(free_fiber());
    while (const unsigned waiting = count_waiting()) {
      if (!release(waiting)) return false;
    }
    return true;
  }

  const Standing& standing() const { return standing_; }

  void wait(Waits what) {
    const unsigned thread = standing_.thread;
    lanes_[thread].waits = what;
    lanes_[thread].fiber = current_;
    change(*current_, scheduler_);
    standing_.thread = thread;
  }

  void exchange(void* value, std::size_t bytes, unsigned mask) {
    const unsigned thread = standing_.thread;
    std::memcpy(lanes_[thread].slot, value, bytes);
    wait(Waits::for_warp);
    const unsigned partner = thread ^ mask;
    const bool there = partner < standing_.threads && partner / lanes_per_warp() == thread / lanes_per_warp();
    std::memcpy(value, lanes_[there ? partner : thread].slot, bytes);
    wait(Waits::for_warp);  // nobody puts the next value over one that is still to be read
  }

 private:
  static Scheduler*& entering() {
    static Scheduler* one = nullptr;
    return one;
  }

  static void begin() {
    Scheduler& scheduler = *entering();
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(nullptr, &scheduler.scheduler_.bottom, &scheduler.scheduler_.size);
#endif
    scheduler.live();
  }

  // The life of a fiber: threads that have not begun yet, then waiting to be used for another block.
  [[noreturn]] void live() {
    while (true) {
      while (next_ < standing_.threads) {
        standing_.thread = next_++;
        const unsigned thread = standing_.thread;
        (*body_)();
        lanes_[thread].ended = true;
      }
      free_.push_back(current_);
      change(*current_, scheduler_);
    }
  }

  Fiber& free_fiber() {
    if (!free_.empty()) {
      Fiber& fiber = *free_.back();
      free_.pop_back();
      return fiber;
    }
    auto fiber = std::make_unique<Fiber>();
    fiber->stack = std::make_unique<std::byte[]>(stack_bytes);
    fiber->bottom = fiber->stack.get();
    fiber->size = stack_bytes;
    getcontext(&fiber->context);
    fiber->context.uc_stack.ss_sp = fiber->stack.get();
    fiber->context.uc_stack.ss_size = stack_bytes;
    fiber->context.uc_link = nullptr;
    makecontext(&fiber->context, &Scheduler::begin, 0);
    fibers_.push_back(std::move(fiber));
    return *fibers_.back();
  }

  void enter(Fiber& fiber) {
    entering() = this;
    current_ = &fiber;
    change(scheduler_, fiber);
  }

  void resume(unsigned thread) {
    LaneState& lane = lanes_[thread];
    lane.waits = Waits::no;
    enter(*lane.fiber);
  }

  unsigned count_waiting() const {
    unsigned count = 0;
    for (const LaneState& lane : lanes_) count += lane.waits != Waits::no ? 1 : 0;
    return count;
  }

  // Lets go on whoever need not wait any longer; false where nobody can.
  bool release(unsigned waiting) {
    unsigned at_block = 0;
    for (const LaneState& lane : lanes_) at_block += lane.waits == Waits::for_block ? 1 : 0;
    if (at_block == standing_.threads) {
      for (unsigned thread = standing_.threads; thread-- > 0;) resume(thread);  // not in the order they came
      return true;
    }
    bool any = false;
    for (unsigned first = 0; first < standing_.threads; first += lanes_per_warp()) any = release_warp(first) || any;
    if (any) return true;
    machine().complain("a kernel hangs: " + std::to_string(waiting) + " of " + std::to_string(standing_.threads) +
                       " threads wait, " + std::to_string(at_block) + " of them for the whole block");
    fibers_.clear();
    free_.clear();
    return false;
  }

  bool release_warp(unsigned first) {
    const unsigned last = std::min(first + lanes_per_warp(), standing_.threads);
    for (unsigned thread = first; thread < last; ++thread) {
      if (lanes_[thread].waits != Waits::for_warp) return false;
    }
    for (unsigned thread = last; thread-- > first;) resume(thread);
    return true;
  }

  const std::function<void()>* body_ = nullptr;
  Standing standing_;
  std::vector<LaneState> lanes_;
  unsigned next_ = 0;
  Fiber scheduler_;
  Fiber* current_ = nullptr;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Fiber*> free_;
};

Scheduler& scheduler() {
  static Scheduler one;
  return one;
}

}  // namespace

const Standing& standing() { return scheduler().standing(); }
void wait_for_block() { scheduler().wait(Waits::for_block); }
void exchange(void* value, std::size_t bytes, unsigned mask) { scheduler().exchange(value, bytes, mask); }

std::int64_t next_cycles() {
  static std::int64_t now = 0;
  return now += std::int64_t{1} << 26;
}

bool run_blocks(unsigned blocks, unsigned threads, std::size_t shared_bytes, const std::function<void()>& body) {
  std::vector<std::byte> shared(shared_bytes + 1);  // aligned to 16 bytes, as everything from the heap
  Standing standing;
  standing.threads = threads;
  standing.blocks = blocks;
  standing.shared = shared.data();
  for (unsigned block = 0; block < blocks; ++block) {
    std::memset(shared.data(), 0xCD, shared_bytes);
    standing.block = block;
    if (!scheduler().run_block(standing, body)) return false;
  }
  return true;
}

}  // namespace vendor::host
