// Maps the runtime's device numbers by UUID and place on the bus.
// SPDX-License-Identifier: Apache-2.0
#include "cuda/nvml_order.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <sstream>

namespace vendor::nvml {
namespace {

// Prototypes as in NVIDIA's "CUDA Driver API" manual; a status of 0 is success, a device is an int.
struct Driver {
  int (*start)(unsigned flags);
  int (*count)(int* devices);
  int (*device)(int* device, int ordinal);
  int (*pci)(char* text, int length, int device);
  int (*uuid)(unsigned char* bytes, int device);  // 16 of them; of the partition where it is one
};

std::string dashed(const unsigned char* bytes) {
  std::string text;
  for (int at = 0; at < 16; ++at) {
    if (at == 4 || at == 6 || at == 8 || at == 10) text += '-';
    std::array<char, 3> digits{};
    std::snprintf(digits.data(), digits.size(), "%02x", static_cast<unsigned>(bytes[at]));
    text += digits.data();
  }
  return text;
}

std::optional<Driver> load(void* opened) {
  Driver driver{};
  driver.start = reinterpret_cast<decltype(driver.start)>(dlsym(opened, "cuInit"));
  driver.count = reinterpret_cast<decltype(driver.count)>(dlsym(opened, "cuDeviceGetCount"));
  driver.device = reinterpret_cast<decltype(driver.device)>(dlsym(opened, "cuDeviceGet"));
  driver.pci = reinterpret_cast<decltype(driver.pci)>(dlsym(opened, "cuDeviceGetPCIBusId"));
  driver.uuid = reinterpret_cast<decltype(driver.uuid)>(dlsym(opened, "cuDeviceGetUuid_v2"));
  if (driver.uuid == nullptr) driver.uuid = reinterpret_cast<decltype(driver.uuid)>(dlsym(opened, "cuDeviceGetUuid"));
  if (driver.start == nullptr || driver.count == nullptr || driver.device == nullptr || driver.pci == nullptr)
    return std::nullopt;
  return driver;
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// One word of CUDA_VISIBLE_DEVICES: a number, or the start of a UUID that fits one device alone.
std::optional<std::size_t> meant(const std::string& word, const std::vector<std::size_t>& by_number,
                                 const std::vector<Managed>& all) {
  if (!word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c) != 0; })) {
    if (word.size() > 6 || std::stoul(word) >= by_number.size()) return std::nullopt;
    return by_number[std::stoul(word)];
  }
  if (lower(word).rfind("gpu-", 0) != 0) return std::nullopt;
  std::optional<std::size_t> found;
  for (std::size_t at = 0; at < all.size(); ++at) {
    if (lower(all[at].uuid).rfind(lower(word), 0) != 0) continue;
    if (found) return std::nullopt;
    found = at;
  }
  return found;
}

std::string trimmed(std::string word) {
  word.erase(0, std::min(word.find_first_not_of(' '), word.size()));
  while (!word.empty() && word.back() == ' ') word.pop_back();
  return word;
}

}  // namespace

std::optional<std::vector<Identity>> driver_devices(const std::string& path) {
  void* opened = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);  // stays open: it must not be unloaded once started
  if (opened == nullptr) return std::nullopt;
  const auto driver = load(opened);
  int count = 0;
  if (!driver || driver->start(0) != 0 || driver->count(&count) != 0) return std::nullopt;
  std::vector<Identity> all;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    int device = 0;
    Identity identity;
    std::array<char, 64> pci{};
    std::array<unsigned char, 16> uuid{};
    if (driver->device(&device, ordinal) == 0) {
      if (driver->pci(pci.data(), static_cast<int>(pci.size() - 1), device) == 0) identity.pci = plain_pci(pci.data());
      if (driver->uuid != nullptr && driver->uuid(uuid.data(), device) == 0) identity.uuid = dashed(uuid.data());
    }
    all.push_back(std::move(identity));
  }
  return all;
}

Environment environment() {
  Environment found;
  if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES")) found.visible = visible;
  if (const char* order = std::getenv("CUDA_DEVICE_ORDER")) found.order = order;
  return found;
}

std::optional<std::vector<std::size_t>> guessed_order(const std::vector<Managed>& all, const Environment& environment) {
  for (const Managed& device : all)
    if (device.partitioned) return std::nullopt;
  std::vector<std::size_t> by_number(all.size());
  std::iota(by_number.begin(), by_number.end(), std::size_t{0});
  std::stable_sort(by_number.begin(), by_number.end(),
                   [&](std::size_t a, std::size_t b) { return all[a].pci < all[b].pci; });
  const bool alike =
      std::all_of(all.begin(), all.end(), [&](const Managed& device) { return device.name == all.front().name; });
  const bool numbers_known = environment.order == "PCI_BUS_ID" || alike;
  if (!environment.visible) return numbers_known ? std::optional(by_number) : std::nullopt;

  std::vector<std::size_t> chosen;
  std::istringstream words(*environment.visible);
  for (std::string word; std::getline(words, word, ',');) {
    word = trimmed(word);
    const bool numeric = !word.empty() && std::isdigit(static_cast<unsigned char>(word.front())) != 0;
    if (numeric && !numbers_known) return std::nullopt;
    if (lower(word).rfind("mig-", 0) == 0) return std::nullopt;
    const auto found = meant(word, by_number, all);
    if (!found) break;  // the runtime, too, stops at the first that it does not know
    if (std::find(chosen.begin(), chosen.end(), *found) != chosen.end()) return std::vector<std::size_t>{};
    chosen.push_back(*found);
  }
  return chosen;
}

std::vector<std::unique_ptr<Device>> all_devices(const std::shared_ptr<const Library>& library) {
  std::vector<std::unique_ptr<Device>> all;
  std::uint32_t count = 0;
  if (library == nullptr || library->call(device_count, &count) != Status::success || count > 4096) return all;
  for (std::uint32_t index = 0; index < count; ++index) {
    Handle handle = nullptr;
    if (library->call(by_index, index, &handle) != Status::success || handle == nullptr) continue;
    all.push_back(std::make_unique<Device>(library, handle, handle));
  }
  return all;
}

std::unique_ptr<Device> find_device(const std::shared_ptr<const Library>& library, const Identity& identity) {
  if (library == nullptr) return nullptr;
  Handle handle = nullptr;
  if (!identity.uuid.empty()) {
    if (library->call(by_uuid, ("MIG-" + identity.uuid).c_str(), &handle) == Status::success && handle != nullptr) {
      Handle whole = nullptr;
      if (library->call(whole_of_mig, handle, &whole) == Status::success && whole != nullptr)
        return std::make_unique<Device>(library, whole, handle);
    }
    handle = nullptr;
    if (library->call(by_uuid, ("GPU-" + identity.uuid).c_str(), &handle) == Status::success && handle != nullptr)
      return std::make_unique<Device>(library, handle, handle);
  }
  handle = nullptr;
  if (!identity.pci.empty() && library->call(by_pci, identity.pci.c_str(), &handle) == Status::success &&
      handle != nullptr)
    return std::make_unique<Device>(library, handle, handle);
  return nullptr;
}

std::vector<std::unique_ptr<Device>> devices(const std::shared_ptr<const Library>& library,
                                             const std::optional<std::vector<Identity>>& identities,
                                             const Environment& environment) {
  std::vector<std::unique_ptr<Device>> chosen;
  if (identities) {
    for (const Identity& identity : *identities) chosen.push_back(find_device(library, identity));
    return chosen;
  }
  auto all = all_devices(library);
  std::vector<Managed> managed;
  for (const auto& device : all)
    managed.push_back({device->pci(), device->uuid(), device->text(name), device->mig().current.value_or(false)});
  const auto order = guessed_order(managed, environment);
  if (!order) return chosen;
  for (const std::size_t at : *order) chosen.push_back(std::move(all[at]));
  return chosen;
}

}  // namespace vendor::nvml
