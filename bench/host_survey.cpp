// The surveys of what the host grants: cores, memory, shared memory, processes.
// SPDX-License-Identifier: Apache-2.0
#include "bench/host_survey.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <initializer_list>
#include <optional>
#include <sstream>

#include "bench/host_storage.h"
#include "core/error.h"
#include "core/host.h"

namespace assay {

namespace {

constexpr double docker_shared_memory = 64.0 * 1024 * 1024;

Fact number(const std::string& name, double value, const std::string& unit, const std::string& source) {
  Fact fact;
  fact.name = name;
  fact.value = value;
  fact.unit = unit;
  fact.source = source;
  return fact;
}

Fact missing(const std::string& name, const std::string& unit, const std::string& source, const std::string& reason) {
  Fact fact;
  fact.name = name;
  fact.unit = unit;
  fact.source = source;
  fact.reason = reason;
  return fact;
}

// Those of the facts that have one of the names, in the order of the names.
std::vector<Fact> chosen(const std::vector<Fact>& facts, std::initializer_list<const char*> names) {
  std::vector<Fact> result;
  for (const char* name : names) {
    for (const Fact& fact : facts) {
      if (fact.name == name) result.push_back(fact);
    }
  }
  return result;
}

std::vector<Fact> survey_cpu(const HostSurveyPlace& place) {
  const HostLimits limits = host_limits(place.root);
  std::vector<Fact> facts = chosen(limits.facts, {"cores_online", "cores_allowed", "cpu_quota_cores"});
  Fact threads = number("usable_threads", usable_threads(limits), "threads", "the least of affinity and quota");
  if (usable_threads(limits) < limits.cores_online) {
    threads.reason = fmt::format(
        "this process may use {} of the machine's {} cores; programs that count cores will "
        "start too many threads",
        usable_threads(limits), limits.cores_online);
  }
  facts.push_back(threads);

  std::ifstream load(place.root / "proc/loadavg");
  double runnable = 0;
  if (load >> runnable) {
    facts.push_back(number("load_average", runnable, "processes", "/proc/loadavg"));
  } else {
    facts.push_back(missing("load_average", "processes", "/proc/loadavg", "the file cannot be read"));
  }
  return facts;
}

// A line "Name:   123 kB" of /proc/meminfo, in bytes.
std::optional<double> meminfo_bytes(const std::filesystem::path& root, const std::string& name) {
  std::ifstream file(root / "proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string key;
    double kibibytes = 0;
    if (words >> key >> kibibytes && key == name + ":") return kibibytes * 1024;
  }
  return std::nullopt;
}

std::vector<Fact> survey_memory(const HostSurveyPlace& place) {
  const HostLimits limits = host_limits(place.root);
  std::vector<Fact> facts = chosen(
      limits.facts, {"memory_total_bytes", "memory_available_bytes", "memory_limit_bytes", "memory_limit_free_bytes"});
  facts.push_back(number("usable_memory_bytes", static_cast<double>(usable_memory(limits)), "bytes",
                         "the least of what is available and what the control group leaves"));
  if (const auto swap = meminfo_bytes(place.root, "SwapTotal")) {
    facts.push_back(number("swap_bytes", *swap, "bytes", "/proc/meminfo"));
  }
  return facts;
}

// Tries to put one page there, as data loaders and collectives do.
Fact shared_memory_writable(const std::filesystem::path& folder) {
  const std::string path = (folder / fmt::format(".assay-{}", ::getpid())).string();
  const int file = ::open(path.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
  if (file < 0) {
    Fact no = number("shared_memory_writable", 0, "", folder.string());
    no.reason = fmt::format("no file can be made there: {}", std::strerror(errno));
    return no;
  }
  ::unlink(path.c_str());
  const std::vector<char> page(4096, 1);
  const bool fits = ::write(file, page.data(), page.size()) == static_cast<ssize_t>(page.size());
  const int error = errno;
  ::close(file);
  Fact fact = number("shared_memory_writable", fits ? 1 : 0, "", folder.string());
  if (!fits) fact.reason = fmt::format("not even one page can be written: {}", std::strerror(error));
  return fact;
}

std::vector<Fact> survey_shared_memory(const HostSurveyPlace& place) {
  const std::filesystem::path folder = place.root / "dev/shm";
  struct statvfs state {};
  if (::statvfs(folder.c_str(), &state) != 0) {
    return {missing("shared_memory_bytes", "bytes", "/dev/shm",
                    fmt::format("/dev/shm cannot be looked at: {}; multi-process data loading and collectives need it",
                                std::strerror(errno)))};
  }
  const auto block = static_cast<double>(state.f_frsize);
  Fact size = number("shared_memory_bytes", static_cast<double>(state.f_blocks) * block, "bytes", "/dev/shm");
  if (*size.value <= docker_shared_memory) {
    size.reason =
        "no more than the 64 MiB that containers get by default; multi-process data loading and collectives "
        "need more: start the container with a larger --shm-size, or with the host's IPC namespace";
  }
  return {size, number("shared_memory_free_bytes", static_cast<double>(state.f_bavail) * block, "bytes", "/dev/shm"),
          shared_memory_writable(folder)};
}

Fact resource_limit(const std::string& name, const std::string& unit, const std::string& source, int resource) {
  struct rlimit limit {};
  if (::getrlimit(static_cast<__rlimit_resource_t>(resource), &limit) != 0) {
    return missing(name, unit, source, fmt::format("the system does not say: {}", std::strerror(errno)));
  }
  if (limit.rlim_cur == RLIM_INFINITY) {
    Fact fact;
    fact.name = name;
    fact.unit = unit;
    fact.source = source;
    fact.text = "no limit";
    return fact;
  }
  return number(name, static_cast<double>(limit.rlim_cur), unit, source);
}

std::vector<Fact> survey_processes(const HostSurveyPlace& place) {
  std::vector<Fact> facts = chosen(host_limits(place.root).facts, {"processes_limit"});
  facts.push_back(resource_limit("open_files_limit", "files", "getrlimit(RLIMIT_NOFILE)", RLIMIT_NOFILE));
  facts.push_back(resource_limit("locked_memory_limit_bytes", "bytes", "getrlimit(RLIMIT_MEMLOCK)", RLIMIT_MEMLOCK));
  facts.push_back(resource_limit("user_processes_limit", "processes", "getrlimit(RLIMIT_NPROC)", RLIMIT_NPROC));
  return facts;
}

}  // namespace

const std::vector<std::string>& host_surveys() {
  static const std::vector<std::string> names = {"cpu", "memory", "shared_memory", "processes", "storage"};
  return names;
}

std::vector<Fact> survey_host(const std::string& name, const HostSurveyPlace& place) {
  if (name == "cpu") return survey_cpu(place);
  if (name == "memory") return survey_memory(place);
  if (name == "shared_memory") return survey_shared_memory(place);
  if (name == "processes") return survey_processes(place);
  if (name == "storage") return survey_storage(place.storage_folder, place.storage_bytes);
  throw Error("there is no host survey named " + name);
}

}  // namespace assay
