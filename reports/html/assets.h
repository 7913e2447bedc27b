// The files of the page, embedded in the program: templates, style, the bundled chart script.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace assay {

struct PageAssets {
  std::string_view page, table, quantity;  // Mustache templates; `page` includes the others
  std::string_view style;
  std::string_view script;       // empty where this build has no chart library
  std::string_view script_hash;  // "sha256-...", for the page's content security policy
  std::string_view licences;     // of what is in the script
};
PageAssets page_assets();

}  // namespace assay
