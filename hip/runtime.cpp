// AMD's runtime behind the names of the seam: memory, streams, events, graphs, launches.
// SPDX-License-Identifier: Apache-2.0
#include "gpu/runtime.h"

#include "core/error.h"

namespace vendor {
namespace {

enum class Kind { unsupported, out_of_memory, lost, other };

Kind kind_of(hipError_t status) {
  switch (static_cast<int>(status)) {
    case hipErrorOutOfMemory:
    case hipErrorRuntimeMemory:
      return Kind::out_of_memory;
    case hipErrorInsufficientDriver:
    case hipErrorInvalidDeviceFunction:
    case hipErrorNoDevice:
    case hipErrorInvalidImage:
    case hipErrorNoBinaryForGpu:
    case hipErrorSharedObjectInitFailed:
    case hipErrorPeerAccessUnsupported:
    case hipErrorNotSupported:
    case hipErrorStreamCaptureUnsupported:
      return Kind::unsupported;
    // After these the runtime's queue is dead.
    case hipErrorDeinitialized:
    case hipErrorECCNotCorrectable:
    case hipErrorIllegalAddress:
    case hipErrorLaunchTimeOut:
    case hipErrorContextIsDestroyed:
    case hipErrorAssert:
    case hipErrorLaunchFailure:
    case hipErrorUnknown:
    case hipErrorRuntimeOther:
      return Kind::lost;
    default:
      return Kind::other;
  }
}

// What a reader can do about it, for the errors that are not the program's fault.
const char* hint(hipError_t status) {
  switch (static_cast<int>(status)) {
    case hipErrorECCNotCorrectable:
      return "; the card's memory is faulty: rocm-smi --showrasinfo shows where, and the provider must look after it";
    case hipErrorNoBinaryForGpu:
    case hipErrorInvalidDeviceFunction:
    case hipErrorSharedObjectInitFailed:
      return "; this build of Assay has no code for this card: build it with its architecture in "
             "ASSAY_HIP_ARCHITECTURES";
    case hipErrorUnknown:
    case hipErrorLaunchFailure:
      return "; dmesg may show an amdgpu line that names the cause";
    default:
      return "";
  }
}

std::string place() {
  int device = -1;
  return hipGetDevice(&device) == hipSuccess ? " on " + std::string(backend_name) + ":" + std::to_string(device) : "";
}

std::size_t size_of(std::int64_t bytes) {
  if (bytes < 0) throw assay::Error("a size of " + std::to_string(bytes) + " bytes");
  return static_cast<std::size_t>(bytes);
}

std::string amount(std::int64_t bytes) { return std::to_string(bytes) + " bytes"; }

// Instantiates and forgets the graph, whatever happens.
Graph instantiate(hipGraph_t captured) {
  Graph ready = nullptr;
  const hipError_t status = hipGraphInstantiate(&ready, captured, nullptr, nullptr, 0);
  static_cast<void>(hipGraphDestroy(captured));
  check(status, "making a graph ready to launch");
  return ready;
}

}  // namespace

void check(hipError_t status, const std::string& doing) {
  if (status == hipSuccess) return;
  const std::string what =
      doing + place() + ": " + hipGetErrorString(status) + " (" + hipGetErrorName(status) + ")" + hint(status);
  static_cast<void>(hipGetLastError());  // one that does not stay must not be found by the next who asks
  switch (kind_of(status)) {
    case Kind::unsupported:
      throw assay::Unsupported(what);
    case Kind::out_of_memory:
      throw assay::OutOfMemory(what);
    case Kind::lost:
      throw assay::DeviceLost(what);
    case Kind::other:
      break;
  }
  throw assay::Error(what);
}

void use(int device) { check(hipSetDevice(device), "choosing device " + std::to_string(device)); }

MemoryState memory_state() {
  std::size_t free = 0;
  std::size_t total = 0;
  check(hipMemGetInfo(&free, &total), "asking how much memory is free");
  return {static_cast<std::int64_t>(free), static_cast<std::int64_t>(total)};
}

assay::Support peer_access(int device, int peer) {
  int can = 0;
  const hipError_t status = hipDeviceCanAccessPeer(&can, device, peer);
  if (status != hipSuccess) {
    static_cast<void>(hipGetLastError());
    return {false, std::string("the driver does not say whether the devices reach each other: ") +
                       hipGetErrorString(status) + " (" + hipGetErrorName(status) + ")"};
  }
  if (can != 0) return {true, ""};
  return {false, "the driver says that device " + std::to_string(device) + " cannot reach the memory of device " +
                     std::to_string(peer) +
                     ": no xGMI, and PCIe peer access is off or not possible here (a large BAR, and an IOMMU that lets "
                     "it pass, are needed)"};
}

void enable_peer_access(int peer) {
  const hipError_t status = hipDeviceEnablePeerAccess(peer, 0);
  if (status == hipErrorPeerAccessAlreadyEnabled) {
    static_cast<void>(hipGetLastError());
    return;
  }
  check(status, "opening the memory of device " + std::to_string(peer));
}

void* allocate(std::int64_t bytes) {
  void* memory = nullptr;
  check(hipMalloc(&memory, size_of(bytes)), "allocating " + amount(bytes));
  return memory;
}

void release(void* memory) noexcept { static_cast<void>(hipFree(memory)); }

// Coherent whatever HIP_HOST_COHERENT says: a running kernel must see what the host writes, or no gate would open.
void* allocate_pinned(std::int64_t bytes) {
  void* memory = nullptr;
  check(hipHostMalloc(&memory, size_of(bytes), hipHostMallocPortable | hipHostMallocMapped | hipHostMallocCoherent),
        "allocating " + amount(bytes) + " of pinned host memory");
  return memory;
}

void release_pinned(void* memory) noexcept { static_cast<void>(hipHostFree(memory)); }

void pin(void* memory, std::int64_t bytes) {
  check(hipHostRegister(memory, size_of(bytes), hipHostRegisterPortable | hipHostRegisterMapped),
        "pinning " + amount(bytes) + " of host memory");
  // Kernels are given the host's own address.
  void* mapped = nullptr;
  const hipError_t status = hipHostGetDevicePointer(&mapped, memory, 0);
  if (status == hipSuccess && mapped == memory) return;
  static_cast<void>(hipHostUnregister(memory));
  check(status, "asking where pinned memory is mapped");
  throw assay::Unsupported("pinned host memory is mapped at another address than the host's");
}

void unpin(void* memory) noexcept { static_cast<void>(hipHostUnregister(memory)); }

void* allocate_in_order(std::int64_t bytes, Stream stream) {
  void* memory = nullptr;
  check(hipMallocAsync(&memory, size_of(bytes), stream), "allocating " + amount(bytes) + " in a stream's order");
  return memory;
}

void release_in_order(void* memory, Stream stream) {
  check(hipFreeAsync(memory, stream), "releasing memory in a stream's order");
}

Stream make_stream() {
  Stream stream = nullptr;
  check(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking), "making a stream");
  return stream;
}

void destroy(Stream stream) noexcept { static_cast<void>(hipStreamDestroy(stream)); }

Event make_event() {
  Event event = nullptr;
  check(hipEventCreate(&event), "making an event");
  return event;
}

void destroy(Event event) noexcept { static_cast<void>(hipEventDestroy(event)); }

void record(Event event, Stream stream) { check(hipEventRecord(event, stream), "recording an event"); }

void wait(Stream stream, Event event) { check(hipStreamWaitEvent(stream, event, 0), "letting a stream wait"); }

void synchronise(Stream stream) { check(hipStreamSynchronize(stream), "waiting for queued work"); }

void synchronise() { check(hipDeviceSynchronize(), "waiting for the device"); }

double seconds_between(Event first, Event last) {
  float milliseconds = 0;
  check(hipEventElapsedTime(&milliseconds, first, last), "asking for the time between two events");
  return static_cast<double>(milliseconds) * 1e-3;
}

void copy(void* to, const void* from, std::int64_t bytes, Stream stream) {
  check(hipMemcpyAsync(to, from, size_of(bytes), hipMemcpyDefault, stream), "copying " + amount(bytes));
}

void copy_peer(void* to, int to_device, const void* from, int from_device, std::int64_t bytes, Stream stream) {
  check(hipMemcpyPeerAsync(to, to_device, from, from_device, size_of(bytes), stream),
        "copying " + amount(bytes) + " from device " + std::to_string(from_device) + " to device " +
            std::to_string(to_device));
}

void set_bytes(void* to, int value, std::int64_t bytes, Stream stream) {
  check(hipMemsetAsync(to, value, size_of(bytes), stream), "setting " + amount(bytes));
}

void begin_capture(Stream stream) {
  // Relaxed: preparing a kernel of another kind meanwhile must not break it.
  check(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed), "beginning to capture a graph");
}

Graph end_capture(Stream stream) {
  hipGraph_t captured = nullptr;
  check(hipStreamEndCapture(stream, &captured), "capturing a graph");
  return instantiate(captured);
}

void abandon_capture(Stream stream) noexcept {
  hipGraph_t captured = nullptr;
  static_cast<void>(hipStreamEndCapture(stream, &captured));
  if (captured != nullptr) static_cast<void>(hipGraphDestroy(captured));
  static_cast<void>(hipGetLastError());
}

void launch(Graph graph, Stream stream) { check(hipGraphLaunch(graph, stream), "launching a graph"); }

void destroy(Graph graph) noexcept { static_cast<void>(hipGraphExecDestroy(graph)); }

void launch_by_address(const void* kernel, unsigned blocks, unsigned threads, std::size_t shared_bytes, Stream stream,
                       void** parameters) {
  const hipError_t status = hipLaunchKernel(kernel, dim3(blocks), dim3(threads), parameters, shared_bytes, stream);
  if (status == hipSuccess) return;  // the sentence is only made where it is needed: launching is timed
  check(status, "launching a kernel of " + std::to_string(blocks) + " blocks of " + std::to_string(threads) +
                    " threads with " + std::to_string(shared_bytes) + " bytes of shared memory");
}

int resident_by_address(const void* kernel, unsigned threads, std::size_t shared_bytes) {
  int found = 0;
  check(hipOccupancyMaxActiveBlocksPerMultiprocessor(&found, kernel, static_cast<int>(threads), shared_bytes),
        "asking how many blocks fit on a multiprocessor");
  return found < 1 ? 1 : found;
}

void allow_shared_by_address(const void* kernel, std::size_t shared_bytes) {
  int device = 0;
  int most = 0;
  check(hipGetDevice(&device), "asking for the device in use");
  check(hipDeviceGetAttribute(&most, hipDeviceAttributeMaxSharedMemoryPerBlock, device), "asking for shared memory");
  if (shared_bytes > static_cast<std::size_t>(most)) {
    throw assay::Unsupported("a kernel needs " + std::to_string(shared_bytes) +
                             " bytes of shared memory a block, the device has " + std::to_string(most));
  }
  check(hipFuncSetAttribute(kernel, hipFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes)),
        "allowing a kernel more shared memory");
}

}  // namespace vendor
