// The command line: what users may type, and what each word means.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace assay {

// Parses and runs. A line that cannot be understood is a sentence on standard error and exit code 64; errors of the
// commands themselves are thrown.
int run_command_line(int argc, const char* const* argv);

}  // namespace assay
