// Queues, and the order in which they get on.
// SPDX-License-Identifier: Apache-2.0
#include "tests/host_vendor/queue.h"

#include <algorithm>
#include <ctime>
#include <deque>
#include <map>
#include <optional>

#include "core/error.h"
#include "core/fill.h"
#include "tests/host_vendor/memory.h"

namespace vendor::host {

// How far each stream of a capture is known to have come.
using Known = std::map<const StreamState*, int>;

struct GraphState {
  std::vector<Job> jobs;  // in an order that respects all waits
};

struct CaptureState {
  StreamState* origin = nullptr;
  std::vector<StreamState*> members;
  std::shared_ptr<GraphState> graph = std::make_shared<GraphState>();
  bool over = false;
};

struct EventState {
  int recorded = 0;  // times that it was queued
  int passed = 0;    // times that a stream came to it
  double time = 0;
  std::shared_ptr<CaptureState> capture;  // where it was last recorded in one
  Known known;
};

struct Entry {
  enum class Kind : std::uint8_t { job, record, wait } kind = Kind::job;
  Job job;
  std::shared_ptr<EventState> event;
  int number = 0;  // which recording
};

struct StreamState {
  int device = 0;
  std::deque<Entry> entries;
  double now = 0;
  std::shared_ptr<CaptureState> capture;
  Known known;
  int queued = 0;  // within the capture
};

namespace {

struct Queues {
  std::vector<std::unique_ptr<StreamState>> streams;
  std::vector<std::shared_ptr<EventState>> events;
  std::vector<std::shared_ptr<GraphState>> graphs;  // a queue that still runs one keeps it as well
  std::uint64_t draws = 0;
};
Queues& all() {
  static Queues queues;
  return queues;
}

std::shared_ptr<EventState> shared(EventState* event) {
  for (const auto& one : all().events) {
    if (one.get() == event) return one;
  }
  throw assay::Error("an event that does not exist");
}

void require(const StreamState* stream) {
  const auto& streams = all().streams;
  if (std::none_of(streams.begin(), streams.end(), [&](const auto& one) { return one.get() == stream; })) {
    throw assay::Error("a stream that does not exist");
  }
}

bool ready(const StreamState& stream) {
  if (stream.entries.empty()) return false;
  const Entry& next = stream.entries.front();
  return next.kind != Entry::Kind::wait || next.event->passed >= next.number;
}

double host_seconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void run(StreamState& stream, Job& job) {
  const double started = host_seconds();
  bool sound = false;
  {
    const Opened opened(job.devices);
    sound = job.run();
    press_stuck_byte();
  }
  stream.now += machine().settings().real_time ? host_seconds() - started : job.seconds;
  if (!sound) machine().lose("an illegal access in " + job.name);
}

void step(StreamState& stream) {
  Entry entry = std::move(stream.entries.front());
  stream.entries.pop_front();
  switch (entry.kind) {
    case Entry::Kind::job:
      return run(stream, entry.job);
    case Entry::Kind::record:
      entry.event->passed = std::max(entry.event->passed, entry.number);
      entry.event->time = stream.now;
      return;
    case Entry::Kind::wait:
      stream.now = std::max(stream.now, entry.event->time);
      return;
  }
}

// One entry of one stream that need not wait; false where there is none.
bool get_on() {
  std::vector<StreamState*> able;
  for (const auto& stream : all().streams) {
    if (ready(*stream)) able.push_back(stream.get());
  }
  if (able.empty()) return false;
  const auto chosen = assay::uniform_below(assay::mix(machine().settings().order, all().draws++),
                                           static_cast<std::int64_t>(able.size()));
  step(*able[static_cast<std::size_t>(chosen)]);
  return true;
}

void throw_if_lost(const std::string& doing) {
  if (!machine().lost().empty()) throw assay::DeviceLost(doing + ": " + machine().lost());
}

void push(StreamState* stream, Entry entry) {
  // A full queue keeps the host waiting until there is room.
  while (stream->entries.size() >= machine().settings().queue_length && machine().lost().empty() && get_on()) {
  }
  stream->entries.push_back(std::move(entry));
}

void learn(Known& into, const Known& from) {
  for (const auto& [stream, count] : from) into[stream] = std::max(into[stream], count);
}

void join(StreamState* stream, const std::shared_ptr<CaptureState>& capture) {
  stream->capture = capture;
  stream->known.clear();
  stream->queued = 0;
  capture->members.push_back(stream);
}

// Everybody of the capture goes back to running.
std::shared_ptr<GraphState> end(StreamState* stream, bool& joined) {
  const std::shared_ptr<CaptureState> capture = stream->capture;
  joined = capture->origin == stream;
  for (StreamState* member : capture->members) {
    if (member != stream && stream->known[member] < member->queued) joined = false;
  }
  for (StreamState* member : capture->members) member->capture = nullptr;
  capture->over = true;
  return std::move(capture->graph);
}

}  // namespace

StreamState* open_stream() {
  all().streams.push_back(std::make_unique<StreamState>());
  all().streams.back()->device = machine().device;
  return all().streams.back().get();
}

void close_stream(StreamState* stream) noexcept {
  auto& streams = all().streams;
  const auto found = std::find_if(streams.begin(), streams.end(), [&](const auto& one) { return one.get() == stream; });
  if (found == streams.end()) return machine().complain("a stream was destroyed that does not exist");
  while (!(*found)->entries.empty() && machine().lost().empty() && get_on()) {
  }
  streams.erase(found);
}

EventState* open_event() {
  all().events.push_back(std::make_shared<EventState>());
  return all().events.back().get();
}

void close_event(EventState* event) noexcept {
  auto& events = all().events;
  const auto found = std::find_if(events.begin(), events.end(), [&](const auto& one) { return one.get() == event; });
  if (found == events.end()) return machine().complain("an event was destroyed that does not exist");
  events.erase(found);
}

void close_graph(GraphState* graph) noexcept {
  auto& graphs = all().graphs;
  const auto found = std::find_if(graphs.begin(), graphs.end(), [&](const auto& one) { return one.get() == graph; });
  if (found == graphs.end()) return machine().complain("a graph was destroyed that does not exist");
  graphs.erase(found);
}

void queue(StreamState* stream, Job job) {
  require(stream);
  if (stream->capture != nullptr) {
    stream->known[stream] = ++stream->queued;
    stream->capture->graph->jobs.push_back(std::move(job));
    return;
  }
  Entry entry;
  entry.job = std::move(job);
  push(stream, std::move(entry));
}

void queue_record(EventState* event, StreamState* stream) {
  require(stream);
  const auto kept = shared(event);
  event->capture = stream->capture;
  if (stream->capture != nullptr) {
    event->known = stream->known;
    event->known[stream] = stream->queued;
    return;
  }
  Entry entry;
  entry.kind = Entry::Kind::record;
  entry.event = kept;
  entry.number = ++event->recorded;
  push(stream, std::move(entry));
}

void queue_wait(StreamState* stream, EventState* event) {
  require(stream);
  const auto kept = shared(event);
  if (event->capture != nullptr) {
    if (event->capture->over) throw assay::Error("waiting for an event that was recorded in a graph");
    if (stream->capture == nullptr) join(stream, event->capture);
    if (stream->capture != event->capture) throw assay::Error("waiting in one graph for an event of another");
    return learn(stream->known, event->known);
  }
  if (event->recorded == 0) return;
  if (stream->capture != nullptr) throw assay::Error("waiting in a graph for an event outside of it");
  Entry entry;
  entry.kind = Entry::Kind::wait;
  entry.event = kept;
  entry.number = event->recorded;
  push(stream, std::move(entry));
}

void queue_graph(GraphState* graph, StreamState* stream) {
  Job job;
  job.name = "a graph";
  for (const Job& one : graph->jobs) {
    job.seconds += one.seconds;
    for (const int device : one.devices) {
      if (std::count(job.devices.begin(), job.devices.end(), device) == 0) job.devices.push_back(device);
    }
  }
  const auto& graphs = all().graphs;
  const auto found = std::find_if(graphs.begin(), graphs.end(), [&](const auto& one) { return one.get() == graph; });
  if (found == graphs.end()) throw assay::Error("launching a graph that does not exist");
  job.run = [graph = *found] {
    return std::all_of(graph->jobs.begin(), graph->jobs.end(), [](const Job& one) { return one.run(); });
  };
  queue(stream, std::move(job));
}

void capture(StreamState* stream) {
  require(stream);
  if (stream->capture != nullptr) throw assay::Error("the stream is being captured already");
  auto capture = std::make_shared<CaptureState>();
  capture->origin = stream;
  join(stream, capture);
}

GraphState* captured(StreamState* stream) {
  require(stream);
  if (stream->capture == nullptr) throw assay::Error("the stream is not being captured");
  bool joined = false;
  auto graph = end(stream, joined);
  if (!joined) throw assay::Error("a stream that took part in the graph was not waited for at its end");
  all().graphs.push_back(std::move(graph));
  return all().graphs.back().get();
}

void forget_capture(StreamState* stream) noexcept {
  bool joined = false;
  if (stream->capture != nullptr) end(stream, joined);
}

bool capturing(const StreamState* stream) { return stream->capture != nullptr; }

void drain(StreamState* stream) {
  require(stream);
  if (capturing(stream)) throw assay::Error("waiting for a stream that is being captured");
  while (!stream->entries.empty()) {
    throw_if_lost("waiting for queued work");
    if (get_on()) continue;
    machine().lose("the streams wait for each other");
  }
  throw_if_lost("waiting for queued work");
}

void drain_all() {
  for (std::size_t i = 0; i < all().streams.size(); ++i) drain(all().streams[i].get());
}

double between(const EventState* first, const EventState* last) {
  if (first->passed == 0 || last->passed == 0 || first->passed < first->recorded || last->passed < last->recorded) {
    throw assay::Error("asking for the time between events that have not passed");
  }
  return last->time - first->time;
}

void count_queues(Live& live) {
  live.streams += static_cast<int>(all().streams.size());
  live.events += static_cast<int>(all().events.size());
  live.graphs += static_cast<int>(all().graphs.size());
}

void forget_queues() { all() = Queues(); }

}  // namespace vendor::host
