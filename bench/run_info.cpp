// Gathers what run.json says.
// SPDX-License-Identifier: Apache-2.0
#include "bench/run_info.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <ctime>
#include <fstream>
#include <random>
#include <string_view>

#include "bench/version.h"
#include "core/host.h"

namespace assay {
namespace {

std::string utc(const char* form) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 64> text{};
  return {text.data(), std::strftime(text.data(), text.size(), form, &parts)};
}

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

// A host's name as a part of a file's.
std::string plain(std::string name) {
  for (char& letter : name)
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0 && letter != '-' && letter != '_') letter = '_';
  return name.substr(0, 64);
}

std::string distribution() {
  std::ifstream file("/etc/os-release");
  constexpr std::string_view key = "PRETTY_NAME=";
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, key.size(), key) != 0) continue;
    std::string name = line.substr(key.size());
    if (name.size() >= 2 && name.front() == '"') name = name.substr(1, name.size() - 2);
    return name;
  }
  return "";
}

bool begins_with(std::string_view text, std::string_view start) { return text.substr(0, start.size()) == start; }

// What steers processors, threads, math libraries, drivers and the links between them.
bool allowed(std::string_view name) {
  constexpr std::array exact = {std::string_view("MALLOC_ARENA_MAX"), std::string_view("MALLOC_CONF"),
                                std::string_view("GLIBC_TUNABLES"), std::string_view("LD_LIBRARY_PATH"),
                                std::string_view("LD_PRELOAD")};
  constexpr std::array prefixes = {
      std::string_view("CUDA_"),     std::string_view("CUBLAS"),  std::string_view("CUDNN_"),
      std::string_view("NVIDIA_"),   std::string_view("NCCL_"),   std::string_view("OMP_"),
      std::string_view("GOMP_"),     std::string_view("KMP_"),    std::string_view("MKL_"),
      std::string_view("OPENBLAS_"), std::string_view("GOTO_"),   std::string_view("BLIS_"),
      std::string_view("DNNL_"),     std::string_view("ONEDNN_"), std::string_view("HIP_"),
      std::string_view("HSA_"),      std::string_view("ROCR_"),   std::string_view("ROCM_"),
      std::string_view("ROCBLAS"),   std::string_view("HIPBLAS"), std::string_view("GPU_"),
      std::string_view("RCCL_"),     std::string_view("MIOPEN_"), std::string_view("UCX_"),
      std::string_view("AMD_")};
  return std::find(exact.begin(), exact.end(), name) != exact.end() ||
         std::any_of(prefixes.begin(), prefixes.end(), [&](auto prefix) { return begins_with(name, prefix); });
}

// Long unbroken runs of letters and digits mixed are keys; paths, lists and UUIDs have breaks.
bool looks_random(std::string_view value) {
  std::size_t run = 0;
  bool digit = false, letter = false;
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) == 0) {
      run = 0;
      digit = letter = false;
      continue;
    }
    ++run;
    (std::isdigit(byte) != 0 ? digit : letter) = true;
    if (run >= 20 && digit && letter) return true;
  }
  return false;
}

bool looks_secret(const std::string& name, const std::string& value) {
  constexpr std::array in_name = {"TOKEN", "KEY", "SECRET", "PASS", "CREDENTIAL", "AUTH", "LICENSE", "COOKIE"};
  constexpr std::array in_value = {"hf_", "sk-", "ghp_", "gho_", "github_pat_", "AKIA", "eyJ", "Bearer ", "BEGIN "};
  const auto contains = [](const std::string& text) {
    return [&text](const char* part) { return text.find(part) != std::string::npos; };
  };
  return std::any_of(in_name.begin(), in_name.end(), contains(name)) ||
         std::any_of(in_value.begin(), in_value.end(), contains(value)) ||
         (value.find("://") != std::string::npos && value.find('@') != std::string::npos) || looks_random(value);
}

// Which start of the kernel this is: what one driver load measures hangs together.
Fact boot_id() {
  Fact fact;
  fact.name = "boot_id";
  fact.source = "/proc/sys/kernel/random/boot_id";
  std::ifstream file(fact.source);
  if (!std::getline(file, fact.text)) fact.reason = "the kernel does not say";
  return fact;
}

std::string random_hex() {
  std::random_device random;
  return fmt::format("{:08x}", random());
}

}  // namespace

std::string utc_now() { return utc("%Y-%m-%dT%H:%M:%SZ"); }

std::map<std::string, std::string> recorded_environment(const char* const* environment) {
  std::map<std::string, std::string> recorded;
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    const std::string one = *environment;
    const auto middle = one.find('=');
    if (middle == std::string::npos) continue;
    const std::string name = one.substr(0, middle);
    const std::string value = one.substr(middle + 1);
    if (allowed(name) && !looks_secret(name, value)) recorded[name] = value;
  }
  return recorded;
}

RunInfo describe_run(const RunOptions& options, const char* const* environment) {
  RunInfo info;
  const std::string host = host_name();
  info.id = fmt::format("{}-{}-{}", utc("%Y%m%dT%H%M%SZ"), plain(host), random_hex());
  info.program_version = version::program;
  info.commit = version::commit;
  info.build_type = version::build_type;
  info.compiler = version::compiler;
  info.profile = text(options.profile.value_or(ProfileKind::quick));
  info.filter = options.filter;
  info.command = options.command;
  info.labels = options.labels;
  info.environment = recorded_environment(environment);
  info.host = host;
  utsname system{};
  if (uname(&system) == 0) info.kernel = fmt::format("{} {} {}", system.sysname, system.release, system.machine);
  info.distribution = distribution();
  info.started_utc = utc_now();
  info.budget_seconds = options.budget_seconds;
  info.facts = host_limits().facts;
  info.facts.push_back(boot_id());
  return info;
}

std::filesystem::path new_run_folder(const std::filesystem::path& parent) {
  const std::string name = fmt::format("{}-{}", utc("%Y%m%dT%H%M%SZ"), plain(host_name()));
  std::filesystem::path folder = parent / name;
  std::error_code ignored;
  for (int again = 2; std::filesystem::exists(folder, ignored); ++again)
    folder = parent / fmt::format("{}-{}", name, again);
  return folder;
}

}  // namespace assay
