// A made-up machine in a temporary folder: its own /proc, /sys and /dev.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace assay {

class MachineRoot {
 public:
  MachineRoot() {
    std::string name = (std::filesystem::temp_directory_path() / "assay-root-XXXXXX").string();
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    path_ = name;
  }
  ~MachineRoot() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  MachineRoot(const MachineRoot&) = delete;
  MachineRoot& operator=(const MachineRoot&) = delete;

  const std::filesystem::path& path() const { return path_; }

  void file(const std::string& name, const std::string& content) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << content;
  }

  // A card on the PCI bus; `driver` may be empty.
  void card(const std::string& address, const std::string& vendor, const std::string& device, const std::string& kind,
            const std::string& driver) const {
    const std::string folder = "sys/bus/pci/devices/" + address;
    file(folder + "/vendor", vendor + "\n");
    file(folder + "/device", device + "\n");
    file(folder + "/class", kind + "\n");
    if (!driver.empty()) {
      std::filesystem::create_symlink("../../../bus/pci/drivers/" + driver, path_ / folder / "driver");
    }
  }

 private:
  std::filesystem::path path_;
};

}  // namespace assay
