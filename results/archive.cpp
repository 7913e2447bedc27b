// The texts of a run, from a folder or from a packed .tgz of one; and the packing.
// SPDX-License-Identifier: Apache-2.0
#include "results/archive.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "core/error.h"
#include "results/run.h"
#include "results/tar.h"
#include "results/text_file.h"

namespace assay {
namespace {

// All bytes that unpacking may give, wanted or not: a small archive can blow up a thousandfold.
constexpr std::uint64_t most_unpacked = std::uint64_t{4} << 30;

using GzipFile = std::unique_ptr<gzFile_s, int (*)(gzFile)>;

std::string zlib_reason(gzFile file) {
  int code = Z_OK;
  const char* message = gzerror(file, &code);
  return code == Z_ERRNO ? std::error_code(errno, std::generic_category()).message() : std::string(message);
}

// "3" of "ranks/3"; -1 for anything that is no rank's folder.
int rank_of(std::string_view name) {
  int rank = -1;
  const auto read = std::from_chars(name.data(), name.data() + name.size(), rank);
  const bool whole = read.ec == std::errc() && read.ptr == name.data() + name.size() && rank >= 0;
  return whole && std::to_string(rank) == name ? rank : -1;
}

bool is_locked(const std::filesystem::path& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return false;
  const bool locked = flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  close(descriptor);
  return locked;
}

RunTexts read_texts(const std::filesystem::path& folder) {
  RunTexts texts;
  texts.name = folder.string();
  std::error_code error;
  if (std::filesystem::exists(folder / "run.json", error)) {
    texts.info = read_text_file(folder / "run.json", most_json_bytes);
  }
  if (std::filesystem::exists(folder / "results.csv", error)) {
    texts.being_written = is_locked(folder / "results.csv");
    texts.results = read_text_file(folder / "results.csv", most_csv_bytes);
  }
  return texts;
}

// Where a member belongs: `folder` is what stands before (the run's own name), `rank` -1 for the run itself.
struct Place {
  std::string folder;
  int rank = -1;
  std::string file;
};

std::optional<Place> place_of(std::string name) {
  while (name.compare(0, 2, "./") == 0) name.erase(0, 2);
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    parts.push_back(name.substr(begin, end - begin));
    begin = end + 1;
  }
  Place place;
  place.file = parts.back();
  parts.pop_back();
  if (place.file != "run.json" && place.file != "results.csv") return std::nullopt;
  if (parts.size() >= 2 && parts[parts.size() - 2] == "ranks" && rank_of(parts.back()) >= 0) {
    place.rank = rank_of(parts.back());
    parts.resize(parts.size() - 2);
  }
  for (const std::string& part : parts) place.folder += part + '/';
  return place;
}

// Tells whether the members are one run and collects them.
class Collector {
 public:
  explicit Collector(const std::filesystem::path& archive) : archive_(archive.string()) { tree_.top.name = archive_; }

  void take(TarReader& reader) {
    if (!reader.member().plain_file) return;
    const auto place = place_of(reader.member().name);
    if (!place) return;
    if (folder_ && *folder_ != place->folder) {
      throw BadInput("it holds more than one run (\"" + *folder_ + "\" and \"" + place->folder +
                     "\"); unpack it and name one of its folders");
    }
    folder_ = place->folder;
    RunTexts& texts = place->rank < 0 ? tree_.top : tree_.ranks[place->rank];
    if (place->rank >= 0) texts.name = archive_ + "/ranks/" + std::to_string(place->rank);
    const bool is_info = place->file == "run.json";
    (is_info ? texts.info : texts.results) = reader.content(is_info ? most_json_bytes : most_csv_bytes);
  }

  RunTree tree() { return std::move(tree_); }

 private:
  std::string archive_;
  std::optional<std::string> folder_;
  RunTree tree_;
};

ByteReader unpacker(gzFile file) {
  return [file, total = std::uint64_t{0}](char* buffer, std::size_t size) mutable {
    const int count = gzread(file, buffer, static_cast<unsigned>(size));
    int code = Z_OK;
    gzerror(file, &code);
    if (count < 0 || (count == 0 && code != Z_OK && code != Z_STREAM_END)) {
      throw BadInput("the archive is damaged or cut off (" + zlib_reason(file) + "); pack or copy the run again");
    }
    total += static_cast<std::uint64_t>(count);
    if (total > most_unpacked) throw BadInput("it unpacks to more than 4 GiB, which no run of Assay does");
    return static_cast<std::size_t>(count);
  };
}

void check_holds_run(const RunTree& tree, const std::string& name) {
  if (tree.top.info || !tree.ranks.empty()) return;
  throw BadInput(name +
                 " holds no run of Assay: there is no run.json in it; name the folder that `assay run` wrote, "
                 "or its .tgz");
}

}  // namespace

RunTree read_folder(const std::filesystem::path& folder) {
  RunTree tree;
  tree.top = read_texts(folder);
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder / "ranks", error), end; !error && entry != end;
       entry.increment(error)) {
    const int rank = rank_of(entry->path().filename().string());
    if (rank >= 0) tree.ranks[rank] = read_texts(entry->path());
  }
  check_holds_run(tree, folder.string());
  return tree;
}

RunTree read_archive(const std::filesystem::path& archive) {
  const GzipFile file(gzopen(archive.c_str(), "rbe"), gzclose);
  if (!file)
    throw BadInput("cannot read " + archive.string() + ": " +
                   std::error_code(errno, std::generic_category()).message());
  Collector collector(archive);
  try {
    const ByteReader unpack = unpacker(file.get());
    TarReader reader([&](char* buffer, std::size_t size) { return unpack(buffer, size); });
    while (reader.next()) collector.take(reader);
    // To the very end, where the checksum of it all stands.
    std::array<char, 4096> rest;
    while (unpack(rest.data(), rest.size()) > 0) continue;
  } catch (const BadInput& error) {
    throw BadInput("cannot read " + archive.string() + ": " + error.what());
  }
  RunTree tree = collector.tree();
  check_holds_run(tree, archive.string());
  return tree;
}

}  // namespace assay
