// The limits of each profile.
// SPDX-License-Identifier: Apache-2.0
#include "bench/profile.h"

namespace assay {

namespace {

Profile quick() {
  Profile result;
  result.kind = ProfileKind::quick;
  result.name = "quick";
  result.meaning = "A first answer in under a minute: every family, few sizes, at least 5 samples, 1 % half-width.";
  result.limits.warm_up_seconds = 0.02;
  result.limits.batch_seconds = 1e-3;
  result.limits.minimum_samples = 5;
  result.limits.half_width = 0.01;
  result.limits.maximum_seconds = 0.25;
  result.limits.runs_per_batch = 3;
  return result;
}

Profile standard() {
  Profile result;
  result.kind = ProfileKind::standard;
  result.name = "standard";
  result.meaning = "Several minutes: more sizes and variants, at least 10 samples, 0.5 % half-width.";
  result.limits.warm_up_seconds = 0.2;
  result.limits.batch_seconds = 2e-3;
  result.limits.minimum_samples = 10;
  result.limits.half_width = 0.005;
  result.limits.maximum_seconds = 2;
  result.limits.runs_per_batch = 5;
  return result;
}

Profile full() {
  Profile result;
  result.kind = ProfileKind::full;
  result.name = "full";
  result.meaning =
      "For comparing and gating: warm-up to a steady rate, at least 20 batches, 0.25 % half-width, up to 10 s a case.";
  result.limits.warm_up_seconds = 1;
  result.limits.batch_seconds = 5e-3;
  result.limits.minimum_samples = 20;
  result.limits.half_width = 0.0025;
  result.limits.maximum_seconds = 10;
  result.limits.steady_clock = true;
  result.limits.runs_per_batch = 10;
  return result;
}

}  // namespace

const std::vector<Profile>& profiles() {
  static const std::vector<Profile> all = {quick(), standard(), full()};
  return all;
}

const Profile& profile(ProfileKind kind) {
  switch (kind) {
    case ProfileKind::quick:
      return profiles()[0];
    case ProfileKind::standard:
      return profiles()[1];
    case ProfileKind::full:
      break;
  }
  return profiles()[2];
}

std::string text(ProfileKind kind) { return profile(kind).name; }

std::optional<ProfileKind> parse_profile(std::string_view name) {
  for (const Profile& candidate : profiles()) {
    if (candidate.name == name) return candidate.kind;
  }
  return std::nullopt;
}

}  // namespace assay
