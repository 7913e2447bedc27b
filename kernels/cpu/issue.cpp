// Register-only multiply-adds: choosing the instruction, proving it, and running it on all threads.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/issue.h"

#include <algorithm>
#include <string>

#include "core/error.h"
#include "kernels/cpu/issue_paths.h"

namespace assay::cpu {
namespace {

// What any processor can do: 128-bit vectors, written so that the compiler takes a fused multiply-add where the
// plainest processor of the kind has one. Halving is exact, so the result is the same either way.
template <class Number, int lanes>
void plain(std::int64_t turns, double* results) {
  typedef Number Vector __attribute__((vector_size(16)));
  constexpr int chains = 10;
  Vector r[chains];
  Vector x = Vector{} + Number(0.5);
  Vector y = Vector{} + Number(1);
#pragma GCC unroll 10
  for (Vector& chain : r) {
    chain = Vector{};
    asm volatile("" : "+m"(chain));
  }
  asm volatile("" : "+m"(x), "+m"(y));
  for (std::int64_t turn = 0; turn < turns; ++turn) {
#pragma GCC unroll 10
    for (Vector& chain : r) {
      chain = chain * x + y;
    }
  }
  for (int i = 0; i < chains * lanes; ++i) {
    results[i] = static_cast<double>(r[i / lanes][i % lanes]);
  }
}

template <class Number>
double expected_plain(std::int64_t turns) {
  Number r = 0;
  for (std::int64_t turn = 0; turn < turns; ++turn) {
    r = r / 2 + 1;
  }
  return static_cast<double>(r);
}

bool everywhere(const Features&) { return true; }

class IssueKernel : public Kernel {
 public:
  IssueKernel(const Issue& issue, const IssuePath& path, int threads)
      : issue_(issue), path_(path), threads_(threads), turns_(turns(issue, path)) {
    prove();
  }

  void run() override {
#pragma omp parallel num_threads(threads_)
    {
      const std::vector<double> results = issue_results(path_, turns_);
      asm volatile("" : : "g"(results.data()) : "memory");
    }
  }

  std::string method() const override { return std::string("own ") + path_.name; }

  Choice choice() const override {
    Choice choice;
    choice.method = method();
    choice.executed = text(path_.element);
    choice.accumulated = text(path_.accumulate);
    choice.flops = 2.0 * path_.products * path_.lanes * path_.chains * static_cast<double>(turns_) * threads_;
    if (path_.element == Element::int8) {
      choice.note = "unsigned by signed bytes, the only product of bytes that the processor has";
    }
    return choice;
  }

 private:
  static std::int64_t turns(const Issue& issue, const IssuePath& path) {
    const std::int64_t each_turn = std::int64_t{path.chains} * path.products;
    return std::max<std::int64_t>(1, (issue.count + each_turn - 1) / each_turn);
  }

  // No operands, so nobody else can check it: every lane of every chain must hold the worked-out value.
  void prove() const {
    constexpr std::int64_t few = 100;
    const double right = path_.expected(few);
    for (const double value : issue_results(path_, few)) {
      if (value != right) {
        throw Error(method() + " gave " + std::to_string(value) + " after " + std::to_string(few) +
                    " multiply-adds where " + std::to_string(right) + " is right");
      }
    }
  }

  Issue issue_;
  const IssuePath& path_;
  int threads_;
  std::int64_t turns_;
};

}  // namespace

const std::vector<IssuePath>& issue_paths() {
  static const std::vector<IssuePath> paths = [] {
    auto list = vendor_issue_paths();
    list.push_back({Element::fp32, Element::fp32, "128-bit multiply and add", 4, 1, 10, everywhere, plain<float, 4>,
                    expected_plain<float>});
    list.push_back({Element::fp64, Element::fp64, "128-bit multiply and add", 2, 1, 10, everywhere, plain<double, 2>,
                    expected_plain<double>});
    return list;
  }();
  return paths;
}

const IssuePath* issue_path(const Issue& issue, const Features& features) {
  for (const IssuePath& path : issue_paths()) {
    if (Format{path.element} == issue.operands && path.accumulate == issue.accumulate && path.available(features)) {
      return &path;
    }
  }
  return nullptr;
}

std::vector<double> issue_results(const IssuePath& path, std::int64_t turns) {
  std::vector<double> results(static_cast<std::size_t>(path.chains * path.lanes));
  path.execute(turns, results.data());
  return results;
}

Support issue_support(const Issue& issue) {
  const Features features = detect_features();
  if (issue.unit == Unit::matrix) {
    return {false, features.amx_bf16 || features.amx_int8
                       ? "the processor has AMX tiles, but this build does not issue on them from registers alone"
                       : "the processor has no matrix unit"};
  }
  if (issue_path(issue, features) == nullptr) {
    return {false, "the processor (" + features.level + ") has no instruction that multiplies " + text(issue.operands) +
                       " and adds in " + text(issue.accumulate)};
  }
  return {true, ""};
}

std::unique_ptr<Kernel> make_issue_kernel(const Issue& issue, int threads) {
  const IssuePath* path = issue_path(issue, detect_features());
  if (path == nullptr) {
    throw Unsupported(issue_support(issue).reason);
  }
  return std::make_unique<IssueKernel>(issue, *path, threads);
}

}  // namespace assay::cpu
