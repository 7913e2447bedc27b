// What the output goes to: how wide, whether colour, whether more than ASCII.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace assay {

enum class ColourChoice { automatic, always, never };

struct Terminal {
  bool interactive = false;  // standard output is a terminal
  bool colour = false;
  bool ascii = false;  // the locale is not UTF-8
  int width = 80;      // columns, 40 to 200
};

// Colour is on when asked for, or when standard output is a terminal that is not "dumb" and NO_COLOR is not set
// (no-color.org: any value but the empty one counts).
Terminal look_at_terminal(ColourChoice choice);

// Makes `text` safe to print: control characters and, where only ASCII can be shown, everything else become '?'.
std::string printable(const std::string& text, bool ascii);

}  // namespace assay
