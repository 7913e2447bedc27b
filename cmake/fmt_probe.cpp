// Links only where the functions that fmt_once.cpp compiles are all that the installed {fmt} needs.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string>

int main(int count, char** words) {
  const std::string text = fmt::format("{} {:.3f} {:>8} {:x} {}", 1.5 * count, 2.5F, words[0], count, true);
  return text.empty() ? 1 : 0;
}
