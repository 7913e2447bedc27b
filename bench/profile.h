// The three depths of a run: how long a case may take and how sure it must be.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/case.h"
#include "bench/sampler.h"

namespace assay {

struct Profile {
  ProfileKind kind = ProfileKind::quick;
  std::string name;     // "quick"
  std::string meaning;  // one sentence for people
  Limits limits;
};

// Shortest first.
const std::vector<Profile>& profiles();

const Profile& profile(ProfileKind kind);
std::string text(ProfileKind kind);
std::optional<ProfileKind> parse_profile(std::string_view name);  // absent where there is none of that name

}  // namespace assay
