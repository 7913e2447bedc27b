// From error numbers to reasons and cures.
// SPDX-License-Identifier: Apache-2.0
#include "cuda/availability.h"

namespace vendor {
namespace {

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

Availability none(std::string reason, std::string cure) { return {0, std::move(reason), std::move(cure)}; }

Availability no_driver() {
  return none(
      "there is no NVIDIA driver library here: libcuda.so.1 was not found",
      "install NVIDIA's driver on the machine; in a container start it with the GPU passed in (docker run --gpus all, "
      "or the NVIDIA container toolkit), which also brings this library");
}

Availability old_driver(const DriverAnswer& answer) {
  return none("the NVIDIA driver is too old: it supports CUDA up to " + version_text(answer.driver_version) +
                  ", and this build of Assay needs " + version_text(answer.runtime_version),
              "have the provider install a newer driver, or build Assay with a CUDA toolkit of version " +
                  version_text(answer.driver_version) + " or older");
}

Availability no_device(const DriverAnswer& answer) {
  const std::string said = "error 100: the driver works and sees no device";
  if (answer.hidden) {
    return none(said + ", and CUDA_VISIBLE_DEVICES is set to \"" + answer.visible_devices + "\", which may hide all",
                "unset CUDA_VISIBLE_DEVICES, or name devices in it that nvidia-smi -L lists");
  }
  if (answer.cards_known && answer.partitioned) {
    return none(said + " that programs may use, though the kernel driver lists a card that can be cut into MIG slices",
                "where MIG is on, make an instance (nvidia-smi mig -cgi 0 -C) or switch MIG off (nvidia-smi -mig 0); "
                "in a container, have a slice passed in");
  }
  if (answer.cards_known) {
    return none(said + ", though the kernel driver lists a card",
                "look at nvidia-smi and dmesg (lines with NVRM or Xid): the card may have failed to start or have "
                "fallen off the bus; in a container, check that /dev/nvidia0 is passed in");
  }
  return none(said, "attach a GPU to this machine, or pass it into the container");
}

// The numbers are those of the CUDA runtime; they are part of its ABI.
Availability by_status(const DriverAnswer& answer) {
  switch (answer.status) {
    case 3:
    case 999:
      return none(
          "the driver could not be initialised: " + answer.text,
          "look at dmesg (lines with NVRM or Xid); reloading the kernel module or a reboot often helps, and in a "
          "container check that all of /dev/nvidia*, with nvidia-uvm, is passed in");
    case 34:
      return none("error 34: a stub of libcuda.so was loaded in place of the driver",
                  "take the toolkit's stubs folder out of LD_LIBRARY_PATH and the loader's configuration");
    case 35:
      return old_driver(answer);
    case 46:
      return none(
          "error 46: the device is busy or not available; another program may hold it exclusively",
          "end the other program (nvidia-smi shows it), or set the compute mode back with nvidia-smi -c DEFAULT");
    case 100:
      return no_device(answer);
    case 102:
      return none("error 102: the device has no licence, which virtual GPUs need",
                  "have the provider configure the vGPU licence server");
    case 802:
      return none(
          "error 802: the system is not ready, because the fabric manager is not running (or, on new systems, "
          "the NVLink fabric is not configured yet)",
          "have the provider start nvidia-fabricmanager in the version of the driver; on servers with NVSwitch no "
          "program can use a GPU without it");
    case 803:
      return none(
          "error 803: the driver's library and the kernel module have different versions",
          "reboot after the driver's update, or reload the kernel module; in a container, remove a libcuda that "
          "the image brings along");
    case 804:
      return none("error 804: the forward-compatibility library is used on a card that does not allow it",
                  "remove the cuda-compat package from the image, or have the provider install a newer driver");
    case 805:
    case 806:
    case 807:
    case 808:
    case 809:
    case 810:
      return none("the multi-process service (MPS) does not let this program in: " + answer.text,
                  "start it (nvidia-cuda-mps-control -d), or unset CUDA_MPS_PIPE_DIRECTORY to do without it");
    default:
      return none("error " + std::to_string(answer.status) + ": " + answer.text,
                  "look at nvidia-smi and dmesg (lines with NVRM or Xid)");
  }
}

}  // namespace

Availability explain(const DriverAnswer& answer) {
  // The runtime says 35, "insufficient driver", where there is none at all.
  if (answer.driver_version <= 0 && (answer.status == 35 || answer.status == 0)) return no_driver();
  if (answer.status != 0) return by_status(answer);
  if (answer.devices <= 0) return no_device(answer);
  if (answer.all_prohibited) {
    return none("the compute mode of every device is PROHIBITED", "set it back: nvidia-smi -c DEFAULT, as root");
  }
  return {answer.devices, "", ""};
}

}  // namespace vendor
