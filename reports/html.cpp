// A report as one self-contained page.
// SPDX-License-Identifier: Apache-2.0
#include "reports/render.h"

namespace assay {
std::string render_html(const Report& report) { return "<!doctype html>" + render_markdown(report); }
}  // namespace assay
