// From error numbers to reasons and cures.
// SPDX-License-Identifier: Apache-2.0
#include "hip/availability.h"

namespace vendor {
namespace {

Availability none(std::string reason, std::string cure) { return {0, std::move(reason), std::move(cure)}; }

Availability no_device(const RuntimeAnswer& answer) {
  if (!answer.problem.empty()) return none(answer.problem, answer.cure);
  const std::string said = "error 100: the runtime works and sees no device";
  if (!answer.hiding.empty()) {
    return none(said + ", and " + answer.hiding + " is set to \"" + answer.visible + "\", which may hide all",
                "unset " + answer.hiding + ", or name devices in it that rocminfo lists");
  }
  if (answer.cards_known) {
    return none(said + ", though the PCI bus shows a card",
                "look at rocminfo and dmesg (lines with amdgpu): the card may be unsupported by this ROCm, or may have "
                "failed to start; in a container, check that its /dev/dri/renderD* is passed in beside /dev/kfd");
  }
  return none(said, "attach a GPU to this machine, or pass it into the container");
}

}  // namespace

// The numbers are those of the HIP runtime; they are part of its ABI. Old runtimes say 101 where there is no device.
Availability explain(const RuntimeAnswer& answer) {
  switch (answer.status) {
    case 0:
      if (answer.devices > 0) return {answer.devices, "", ""};
      return no_device(answer);
    case 100:
    case 101:
      return no_device(answer);
    case 35:
      return none("the amdgpu kernel driver is too old for this ROCm: " + answer.text,
                  "have the provider install the amdgpu driver that goes with this ROCm, or use an older ROCm");
    default:
      if (!answer.problem.empty()) return none(answer.problem, answer.cure);
      return none("error " + std::to_string(answer.status) + ": " + answer.text,
                  "look at rocminfo and dmesg (lines with amdgpu)");
  }
}

}  // namespace vendor
