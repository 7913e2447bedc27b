// Opens the management library and says in words why it cannot be used.
// SPDX-License-Identifier: Apache-2.0
#include "cuda/nvml.h"

#include <dlfcn.h>

#include <cstdlib>

namespace vendor::nvml {

std::string words(Status status) {
  switch (status) {
    case Status::success:
      return "it worked";
    case Status::uninitialised:
      return "the management library was not initialised";
    case Status::invalid_argument:
      return "the management library took offence at an argument";
    case Status::not_supported:
      return "this device does not tell";
    case Status::no_permission:
      return "this user or container may not ask the NVIDIA driver";
    case Status::not_found:
      return "the driver does not know it";
    case Status::insufficient_size:
      return "the answer is longer than the space for it";
    case Status::insufficient_power:
      return "the GPU's external power cables are not attached properly";
    case Status::driver_not_loaded:
      return "the NVIDIA kernel driver is not loaded";
    case Status::timeout:
      return "the driver did not answer in time";
    case Status::interrupt_trouble:
      return "the kernel found a problem with the GPU's interrupts";
    case Status::library_not_found:
      return "a library that belongs to the NVIDIA driver is missing";
    case Status::function_not_found:
      return "this driver's management library is too old to tell";
    case Status::corrupted_inforom:
      return "the board's information memory (infoROM) is corrupted";
    case Status::gpu_is_lost:
      return "the driver has lost the GPU: it has fallen off the bus or does not answer any more";
    case Status::reset_required:
      return "the GPU needs a reset before it can be used again";
    case Status::operating_system:
      return "the operating system or the container has blocked the GPU's device files";
    case Status::version_mismatch:
      return "the NVIDIA kernel module and the driver's libraries are of different versions";
    case Status::in_use:
      return "the GPU is in use";
    case Status::out_of_memory:
      return "there was not enough memory to answer";
    case Status::no_data:
      return "the driver has no data on it";
    case Status::argument_version_mismatch:
      return "this driver knows another version of the question";
    case Status::deprecated:
      return "this driver no longer answers the question";
    case Status::not_ready:
      return "the system is not ready yet";
    case Status::gpu_not_found:
      return "no GPU was found";
    case Status::unknown:
      return "the driver reports an internal error";
  }
  return "the management library answered with status " + std::to_string(static_cast<int>(status));
}

std::string cure(Status status) {
  switch (status) {
    case Status::no_permission:
      return "run as a user that may open /dev/nvidia* and start the container with the GPU passed in";
    case Status::insufficient_power:
      return "give the machine back: its cabling is faulty";
    case Status::driver_not_loaded:
      return "have the provider load NVIDIA's kernel driver on the host; it cannot be done from inside a container";
    case Status::library_not_found:
    case Status::function_not_found:
      return "install the driver's libraries of the very version of the kernel module, or start the container with the "
             "NVIDIA container toolkit, which brings them along";
    case Status::interrupt_trouble:
    case Status::corrupted_inforom:
    case Status::gpu_is_lost:
      return "reboot the machine (a container restart does not help); if it comes back, give the machine back";
    case Status::reset_required:
      return "have the GPU reset (nvidia-smi --gpu-reset as root on the host) or the machine rebooted";
    case Status::operating_system:
      return "restart the container: its access to the devices was lost, often after systemd was reloaded on the host";
    case Status::version_mismatch:
      return "reboot the host after the driver's update, or restart the container so that it gets the new libraries";
    case Status::in_use:
      return "end the other program or wait for it";
    case Status::timeout:
    case Status::not_ready:
      return "wait a minute and try again";
    case Status::unknown:
      return "look into the host's kernel log for lines with NVRM or Xid, and reboot the host";
    case Status::success:
    case Status::uninitialised:
    case Status::invalid_argument:
    case Status::not_supported:
    case Status::not_found:
    case Status::insufficient_size:
    case Status::out_of_memory:
    case Status::no_data:
    case Status::argument_version_mismatch:
    case Status::deprecated:
    case Status::gpu_not_found:
      return "";
  }
  return "";
}

std::vector<std::string> places() {
  const char* given = std::getenv("ASSAY_NVML");
  if (given != nullptr && *given != '\0') return {given};
  const std::string file = "libnvidia-ml.so.1";
  return {file,  // where the loader looks
          "/usr/lib/wsl/lib/" + file, "/usr/lib64/" + file, "/usr/lib/x86_64-linux-gnu/" + file,
          "/usr/lib/aarch64-linux-gnu/" + file, "/usr/local/nvidia/lib64/" + file,
          // Systems without the usual folders for libraries.
          "/run/opengl-driver/lib/" + file};
}

Library::Opened Library::open(const std::vector<std::string>& paths) {
  std::string said;
  for (const std::string& path : paths) {
    void* opened = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (opened == nullptr) {
      const char* message = dlerror();
      if (said.empty() && message != nullptr) said = message;  // the first is the place that should have it
      continue;
    }
    std::shared_ptr<const Library> library(new Library(opened, path));
    const Status status = library->call(initialise);
    if (status == Status::success) return {std::move(library), status, ""};
    return {nullptr, status, "The NVIDIA management library " + path + " cannot be used: " + words(status) + "."};
  }
  return {nullptr, Status::library_not_found,
          "The NVIDIA management library (libnvidia-ml.so.1) was not found" + (said.empty() ? "" : " (" + said + ")") +
              "; clocks, power, temperature and errors stay unknown."};
}

Library::~Library() {
  call(shut_down);
  dlclose(opened_);
}

void* Library::find(const char* name) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto known = found_.find(name);
  if (known != found_.end()) return known->second;
  void* function = dlsym(opened_, name);
  found_.emplace(name, function);
  return function;
}

}  // namespace vendor::nvml
