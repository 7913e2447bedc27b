// Streams, events and graphs of the pretended machine. Nothing runs before somebody waits, and then streams get on in
// an order that no one can rely on. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/host_vendor/machine.h"

namespace vendor::host {

struct StreamState;
struct EventState;
struct GraphState;

// What a stream has to do.
struct Job {
  std::string name;
  std::function<bool()> run;  // false: it faulted
  double seconds = 0;         // by the device's clock
  std::vector<int> devices;   // whose memory it touches
};

StreamState* open_stream();
void close_stream(StreamState* stream) noexcept;
EventState* open_event();
void close_event(EventState* event) noexcept;
void close_graph(GraphState* graph) noexcept;

void queue(StreamState* stream, Job job);
void queue_record(EventState* event, StreamState* stream);
void queue_wait(StreamState* stream, EventState* event);
void queue_graph(GraphState* graph, StreamState* stream);

void capture(StreamState* stream);
GraphState* captured(StreamState* stream);
void forget_capture(StreamState* stream) noexcept;
bool capturing(const StreamState* stream);

// Runs until the stream is empty, and whatever else then happens to run. Throws DeviceLost where that cannot be.
void drain(StreamState* stream);
void drain_all();

double between(const EventState* first, const EventState* last);

void count_queues(Live& live);
void forget_queues();

}  // namespace vendor::host
