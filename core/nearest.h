// "Did you mean": the known name that is nearest to one that nobody knows.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

// Letters to insert, delete, replace or swap with their neighbour to turn one into the other; case does not count.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The nearest candidates, best first, at most `most`: those within a third of the name's length (at least 1) and those
// that begin with it. Empty where nothing is near.
std::vector<std::string> nearest(std::string_view name, const std::vector<std::string>& candidates,
                                 std::size_t most = 1);

// ", did you mean 'gemm'?" or "", to end a message with.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace assay
