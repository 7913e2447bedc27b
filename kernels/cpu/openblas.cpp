// Loading OpenBLAS with the kernel set that fits the processor.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/openblas.h"

#include <cstdlib>
#include <sstream>

#include "core/error.h"

namespace assay::cpu {
namespace {

constexpr const char* variable = "OPENBLAS_CORETYPE";

// Sets the variable for as long as the library loads: it is read then and never again, and no child shall inherit it.
class CoreTypeGuard {
 public:
  explicit CoreTypeGuard(const std::string& value) : set_(!value.empty() && std::getenv(variable) == nullptr) {
    if (set_) {
      setenv(variable, value.c_str(), 1);
    }
  }
  CoreTypeGuard(const CoreTypeGuard&) = delete;
  CoreTypeGuard& operator=(const CoreTypeGuard&) = delete;
  ~CoreTypeGuard() {
    if (set_) {
      unsetenv(variable);
    }
  }

 private:
  bool set_;
};

// openblas_get_config() starts with "OpenBLAS 0.3.21 ...".
std::string version_in(const std::string& configuration) {
  std::istringstream words(configuration);
  std::string name;
  std::string version;
  words >> name >> version;
  return version.empty() ? "of unknown version" : version;
}

}  // namespace

std::string openblas_core_type(const Features& features) {
  if (features.avx512) {
    return "SkylakeX";
  }
  if (features.avx2_fma) {
    return features.vendor == "AuthenticAMD" ? "Zen" : "Haswell";
  }
  return "";
}

std::vector<std::string> OpenBlas::default_candidates() {
  return {"/usr/lib/x86_64-linux-gnu/openblas-openmp/libopenblas.so.0",
          "/usr/lib/aarch64-linux-gnu/openblas-openmp/libopenblas.so.0",
          "libopenblaso.so.0",  // the OpenMP build of Fedora and its relatives
          "libopenblas.so.0", "libopenblas.so"};
}

std::string OpenBlas::package() { return "libopenblas0-openmp of Debian and Ubuntu"; }

OpenBlas::OpenBlas(const std::vector<std::string>& candidates, const Features& features) {
  const char* theirs = std::getenv(variable);
  if (theirs != nullptr) {
    note_ = std::string(variable) + " was set to \"" + theirs + "\" by the user and is honoured";
  }
  const CoreTypeGuard guard(openblas_core_type(features));
  load(candidates);
}

void OpenBlas::load(const std::vector<std::string>& candidates) {
  library_ = std::make_shared<Library>(candidates);
  if (!library_->found()) {
    reason_ =
        "OpenBLAS is not there: " + (library_->attempts().empty() ? "no name to try" : library_->attempts().back()) +
        "; the package " + package() + " brings it";
    return;
  }
  path_ = library_->path();
  try {
    version_ = version_in(library_->function<char*()>("openblas_get_config")());
    kernels_ = library_->function<char*()>("openblas_get_corename")();
    set_threads_ = library_->function<void(int)>("openblas_set_num_threads");
    gemm_float_ = library_->function<GemmFunction<float>>("cblas_sgemm");
    const int threading = library_->function<int()>("openblas_get_parallel")();
    if (threading != 2) {  // 0 is none, 1 is its own threads, 2 is OpenMP
      note_ += std::string(note_.empty() ? "" : "; ") +
               "this OpenBLAS is not the OpenMP build, so its threads compete " + "with ours; the package " +
               package() + " brings the right one";
    }
    gemm_double_ = library_->function<GemmFunction<double>>("cblas_dgemm");
  } catch (const Error& error) {
    reason_ = error.what();
  }
}

}  // namespace assay::cpu
