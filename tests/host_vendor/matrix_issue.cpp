// Nothing is multiplied; only the time is pretended.
// SPDX-License-Identifier: Apache-2.0
#include "matrix_issue.h"

namespace vendor {
namespace {

class IssueLoop : public Launchable {
 public:
  explicit IssueLoop(const assay::Issue& issue) : issue_(issue) {}
  void enqueue(Stream stream) override {
    host::queue_work("matrix instructions", 1e-4, stream, [] {});
  }
  assay::Choice choice() const override {
    assay::Choice choice;
    choice.method = "pretended instruction " + assay::text(issue_.operands);
    choice.flops = 2.0 * static_cast<double>(issue_.count) * 4;
    return choice;
  }

 private:
  assay::Issue issue_;
};

}  // namespace

assay::Support supports_matrix_issue(const assay::Issue& issue, int) {
  if (issue.operands.element == assay::Element::bf16) return {true, ""};
  return {false, "the pretended matrix unit takes bf16 only, not " + assay::text(issue.operands)};
}

std::unique_ptr<Launchable> make_matrix_issue(const assay::Issue& issue, int) {
  return std::make_unique<IssueLoop>(issue);
}

}  // namespace vendor
