// A run on disk: a folder with run.json, results.csv and samples.csv, written so that a kill costs at most one row.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/device.h"
#include "results/output_file.h"
#include "results/row.h"

namespace assay {

// How a run ended. `running` in a file whose writer is gone means that it was killed.
enum class Ending : std::uint8_t { running, complete, budget, interrupted, failed };
std::string text(Ending ending);

// run.json. Environment variables by allow-list only; nothing in it is secret.
struct RunInfo {
  int schema = 1;
  std::string id;
  std::string program_version, commit, build_type, compiler;
  std::string profile, filter, command;
  std::map<std::string, std::string> labels;
  std::map<std::string, std::string> environment;  // allow-listed variables
  std::string host, kernel, distribution, started_utc, ended_utc;
  std::vector<DeviceInfo> devices;
  std::vector<Fact> facts;           // of the host
  std::vector<std::string> planned;  // case names with their device, in order: "cpu:0 gemm/..."
  double budget_seconds = 0;         // 0: none
  int repeat = 1;                    // how often each planned case is measured
  std::string asked;                 // the step of a model that was asked for, as JSON; empty: none
  Ending ending = Ending::running;
  std::string ending_reason;
};

// The text of run.json, and back. Unknown fields are ignored; a known one of the wrong kind throws BadInput with
// `name`, the field's place and what was expected.
std::string write_run_info(const RunInfo& info);
RunInfo parse_run_info(std::string_view text, const std::string& name);

// Writes a run. Every method throws Error with the path and what the system said (a full disk); after that the files
// hold everything that was appended before. Movable.
class RunWriter {
 public:
  // Makes the folder. Throws BadInput if it already holds a run and `force` is not set, if another process is writing
  // it, or if it cannot be written.
  static RunWriter create(const std::filesystem::path& folder, const RunInfo& info, bool force);
  // Opens an unfinished run to go on with it: a torn last line is cut off, and it is `running` again. Throws BadInput
  // where there is none, it is complete, or another process is writing it.
  static RunWriter resume(const std::filesystem::path& folder);

  void append(Row row);                       // one write; gives it the run's id and the next number
  void append(const std::vector<Row>& rows);  // all of them by one write: the rows of a case belong together
  // One write. Of more than 100, 100 evenly spaced ones are kept.
  void append_samples(const std::string& case_name, const std::string& device, int repetition,
                      const std::vector<double>& seconds);
  void update(const RunInfo& info);  // replaces run.json by rename
  const RunInfo& info() const { return info_; }
  const std::filesystem::path& folder() const { return folder_; }
  std::int64_t next_number() const { return next_; }

 private:
  RunWriter(std::filesystem::path folder, RunInfo info, OutputFile results, OutputFile samples, std::int64_t next);

  std::filesystem::path folder_;
  RunInfo info_;
  OutputFile results_;
  OutputFile samples_;
  std::int64_t next_ = 1;
};

struct Run {
  std::filesystem::path path;
  RunInfo info;
  std::vector<Row> rows;
  std::vector<std::string>
      remarks;  // sentences: "the last line was torn and is left out", "12 of 80 planned cases have no row"
  bool partial = false;
};

// Reads a folder or a packed .tgz of one. Throws BadInput with file, line, column and what to do.
Run read_run(const std::filesystem::path& path);

struct RowList {
  std::vector<Row> rows;  // the i-th stands on line i + 2
  std::vector<std::string> remarks;
};

// Rows only, of a file or of its text; `name` is for messages.
RowList read_rows(const std::filesystem::path& csv);
RowList parse_rows(std::string_view text, const std::string& name);

// Packs the run of a folder into `<folder>.tgz` beside it and gives that path: run.json, results.csv, samples.csv and
// the ranks' own, nothing else. Throws BadInput if the archive exists and `force` is not set, or if there is no run.
std::filesystem::path pack_run(const std::filesystem::path& folder, bool force);

}  // namespace assay
