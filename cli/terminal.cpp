// Asks the environment and the kernel about standard output.
// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace assay {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The locale's character set, by POSIX's order of precedence. No setlocale: number formats must not change.
bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    std::string value = variable(name);
    if (value.empty()) continue;
    std::transform(value.begin(), value.end(), value.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return value.find("utf-8") != std::string::npos || value.find("utf8") != std::string::npos;
  }
  return false;
}

int columns() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const int stated = std::atoi(variable("COLUMNS").c_str());
  return stated > 0 ? stated : 80;
}

}  // namespace

Terminal look_at_terminal(ColourChoice choice) {
  Terminal terminal;
  terminal.interactive = isatty(STDOUT_FILENO) == 1;
  terminal.ascii = !locale_is_utf8();
  terminal.width = std::clamp(columns(), 40, 200);
  switch (choice) {
    case ColourChoice::always:
      terminal.colour = true;
      break;
    case ColourChoice::never:
      break;
    case ColourChoice::automatic:
      terminal.colour = terminal.interactive && variable("NO_COLOR").empty() && variable("TERM") != "dumb";
      break;
  }
  return terminal;
}

std::string printable(const std::string& text, bool ascii) {
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool control = byte < 0x20 || byte == 0x7F;
    result += control || (ascii && byte >= 0x80) ? '?' : c;
  }
  return result;
}

}  // namespace assay
