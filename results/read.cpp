// Reads a run and says in sentences what is not whole about it.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>
#include <system_error>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "core/error.h"
#include "results/archive.h"
#include "results/run.h"

namespace assay {
namespace {

RunTree read_tree(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) {
    throw BadInput("there is no " + path.string() + "; name the folder that `assay run` wrote, or its .tgz");
  }
  if (std::filesystem::is_directory(status)) return read_folder(path);
  if (!std::filesystem::is_regular_file(status)) {
    throw BadInput("cannot read " + path.string() + ": it is neither a folder nor a file");
  }
  const std::string name = path.filename().string();
  if (name == "run.json" || name == "results.csv" || name == "samples.csv") {
    const auto folder = path.parent_path().empty() ? std::filesystem::path(".") : path.parent_path();
    throw BadInput(path.string() + " is one file of a run; name its folder, " + folder.string());
  }
  return read_archive(path);
}

// Appends one folder's rows; each must belong to this run.
void add_rows(Run& run, const RunTexts& texts, std::optional<int> rank) {
  if (!texts.results) {
    run.remarks.push_back(texts.name + " has no results.csv; the run ended while it was beginning.");
    return;
  }
  const std::string name = texts.name + "/results.csv";
  RowList list = parse_rows(*texts.results, name);
  for (std::size_t i = 0; i < list.rows.size(); ++i) {
    const Row& row = list.rows[i];
    const auto line = [&] { return name + ", line " + std::to_string(i + 2); };
    if (row.run != run.info.id) {
      throw BadInput(line() + ", column \"run\": expected \"" + run.info.id + "\", as in run.json, found \"" + row.run +
                     "\"; the files of two runs were mixed");
    }
    if (rank && row.rank != *rank) {
      throw BadInput(line() + ", column \"rank\": expected " + std::to_string(*rank) +
                     ", as in the folder's name, found " + std::to_string(row.rank) +
                     "; the folders of two ranks were mixed");
    }
  }
  run.remarks.insert(run.remarks.end(), list.remarks.begin(), list.remarks.end());
  if (run.rows.empty()) {
    run.rows = std::move(list.rows);
  } else {
    run.rows.insert(run.rows.end(), std::make_move_iterator(list.rows.begin()),
                    std::make_move_iterator(list.rows.end()));
  }
}

// A run whose ranks alone wrote: the first rank speaks for all, with everybody's devices and plans.
void add_rank_info(Run& run, const RunTexts& texts, bool first) {
  if (!texts.info) {
    run.remarks.push_back(texts.name + " has no run.json; the rank ended while it was beginning.");
    return;
  }
  RunInfo info = parse_run_info(*texts.info, texts.name + "/run.json");
  if (first) {
    run.info = std::move(info);
    return;
  }
  const auto append = [](auto& all, auto& more) { all.insert(all.end(), more.begin(), more.end()); };
  append(run.info.devices, info.devices);
  append(run.info.planned, info.planned);
  // The run is as whole as its least whole rank.
  if (run.info.ending == Ending::complete) {
    run.info.ending = info.ending;
    run.info.ending_reason = info.ending_reason;
  }
}

// What follows from other rows is worked out anew when a run is gone on with: the last word counts, not the first.
void drop_superseded(std::vector<Row>& rows) {
  using Key = std::tuple<int, std::string, std::string, int, std::string>;
  std::map<Key, std::size_t> last;
  const auto key = [](const Row& row) { return Key{row.rank, row.device, row.case_name, row.repetition, row.metric}; };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].family == "derived") last[key(rows[i])] = i;
  }
  if (last.empty()) return;
  std::vector<Row> kept;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].family != "derived" || last.at(key(rows[i])) == i) kept.push_back(std::move(rows[i]));
  }
  rows = std::move(kept);
}

void remark_ending(Run& run, bool being_written) {
  const std::string because = run.info.ending_reason.empty() ? "" : " (" + run.info.ending_reason + ")";
  switch (run.info.ending) {
    case Ending::complete:
      return;
    case Ending::running:
      run.partial = true;
      run.remarks.push_back(being_written ? "The run is still going on; this is what it has found so far."
                                          : "The run was killed before it ended; what it had found is here.");
      return;
    case Ending::budget:
      run.partial = true;
      run.remarks.push_back("The run ended at its time budget" + because + ".");
      return;
    case Ending::interrupted:
      run.partial = true;
      run.remarks.push_back("The run was interrupted" + because + ".");
      return;
    case Ending::failed:
      run.remarks.push_back("The run ended by a fault" + because + ".");
      return;
  }
}

void remark_missing_cases(Run& run) {
  if (run.info.planned.empty()) return;
  std::unordered_set<std::string> found;
  for (const Row& row : run.rows) found.insert(row.device + ' ' + row.case_name);
  const std::set<std::string> planned(run.info.planned.begin(), run.info.planned.end());
  const auto missing = static_cast<std::size_t>(
      std::count_if(planned.begin(), planned.end(), [&](const std::string& one) { return found.count(one) == 0; }));
  if (missing == 0) return;
  run.partial = true;
  run.remarks.push_back(std::to_string(missing) + " of " + std::to_string(planned.size()) +
                        " planned cases have no row.");
}

}  // namespace

Run read_run(const std::filesystem::path& path) {
  const RunTree tree = read_tree(path);
  Run run;
  run.path = path;
  bool being_written = tree.top.being_written;
  if (tree.top.info) run.info = parse_run_info(*tree.top.info, tree.top.name + "/run.json");
  bool first = !tree.top.info;
  if (first) {
    for (const auto& [rank, texts] : tree.ranks) {
      add_rank_info(run, texts, first);
      first = first && !texts.info;
    }
    if (first) throw BadInput(path.string() + " holds no run of Assay: none of its ranks has a run.json");
  }
  if (tree.top.results || tree.ranks.empty()) add_rows(run, tree.top, std::nullopt);
  for (const auto& [rank, texts] : tree.ranks) {
    being_written = being_written || texts.being_written;
    add_rows(run, texts, rank);
  }
  drop_superseded(run.rows);
  remark_ending(run, being_written);
  remark_missing_cases(run);
  return run;
}

}  // namespace assay
