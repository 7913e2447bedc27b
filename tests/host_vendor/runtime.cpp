// The vendor's calls on the pretended machine.
// SPDX-License-Identifier: Apache-2.0
#include "gpu/runtime.h"

#include <cstring>
#include <utility>

#include "core/error.h"
#include "tests/host_vendor/block.h"
#include "tests/host_vendor/machine.h"
#include "tests/host_vendor/memory.h"
#include "tests/host_vendor/queue.h"

namespace vendor {
namespace {

using host::Call;
using host::machine;

constexpr int most_threads = 1024;
constexpr std::size_t most_shared = 48 << 10;

std::string amount(std::int64_t bytes) { return std::to_string(bytes) + " bytes"; }

std::vector<int> reachable(int device) {
  std::vector<int> devices{device};
  for (const auto& [from, to] : machine().opened_peers) {
    if (from == device && to < machine().settings().devices) devices.push_back(to);
  }
  return devices;
}

std::vector<int> all_devices() {
  std::vector<int> devices;
  for (int device = 0; device < machine().settings().devices; ++device) devices.push_back(device);
  return devices;
}

double copy_seconds(std::int64_t bytes) {
  return 1e-6 + static_cast<double>(bytes) / machine().settings().bytes_per_second;
}

bool plain_host(const void* memory) { return host::owner(memory) < 0 && !host::is_pinned(memory); }

assay::Fact fact(const std::string& name, const std::string& text) {
  assay::Fact fact;
  fact.name = name;
  fact.text = text;
  fact.source = "made up";
  return fact;
}

void queue_copy(void* to, const void* from, std::int64_t bytes, Stream stream) {
  const bool pageable = plain_host(to) || plain_host(from);
  if (pageable && host::capturing(stream)) throw assay::Error("copying pageable memory in a graph");
  host::Job job;
  job.name = "a copy";
  job.seconds = copy_seconds(bytes);
  job.devices = all_devices();
  job.run = [=] {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
    return true;
  };
  host::queue(stream, std::move(job));
  // The driver stages such copies, and keeps the host until the device has come that far.
  if (pageable) host::drain(stream);
}

}  // namespace

Availability availability() {
  const host::Settings& settings = machine().settings();
  return {settings.devices, settings.reason, settings.cure};
}

assay::DeviceInfo describe(int device) {
  machine().called(Call::describe, "describing device " + std::to_string(device));
  assay::DeviceInfo info;
  info.id = std::string(backend_name) + ":" + std::to_string(device);
  info.backend = backend_name;
  const host::Die& die = machine().settings().die;
  info.name = die.name;
  info.vendor = vendor_name;
  info.architecture = die.architecture;
  info.memory_total = machine().settings().memory;
  info.memory_available = machine().settings().memory - host::used(device);
  info.compute_units = multiprocessors(device);
  info.caches = {{1, 16 << 10, multiprocessors(device)}, {2, die.last_cache, 1}};
  info.driver = "pretended 1.0";
  info.runtime = "host";
  info.unique_id = "HOST-" + std::to_string(device);
  info.facts.push_back(fact("pci_address", "0000:0" + std::to_string(device) + ":00.0"));
  info.facts.push_back(fact("integrated", machine().settings().integrated ? "yes" : "no"));
  info.facts.insert(info.facts.end(), die.facts.begin(), die.facts.end());
  return info;
}

void use(int device) {
  machine().called(Call::use, "choosing device " + std::to_string(device));
  if (device < 0 || device >= machine().settings().devices) {
    throw assay::Error("choosing device " + std::to_string(device) + ", which does not exist");
  }
  machine().device = device;
}

int architecture(int) { return machine().settings().die.architecture_number; }
int multiprocessors(int) { return machine().settings().die.multiprocessors; }
std::int64_t last_cache_bytes(int) { return machine().settings().die.last_cache; }

MemoryState memory_state() {
  machine().called(Call::memory_state, "asking how much memory is free");
  const std::int64_t total = machine().settings().memory;
  return {total - host::used(machine().device), total};
}

assay::Support peer_access(int device, int peer) {
  if (machine().settings().peers && device != peer) return {true, ""};
  return {false, "the pretended devices cannot reach each other"};
}

void enable_peer_access(int peer) {
  machine().called(Call::peer, "opening the memory of device " + std::to_string(peer));
  if (!machine().settings().peers) throw assay::Unsupported("the pretended devices cannot reach each other");
  machine().opened_peers.insert({machine().device, peer});
}

void* allocate(std::int64_t bytes) {
  machine().called(Call::allocate, "allocating " + amount(bytes));
  return host::take(bytes, machine().device);
}

// Waits for the device, as drivers do.
void release(void* memory) noexcept {
  if (machine().lost().empty()) {
    try {
      host::drain_all();
    } catch (const assay::Error&) {  // what was lost shows elsewhere
    }
  }
  host::give_back(memory);
}

void* allocate_pinned(std::int64_t bytes) {
  machine().called(Call::allocate_pinned, "allocating " + amount(bytes) + " of pinned memory");
  return host::take_pinned(bytes);
}
void release_pinned(void* memory) noexcept { host::give_back_pinned(memory); }

void pin(void* memory, std::int64_t bytes) {
  machine().called(Call::pin, "pinning " + amount(bytes));
  host::register_pages(memory, bytes);
}
void unpin(void* memory) noexcept { host::forget_pages(memory); }

void* allocate_in_order(std::int64_t bytes, Stream) {
  machine().called(Call::allocate_in_order, "allocating " + amount(bytes) + " in a stream's order");
  return host::take(bytes, machine().device);
}
void release_in_order(void* memory, Stream stream) {
  machine().called(Call::release_in_order, "releasing memory in a stream's order");
  host::drain(stream);
  host::give_back(memory);
}

Stream make_stream() {
  machine().called(Call::make_stream, "making a stream");
  return host::open_stream();
}
void destroy(Stream stream) noexcept { host::close_stream(stream); }
Event make_event() {
  machine().called(Call::make_event, "making an event");
  return host::open_event();
}
void destroy(Event event) noexcept { host::close_event(event); }
void record(Event event, Stream stream) {
  machine().called(Call::record, "recording an event");
  host::queue_record(event, stream);
}
void wait(Stream stream, Event event) {
  machine().called(Call::wait, "letting a stream wait");
  host::queue_wait(stream, event);
}
void synchronise(Stream stream) {
  machine().called(Call::synchronise, "waiting for queued work");
  host::drain(stream);
}
void synchronise() {
  machine().called(Call::synchronise, "waiting for the device");
  host::drain_all();
}
double seconds_between(Event first, Event last) {
  machine().called(Call::seconds_between, "asking for the time between two events");
  return host::between(first, last);
}

void copy(void* to, const void* from, std::int64_t bytes, Stream stream) {
  machine().called(Call::copy, "copying " + amount(bytes));
  queue_copy(to, from, bytes, stream);
}

void copy_peer(void* to, int to_device, const void* from, int from_device, std::int64_t bytes, Stream stream) {
  machine().called(Call::copy_peer, "copying " + amount(bytes) + " between devices");
  if (host::owner(to) != to_device || host::owner(from) != from_device) {
    throw assay::Error("copying between devices: the memory is on other devices than said");
  }
  queue_copy(to, from, bytes, stream);
}

void set_bytes(void* to, int value, std::int64_t bytes, Stream stream) {
  machine().called(Call::set_bytes, "setting " + amount(bytes));
  host::Job job;
  job.name = "setting bytes";
  job.seconds = copy_seconds(bytes);
  job.devices = reachable(machine().device);
  job.run = [=] {
    std::memset(to, value, static_cast<std::size_t>(bytes));
    return true;
  };
  host::queue(stream, std::move(job));
}

void begin_capture(Stream stream) {
  machine().called(Call::begin_capture, "beginning to capture a graph");
  host::capture(stream);
}
Graph end_capture(Stream stream) {
  try {
    machine().called(Call::end_capture, "capturing a graph");
  } catch (...) {
    host::forget_capture(stream);  // a failed end is an end
    throw;
  }
  return host::captured(stream);
}
void abandon_capture(Stream stream) noexcept { host::forget_capture(stream); }
void launch(Graph graph, Stream stream) {
  machine().called(Call::launch_graph, "launching a graph");
  host::queue_graph(graph, stream);
}
void destroy(Graph graph) noexcept { host::close_graph(graph); }

Range::Range(const std::string&) {}
Range::~Range() = default;

namespace host {

void queue_kernel(unsigned blocks, unsigned threads, std::size_t shared_bytes, Stream stream,
                  std::function<void()> body) {
  machine().called(Call::launch_kernel, "launching a kernel of " + std::to_string(blocks) + " blocks of " +
                                            std::to_string(threads) + " threads");
  if (blocks < 1 || threads < 1 || threads > most_threads || shared_bytes > most_shared) {
    throw assay::Error("launching a kernel of " + std::to_string(blocks) + " blocks of " + std::to_string(threads) +
                       " threads with " + std::to_string(shared_bytes) + " bytes of shared memory: invalid");
  }
  Job job;
  job.name = "a kernel";
  job.seconds = machine().settings().kernel_seconds;
  job.devices = reachable(machine().device);
  job.run = [=, body = std::move(body)] {
    if (machine().kernel_faults()) return false;
    return run_blocks(blocks, threads, shared_bytes, body);
  };
  queue(stream, std::move(job));
}

void queue_work(const std::string& name, double seconds, Stream stream, std::function<void()> body) {
  machine().called(Call::launch_kernel, "launching " + name);
  Job job;
  job.name = name;
  job.seconds = seconds;
  job.devices = reachable(machine().device);
  job.run = [body = std::move(body)] {
    if (machine().kernel_faults()) return false;
    body();
    return true;
  };
  queue(stream, std::move(job));
}

}  // namespace host
}  // namespace vendor
