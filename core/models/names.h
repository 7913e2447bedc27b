// Names that people type for models, and the ones they may have meant.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay {

// Letters and digits only, in lower case: "Llama-3-8B" and "llama 3 8b" are the same.
std::string loose(std::string_view name);

// Up to `most` of `names`, best first: those that hold `name`, then those that differ least. Never empty unless `names`
// is, for the reader of a refusal needs somewhere to go.
std::vector<std::string> suggestions(std::string_view name, const std::vector<std::string>& names, std::size_t most);

}  // namespace assay
