// NVIDIA's runtime behind the names of the seam: memory, streams, events, graphs, launches.
// SPDX-License-Identifier: Apache-2.0
#include "gpu/runtime.h"

#include "core/error.h"

namespace vendor {
namespace {

enum class Kind { unsupported, out_of_memory, lost, other };

Kind kind_of(cudaError_t status) {
  switch (static_cast<int>(status)) {
    case cudaErrorMemoryAllocation:
      return Kind::out_of_memory;
    case cudaErrorStubLibrary:
    case cudaErrorInsufficientDriver:
    case cudaErrorCallRequiresNewerDriver:
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorNoDevice:
    case cudaErrorDeviceNotLicensed:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorPeerAccessUnsupported:
    case cudaErrorInvalidPtx:
    case cudaErrorJitCompilerNotFound:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorJitCompilationDisabled:
    case cudaErrorUnsupportedExecAffinity:
    case cudaErrorTooManyPeers:
    case cudaErrorNotPermitted:
    case cudaErrorNotSupported:
    case cudaErrorSystemNotReady:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorCompatNotSupportedOnDevice:
    case cudaErrorStreamCaptureUnsupported:
      return Kind::unsupported;
    // Errors that stay: the runtime repeats them for every later call of this process.
    case cudaErrorDevicesUnavailable:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case 226:  // cudaErrorContained: a memory error that the hardware kept from spreading; not in CUDA 12.0
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorContextIsDestroyed:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case 721:  // cudaErrorTensorMemoryLeak; not in CUDA 12.0
    case cudaErrorMpsRpcFailure:
    case cudaErrorMpsServerNotReady:
    case 810:  // cudaErrorMpsClientTerminated; not in CUDA 11
    case cudaErrorTimeout:
    case cudaErrorExternalDevice:
    case cudaErrorUnknown:
      return Kind::lost;
    default:
      return Kind::other;
  }
}

// What a reader can do about it, for the errors that are not the program's fault.
const char* hint(cudaError_t status) {
  switch (static_cast<int>(status)) {
    case cudaErrorECCUncorrectable:
      return "; the card's memory is faulty: nvidia-smi -q -d ECC shows where, and the provider must look after it";
    case cudaErrorNvlinkUncorrectable:
      return "; a link between the cards is faulty: nvidia-smi nvlink -e counts the errors";
    case cudaErrorNoKernelImageForDevice:
      return "; this build of Assay has no code for this card: build it with its architecture in "
             "ASSAY_CUDA_ARCHITECTURES";
    case cudaErrorDevicesUnavailable:
      return "; another program may hold the device exclusively";
    case cudaErrorLaunchTimeout:
      return "; the watchdog of a card that drives a display ended it";
    case cudaErrorUnknown:
    case cudaErrorLaunchFailure:
      return "; dmesg may show an Xid that names the cause";
    default:
      return "";
  }
}

std::string place() {
  int device = -1;
  return cudaGetDevice(&device) == cudaSuccess ? " on " + std::string(backend_name) + ":" + std::to_string(device) : "";
}

std::size_t size_of(std::int64_t bytes) {
  if (bytes < 0) throw assay::Error("a size of " + std::to_string(bytes) + " bytes");
  return static_cast<std::size_t>(bytes);
}

std::string amount(std::int64_t bytes) { return std::to_string(bytes) + " bytes"; }

// Instantiates and forgets the graph, whatever happens.
Graph instantiate(cudaGraph_t captured) {
  Graph ready = nullptr;
  // Version 12 gave this call its present form; before, it took three more parameters.
  const cudaError_t status = cudaGraphInstantiate(&ready, captured, 0);
  cudaGraphDestroy(captured);
  check(status, "making a graph ready to launch");
  return ready;
}

}  // namespace

void check(cudaError_t status, const std::string& doing) {
  if (status == cudaSuccess) return;
  const std::string what =
      doing + place() + ": " + cudaGetErrorString(status) + " (" + cudaGetErrorName(status) + ")" + hint(status);
  cudaGetLastError();  // one that does not stay must not be found by the next who asks
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

void use(int device) { check(cudaSetDevice(device), "choosing device " + std::to_string(device)); }

MemoryState memory_state() {
  std::size_t free = 0;
  std::size_t total = 0;
  check(cudaMemGetInfo(&free, &total), "asking how much memory is free");
  return {static_cast<std::int64_t>(free), static_cast<std::int64_t>(total)};
}

assay::Support peer_access(int device, int peer) {
  int can = 0;
  const cudaError_t status = cudaDeviceCanAccessPeer(&can, device, peer);
  if (status != cudaSuccess) {
    cudaGetLastError();
    return {false, std::string("the driver does not say whether the devices reach each other: ") +
                       cudaGetErrorString(status) + " (" + cudaGetErrorName(status) + ")"};
  }
  if (can != 0) return {true, ""};
  return {false, "the driver says that device " + std::to_string(device) + " cannot reach the memory of device " +
                     std::to_string(peer) + ": no NVLink, and PCIe peer access is off or not possible here"};
}

void enable_peer_access(int peer) {
  const cudaError_t status = cudaDeviceEnablePeerAccess(peer, 0);
  if (status == cudaErrorPeerAccessAlreadyEnabled) {
    cudaGetLastError();
    return;
  }
  check(status, "opening the memory of device " + std::to_string(peer));
}

void* allocate(std::int64_t bytes) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, size_of(bytes)), "allocating " + amount(bytes));
  return memory;
}

void release(void* memory) noexcept { cudaFree(memory); }

void* allocate_pinned(std::int64_t bytes) {
  void* memory = nullptr;
  check(cudaHostAlloc(&memory, size_of(bytes), cudaHostAllocPortable | cudaHostAllocMapped),
        "allocating " + amount(bytes) + " of pinned host memory");
  return memory;
}

void release_pinned(void* memory) noexcept { cudaFreeHost(memory); }

void pin(void* memory, std::int64_t bytes) {
  check(cudaHostRegister(memory, size_of(bytes), cudaHostRegisterPortable | cudaHostRegisterMapped),
        "pinning " + amount(bytes) + " of host memory");
  // Kernels are given the host's own address.
  void* mapped = nullptr;
  const cudaError_t status = cudaHostGetDevicePointer(&mapped, memory, 0);
  if (status == cudaSuccess && mapped == memory) return;
  cudaHostUnregister(memory);
  check(status, "asking where pinned memory is mapped");
  throw assay::Unsupported("pinned host memory is mapped at another address than the host's");
}

void unpin(void* memory) noexcept { cudaHostUnregister(memory); }

void* allocate_in_order(std::int64_t bytes, Stream stream) {
  void* memory = nullptr;
  check(cudaMallocAsync(&memory, size_of(bytes), stream), "allocating " + amount(bytes) + " in a stream's order");
  return memory;
}

void release_in_order(void* memory, Stream stream) {
  check(cudaFreeAsync(memory, stream), "releasing memory in a stream's order");
}

Stream make_stream() {
  Stream stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
  return stream;
}

void destroy(Stream stream) noexcept { cudaStreamDestroy(stream); }

Event make_event() {
  Event event = nullptr;
  check(cudaEventCreate(&event), "making an event");
  return event;
}

void destroy(Event event) noexcept { cudaEventDestroy(event); }

void record(Event event, Stream stream) { check(cudaEventRecord(event, stream), "recording an event"); }

void wait(Stream stream, Event event) { check(cudaStreamWaitEvent(stream, event, 0), "letting a stream wait"); }

void synchronise(Stream stream) { check(cudaStreamSynchronize(stream), "waiting for queued work"); }

void synchronise() { check(cudaDeviceSynchronize(), "waiting for the device"); }

double seconds_between(Event first, Event last) {
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, first, last), "asking for the time between two events");
  return static_cast<double>(milliseconds) * 1e-3;
}

void copy(void* to, const void* from, std::int64_t bytes, Stream stream) {
  check(cudaMemcpyAsync(to, from, size_of(bytes), cudaMemcpyDefault, stream), "copying " + amount(bytes));
}

void copy_peer(void* to, int to_device, const void* from, int from_device, std::int64_t bytes, Stream stream) {
  check(cudaMemcpyPeerAsync(to, to_device, from, from_device, size_of(bytes), stream),
        "copying " + amount(bytes) + " from device " + std::to_string(from_device) + " to device " +
            std::to_string(to_device));
}

void set_bytes(void* to, int value, std::int64_t bytes, Stream stream) {
  check(cudaMemsetAsync(to, value, size_of(bytes), stream), "setting " + amount(bytes));
}

void begin_capture(Stream stream) {
  // Relaxed: preparing a kernel of another kind meanwhile must not break it.
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), "beginning to capture a graph");
}

Graph end_capture(Stream stream) {
  cudaGraph_t captured = nullptr;
  check(cudaStreamEndCapture(stream, &captured), "capturing a graph");
  return instantiate(captured);
}

void abandon_capture(Stream stream) noexcept {
  cudaGraph_t captured = nullptr;
  cudaStreamEndCapture(stream, &captured);
  if (captured != nullptr) cudaGraphDestroy(captured);
  cudaGetLastError();
}

void launch(Graph graph, Stream stream) { check(cudaGraphLaunch(graph, stream), "launching a graph"); }

void destroy(Graph graph) noexcept { cudaGraphExecDestroy(graph); }

void launch_by_address(const void* kernel, unsigned blocks, unsigned threads, std::size_t shared_bytes, Stream stream,
                       void** parameters) {
  const cudaError_t status = cudaLaunchKernel(kernel, dim3(blocks), dim3(threads), parameters, shared_bytes, stream);
  if (status == cudaSuccess) return;  // the sentence is only made where it is needed: launching is timed
  check(status, "launching a kernel of " + std::to_string(blocks) + " blocks of " + std::to_string(threads) +
                    " threads with " + std::to_string(shared_bytes) + " bytes of shared memory");
}

int resident_by_address(const void* kernel, unsigned threads, std::size_t shared_bytes) {
  int found = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&found, kernel, static_cast<int>(threads), shared_bytes),
        "asking how many blocks fit on a multiprocessor");
  return found < 1 ? 1 : found;
}

void allow_shared_by_address(const void* kernel, std::size_t shared_bytes) {
  int device = 0;
  int most = 0;
  check(cudaGetDevice(&device), "asking for the device in use");
  check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), "asking for shared memory");
  if (shared_bytes > static_cast<std::size_t>(most)) {
    throw assay::Unsupported("a kernel needs " + std::to_string(shared_bytes) +
                             " bytes of shared memory a block, the device has " + std::to_string(most));
  }
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes)),
        "allowing a kernel more shared memory");
}

}  // namespace vendor
