// Writes a run's files: rows by one write each, run.json by rename.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "results/cell.h"
#include "results/run.h"
#include "results/text_file.h"

namespace assay {
namespace {

constexpr std::size_t most_samples = 100;  // a case
constexpr const char* samples_header = "case,device,repetition,index,seconds\n";

void make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error || !std::filesystem::is_directory(folder, error)) {
    throw BadInput("cannot make the folder " + folder.string() + " for the run" +
                   (error ? ": " + error.message() : std::string()) +
                   "; choose another one, by --out, where you may write");
  }
}

bool holds_run(const std::filesystem::path& folder) {
  std::error_code error;
  return std::filesystem::exists(folder / "run.json", error) ||
         std::filesystem::exists(folder / "results.csv", error) || std::filesystem::exists(folder / "ranks", error);
}

// What a run that is replaced leaves behind besides the files that are emptied.
void remove_old(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::remove(folder / "run.json", error);
  std::filesystem::remove_all(folder / "ranks", error);
}

// Cuts a torn last line and writes the header where it is missing.
void mend(OutputFile& file, const std::filesystem::path& path, const std::string& header) {
  const std::string text = read_text_file(path, most_csv_bytes);
  const auto newline = text.rfind('\n');
  const std::size_t whole = newline == std::string::npos ? 0 : newline + 1;
  if (whole != text.size()) file.cut(static_cast<std::int64_t>(whole));
  if (whole == 0) {
    file.append(header);
  } else if (text.compare(0, header.size(), header) != 0) {
    throw BadInput("cannot go on with " + path.string() +
                   ": another version of Assay wrote it, with other columns; start a new run");
  }
}

}  // namespace

RunWriter::RunWriter(std::filesystem::path folder, RunInfo info, OutputFile results, OutputFile samples,
                     std::int64_t next)
    : folder_(std::move(folder)),
      info_(std::move(info)),
      results_(std::move(results)),
      samples_(std::move(samples)),
      next_(next) {}

RunWriter RunWriter::create(const std::filesystem::path& folder, const RunInfo& info, bool force) {
  make_folder(folder);
  if (!force && holds_run(folder)) {
    throw BadInput("the folder " + folder.string() +
                   " already holds a run; choose another one by --out, go on with it by --resume, or replace it by "
                   "--force");
  }
  // results.csv comes first, since its lock claims the folder.
  OutputFile results(folder / "results.csv", !force);
  results.lock();
  results.cut(0);
  try {
    remove_old(folder);
    OutputFile samples(folder / "samples.csv", false);
    samples.cut(0);
    RunWriter writer(folder, info, std::move(results), std::move(samples), 1);
    writer.update(info);
    writer.results_.append(csv_header());
    writer.samples_.append(samples_header);
    return writer;
  } catch (...) {
    // Nothing of a run that never began, so that the next attempt is not refused.
    std::error_code error;
    for (const char* name : {"run.json", "results.csv", "samples.csv"}) std::filesystem::remove(folder / name, error);
    throw;
  }
}

RunWriter RunWriter::resume(const std::filesystem::path& folder) {
  std::error_code error;
  const auto info_path = folder / "run.json";
  if (!std::filesystem::exists(info_path, error)) {
    throw BadInput("cannot go on with " + folder.string() + ": it holds no run (there is no run.json in it)");
  }
  RunInfo info = parse_run_info(read_text_file(info_path, most_json_bytes), info_path.string());
  if (info.ending == Ending::complete) {
    throw BadInput("the run in " + folder.string() + " is complete; there is nothing to go on with");
  }
  OutputFile results(folder / "results.csv", false);
  results.lock();
  mend(results, folder / "results.csv", csv_header());
  OutputFile samples(folder / "samples.csv", false);
  mend(samples, folder / "samples.csv", samples_header);
  std::int64_t last = 0;
  for (const Row& row : read_rows(folder / "results.csv").rows) last = std::max(last, row.number);

  info.ending = Ending::running;
  info.ended_utc.clear();
  info.ending_reason.clear();
  RunWriter writer(folder, info, std::move(results), std::move(samples), last + 1);
  writer.update(info);
  return writer;
}

void RunWriter::append(Row row) {
  row.schema = current_schema;
  row.run = info_.id;
  row.number = next_;
  results_.append(csv_line(row));
  ++next_;
}

void RunWriter::append(const std::vector<Row>& rows) {
  std::string lines;
  std::int64_t next = next_;
  for (Row row : rows) {
    row.schema = current_schema;
    row.run = info_.id;
    row.number = next++;
    lines += csv_line(row);
  }
  if (!lines.empty()) results_.append(lines);
  next_ = next;
}

void RunWriter::append_samples(const std::string& case_name, const std::string& device, int repetition,
                               const std::vector<double>& seconds) {
  const std::size_t kept = std::min(seconds.size(), most_samples);
  const std::string start = quoted_cell(clean_text(case_name)) + ',' + quoted_cell(clean_text(device)) + ',' +
                            std::to_string(repetition) + ',';
  std::string lines;
  for (std::size_t i = 0; i < kept; ++i) {
    // Evenly spaced, the first and the last among them: a drift stays visible.
    const std::size_t index = kept < 2 ? i : i * (seconds.size() - 1) / (kept - 1);
    try {
      lines += start + std::to_string(index) + ',' + write_number(seconds[index]) + '\n';
    } catch (const Error& error) {
      throw Error("cannot write sample " + std::to_string(index) + " of case \"" + case_name + "\": " + error.what());
    }
  }
  if (!lines.empty()) samples_.append(lines);
}

void RunWriter::update(const RunInfo& info) {
  results_.sync();
  samples_.sync();
  replace_file(folder_ / "run.json", write_run_info(info));
  info_ = info;
}

}  // namespace assay
