// Packs a run into one file to carry it away.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
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

constexpr std::size_t longest_folder_name = 60;  // leaves room in a tar name for "/ranks/<N>/results.csv"

// What belongs to a run, relative to its folder, in a steady order.
std::vector<std::filesystem::path> files_of(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> folders = {""};
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder / "ranks", error), end; !error && entry != end;
       entry.increment(error)) {
    folders.push_back(std::filesystem::path("ranks") / entry->path().filename());
  }
  std::sort(folders.begin(), folders.end());
  std::vector<std::filesystem::path> files;
  for (const auto& one : folders) {
    for (const char* name : {"run.json", "results.csv", "samples.csv"}) {
      if (std::filesystem::is_regular_file(folder / one / name, error)) files.push_back(one / name);
    }
  }
  return files;
}

// A gzip file that is written or not there: until finish() it has another name.
class GzipWriter {
 public:
  explicit GzipWriter(const std::filesystem::path& path) : path_(path), beside_(path) {
    beside_ += ".new";
    file_ = gzopen(beside_.c_str(), "wbe6");
    if (file_ == nullptr) {
      throw BadInput("cannot write " + path.string() + ": " + std::strerror(errno) +
                     "; run the command where you may write");
    }
  }
  GzipWriter(const GzipWriter&) = delete;
  GzipWriter& operator=(const GzipWriter&) = delete;
  ~GzipWriter() {
    if (file_ != nullptr) gzclose(file_);
    if (!finished_) unlink(beside_.c_str());
  }

  void write(const std::string& bytes) {
    for (std::size_t done = 0; done < bytes.size();) {
      const auto piece = static_cast<unsigned>(std::min<std::size_t>(bytes.size() - done, std::size_t{1} << 20));
      if (gzwrite(file_, bytes.data() + done, piece) != static_cast<int>(piece)) fail();
      done += piece;
    }
  }

  void finish() {
    if (gzclose(std::exchange(file_, nullptr)) != Z_OK) fail();
    if (rename(beside_.c_str(), path_.c_str()) != 0) fail();
    finished_ = true;
  }

 private:
  [[noreturn]] void fail() const {
    throw Error("cannot write " + path_.string() + ": " +
                (errno != 0 ? std::strerror(errno) : "the system refuses it"));
  }

  std::filesystem::path path_, beside_;
  gzFile file_ = nullptr;
  bool finished_ = false;
};

}  // namespace

std::filesystem::path pack_run(const std::filesystem::path& folder, bool force) {
  std::error_code error;
  const auto whole = std::filesystem::canonical(folder, error);
  const auto files = error ? std::vector<std::filesystem::path>() : files_of(whole);
  if (files.empty()) throw BadInput("cannot pack " + folder.string() + ": it holds no run");
  const std::filesystem::path archive = whole.string() + ".tgz";
  if (!force && std::filesystem::exists(archive, error)) {
    throw BadInput("cannot pack " + folder.string() + ": " + archive.string() +
                   " is there already; remove it, or replace it by --force");
  }
  std::string name = whole.filename().string();
  if (name.empty() || name.size() > longest_folder_name) name = "run";
  GzipWriter writer(archive);
  for (const auto& file : files) {
    const std::string content = read_text_file(whole / file, most_csv_bytes);
    struct stat status = {};
    const bool known = stat((whole / file).c_str(), &status) == 0;
    writer.write(tar_header(name + '/' + file.string(), content.size(), known ? status.st_mtime : 0));
    writer.write(content);
    writer.write(std::string(tar_padding(content.size()), '\0'));
  }
  writer.write(std::string(1024, '\0'));  // two empty blocks end an archive
  writer.finish();
  return archive;
}

}  // namespace assay
