// Sequential write and read with direct I/O, and the rate of small files.
// SPDX-License-Identifier: Apache-2.0
#include "bench/host_storage.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "core/error.h"
#include "core/fill.h"

namespace assay {

namespace {

constexpr std::int64_t block_bytes = 8 << 20;    // one request; large enough for any device to reach its rate
constexpr std::int64_t fewest_bytes = 16 << 20;  // below this the caches of the device are all that is measured
constexpr double longest_seconds = 4;            // for writing, and again for reading
constexpr int small_files = 400;
constexpr int synced_files = 20;
constexpr std::size_t small_file_bytes = 4096;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

Fact fact(const std::string& name, std::optional<double> value, const std::string& unit, const std::string& source,
          const std::string& reason = "") {
  Fact result;
  result.name = name;
  result.value = value;
  result.unit = unit;
  result.source = source;
  result.reason = reason;
  return result;
}

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

struct Freed {
  void operator()(std::byte* memory) const { std::free(memory); }
};
using Block = std::unique_ptr<std::byte, Freed>;

// Direct I/O wants aligned memory; random bytes keep a compressing file system honest.
Block random_block() {
  void* memory = nullptr;
  if (::posix_memalign(&memory, 4096, static_cast<std::size_t>(block_bytes)) != 0) {
    throw OutOfMemory("no memory for a block of 8 MiB to write");
  }
  Block block(static_cast<std::byte*>(memory));
  for (std::int64_t i = 0; i < block_bytes / 8; ++i) {
    const std::uint64_t word = mix(1, static_cast<std::uint64_t>(i));
    std::memcpy(block.get() + 8 * i, &word, 8);
  }
  return block;
}

std::string filesystem_name(const struct statfs& state) {
  switch (static_cast<std::uint64_t>(state.f_type) & 0xFFFFFFFFU) {
    case TMPFS_MAGIC:
      return "tmpfs";
    case RAMFS_MAGIC:
      return "ramfs";
    case EXT4_SUPER_MAGIC:
      return "ext4";
    case XFS_SUPER_MAGIC:
      return "xfs";
    case BTRFS_SUPER_MAGIC:
      return "btrfs";
    case OVERLAYFS_SUPER_MAGIC:
      return "overlay";
    case NFS_SUPER_MAGIC:
      return "nfs";
    case F2FS_SUPER_MAGIC:
      return "f2fs";
    case FUSE_SUPER_MAGIC:
      return "fuse";
    case 0x2FC12FC1:
      return "zfs";
    case 0x0BD00BD0:
      return "lustre";
    case 0x00C36400:
      return "ceph";
    case 0x47504653:
      return "gpfs";
    case 0xFF534D42:
      return "cifs";
    case 0x01021997:
      return "9p";
    default:
      return fmt::format("type {:#x}", static_cast<std::uint64_t>(state.f_type));
  }
}

// What the folder is on, and how much room there is.
struct Ground {
  std::vector<Fact> facts;
  std::string filesystem;
  std::int64_t free_bytes = 0;
  bool in_memory = false;
  std::string reason;  // why nothing can be measured
};

Ground look_at(const std::filesystem::path& folder) {
  Ground ground;
  struct statfs kind {};
  struct statvfs room {};
  if (folder.empty()) {
    ground.reason = "no folder to write to was given";
  } else if (::statfs(folder.c_str(), &kind) != 0 || ::statvfs(folder.c_str(), &room) != 0) {
    ground.reason = fmt::format("{} cannot be looked at: {}", folder.string(), std::strerror(errno));
  }
  if (!ground.reason.empty()) return ground;
  ground.filesystem = filesystem_name(kind);
  ground.in_memory = ground.filesystem == "tmpfs" || ground.filesystem == "ramfs";
  const auto block = static_cast<double>(room.f_frsize);
  ground.free_bytes = static_cast<std::int64_t>(static_cast<double>(room.f_bavail) * block);
  Fact name = fact("storage_filesystem", std::nullopt, "", folder.string());
  name.text = ground.filesystem;
  ground.facts = {name, fact("storage_free_bytes", static_cast<double>(ground.free_bytes), "bytes", folder.string()),
                  fact("storage_total_bytes", static_cast<double>(room.f_blocks) * block, "bytes", folder.string())};
  if (room.f_files > 0) {
    ground.facts.push_back(fact("storage_free_inodes", static_cast<double>(room.f_favail), "files", folder.string()));
  }
  return ground;
}

// The large file: opened around the page cache where that works, and unlinked at once, so that nothing is left of it.
struct LargeFile {
  std::unique_ptr<File> file;
  bool direct = true;
  std::string reason;
};

LargeFile open_large(const std::filesystem::path& folder) {
  LargeFile large;
  const std::string path = (folder / fmt::format(".assay-storage-{}", ::getpid())).string();
  const int flags = O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC;
  int descriptor = ::open(path.c_str(), flags | O_DIRECT, 0600);
  if (descriptor < 0 && errno == EINVAL) {
    large.direct = false;
    descriptor = ::open(path.c_str(), flags, 0600);
  }
  if (descriptor < 0) {
    large.reason = fmt::format("{} cannot be made: {}", path, std::strerror(errno));
    return large;
  }
  ::unlink(path.c_str());
  large.file = std::make_unique<File>(descriptor);
  return large;
}

struct Moved {
  std::int64_t bytes = 0;
  double seconds = 0;
  std::string reason;  // what stopped it early
};

// Moves block after block until all is moved or time is up; `move` is pwrite or pread in the same dress.
template <class Move>
Moved move_blocks(std::int64_t bytes, const Move& move) {
  Moved moved;
  const double start = now();
  while (moved.bytes < bytes && moved.seconds < longest_seconds) {
    const ssize_t count = move(moved.bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      moved.reason = count < 0 ? std::strerror(errno) : "the file ended early";
      break;
    }
    moved.bytes += count;
    moved.seconds = now() - start;
  }
  return moved;
}

Fact rate(const std::string& name, const Moved& moved, const std::string& source, const std::string& remark) {
  if (moved.bytes < block_bytes || !(moved.seconds > 0)) {
    return fact(name, std::nullopt, "bytes_per_second", source,
                moved.reason.empty() ? "too little could be moved" : moved.reason);
  }
  return fact(name, static_cast<double>(moved.bytes) / moved.seconds, "bytes_per_second", source, remark);
}

std::vector<Fact> measure_large(const std::filesystem::path& folder, std::int64_t bytes) {
  const std::string unit = "bytes_per_second";
  const LargeFile large = open_large(folder);
  if (!large.file) {
    return {fact("storage_write_bytes_per_second", std::nullopt, unit, folder.string(), large.reason),
            fact("storage_read_bytes_per_second", std::nullopt, unit, folder.string(), large.reason)};
  }
  const int file = large.file->descriptor();
  const Block block = random_block();
  const auto size = static_cast<std::size_t>(block_bytes);
  const double start = now();
  Moved written = move_blocks(bytes, [&](std::int64_t at) { return ::pwrite(file, block.get(), size, at); });
  if (::fdatasync(file) != 0 && written.reason.empty()) written.reason = std::strerror(errno);
  written.seconds = now() - start;
  const std::string how = fmt::format("{} MiB in requests of 8 MiB, {}", written.bytes >> 20,
                                      large.direct ? "direct I/O" : "through the page cache");
  const std::string remark =
      large.direct ? "" : "direct I/O is refused here, so that caches may have helped, above all in reading";
  if (!large.direct) ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
  const Moved read = move_blocks(written.bytes, [&](std::int64_t at) { return ::pread(file, block.get(), size, at); });
  return {rate("storage_write_bytes_per_second", written, how, remark),
          rate("storage_read_bytes_per_second", read, how, remark)};
}

// A folder of its own for the small files, removed with all that is in it.
class Scratch {
 public:
  explicit Scratch(const std::filesystem::path& parent)
      : folder_(parent / fmt::format(".assay-small-files-{}", ::getpid())) {
    std::error_code ignored;
    std::filesystem::create_directory(folder_, ignored);
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  std::string path(int number) const { return (folder_ / std::to_string(number)).string(); }

 private:
  std::filesystem::path folder_;
};

// Files made and written per second; -1 becomes the reason.
Fact small_file_rate(const std::string& name, const Scratch& scratch, int first, int count, bool synced) {
  const std::vector<char> page(small_file_bytes, 'a');
  const std::string source = synced ? "4 KiB each, synced to the device" : "4 KiB each, not synced";
  const double start = now();
  for (int i = first; i < first + count; ++i) {
    const File file(::open(scratch.path(i).c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600));
    const bool written = file.descriptor() >= 0 &&
                         ::write(file.descriptor(), page.data(), page.size()) == static_cast<ssize_t>(page.size()) &&
                         (!synced || ::fsync(file.descriptor()) == 0);
    if (!written) {
      return fact(name, std::nullopt, "files_per_second", source,
                  fmt::format("a small file could not be written: {}", std::strerror(errno)));
    }
  }
  return fact(name, count / std::max(now() - start, 1e-9), "files_per_second", source);
}

}  // namespace

std::vector<Fact> survey_storage(const std::filesystem::path& folder, std::int64_t bytes) {
  Ground ground = look_at(folder);
  std::string reason = ground.reason;
  std::int64_t allowed = std::min(bytes, ground.free_bytes / 4) / block_bytes * block_bytes;
  if (reason.empty() && ground.in_memory)
    reason = folder.string() + " is in memory (" + ground.filesystem + "), not on storage";
  if (reason.empty() && allowed < fewest_bytes) {
    reason = fmt::format("{} MiB are free in {}, too few for a measurement", ground.free_bytes >> 20, folder.string());
  }
  if (!reason.empty()) {
    for (const char* name : {"storage_write_bytes_per_second", "storage_read_bytes_per_second"}) {
      ground.facts.push_back(fact(name, std::nullopt, "bytes_per_second", folder.string(), reason));
    }
    return ground.facts;
  }
  try {
    for (const Fact& found : measure_large(folder, allowed)) ground.facts.push_back(found);
    const Scratch scratch(folder);
    ground.facts.push_back(small_file_rate("storage_small_files_per_second", scratch, 0, small_files, false));
    ground.facts.push_back(
        small_file_rate("storage_synced_files_per_second", scratch, small_files, synced_files, true));
  } catch (const std::exception& error) {
    ground.facts.push_back(
        fact("storage_write_bytes_per_second", std::nullopt, "bytes_per_second", folder.string(), error.what()));
  }
  return ground.facts;
}

}  // namespace assay
