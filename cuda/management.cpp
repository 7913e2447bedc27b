// From what the management library shows to one sentence and one cure.
// SPDX-License-Identifier: Apache-2.0
#include "cuda/management.h"

#include <exception>
#include <optional>

#include "cuda/nvml_device.h"
#include "cuda/nvml_order.h"
#include "cuda/nvml_processes.h"

namespace vendor {
namespace {

using nvml::Device;

Obstacle by_state(const std::string& gpu, Device& device) {
  const auto mode = device.compute_mode();
  const nvml::Switch mig = device.mig();
  const auto fabric = device.fabric();
  if (device.lost()) return {gpu + ": " + nvml::words(*device.lost()), nvml::cure(*device.lost())};
  if (mode == nvml::ComputeMode::prohibited)
    return {gpu + " is set to the compute mode \"prohibited\": no program may compute on it",
            "have it set back on the host: nvidia-smi --compute-mode=0 as root"};
  if (mig.current.value_or(false) && device.mig_instances() == 0)
    return {gpu + " is in MIG mode but has no instance, or none is passed in here",
            "have an instance made (nvidia-smi mig -cgi 0 -C as root) and passed in, or MIG mode turned off "
            "(nvidia-smi -mig 0)"};
  if (fabric && (fabric->state == nvml::FabricState::not_started || fabric->state == nvml::FabricState::in_progress))
    return {
        gpu + " has not joined the NVSwitch fabric, so CUDA fails with error 802: the fabric manager is not running",
        "have the provider start nvidia-fabricmanager, in the driver's version, on the host; in a virtual machine "
        "the host has to assign a fabric partition"};
  if (fabric && fabric->state == nvml::FabricState::completed && fabric->status != nvml::Status::success)
    return {gpu + " could not join the NVSwitch fabric: " + nvml::words(fabric->status),
            "have the provider look at the fabric manager's log on the host"};
  return {};
}

// An exclusive card that is free is no obstacle.
Obstacle by_use(const std::string& gpu, Device& device) {
  const auto mode = device.compute_mode();
  if (mode != nvml::ComputeMode::exclusive_process && mode != nvml::ComputeMode::exclusive_thread) return {};
  const auto listed = nvml::processes(device);
  if (!listed || listed->empty()) return {};
  return {gpu + " is set to exclusive use, and another program has it",
          "end the other program, or have the compute mode set back: nvidia-smi --compute-mode=0 as root"};
}

Obstacle look() {
  const nvml::Library::Opened opened = nvml::Library::open();
  if (opened.library == nullptr) {
    // Without the library the driver may work all the same.
    if (opened.status == nvml::Status::library_not_found) return {};
    return {nvml::words(opened.status), nvml::cure(opened.status)};
  }
  const auto devices = nvml::all_devices(opened.library);
  if (devices.empty())
    return {"the NVIDIA driver answers, but shows no GPU here",
            "start the container with the GPU passed in (docker run --gpus all), or ask the provider for it"};
  for (const auto& device : devices) {
    const std::string gpu = devices.size() == 1 ? "the GPU" : "the GPU at " + device->pci();
    Obstacle found = by_state(gpu, *device);
    if (found.problem.empty()) found = by_use(gpu, *device);
    if (!found.problem.empty()) return found;
  }
  return {};
}

}  // namespace

Obstacle management_obstacle() {
  try {
    return look();
  } catch (const std::exception&) {
    return {};
  }
}

}  // namespace vendor
