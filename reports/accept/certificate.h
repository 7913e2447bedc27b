// One page that says what was promised, what is there, and how thoroughly it was looked at; fit to be sent on.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "reports/accept/accept.h"

namespace assay {

// A card as a certificate shows it; empty where it is not known.
struct CertifiedDevice {
  std::string id, name, architecture, units, memory, driver, unique_id, products, bandwidth, host_copy;
};

// Strings only, so that its JSON reads back to the same bytes.
struct Certificate {
  std::vector<std::pair<std::string, std::string>> facts;  // "verdict", "grade", "claim", "run" ... in order
  std::vector<CertifiedDevice> devices;
  struct Line {
    std::string rule, subject, outcome, title, value, evidence, threshold, source, advice, repeat;
  };
  std::vector<Line> lines;                                 // worst first; without rules that do not apply
  std::vector<std::pair<std::string, std::string>> files;  // of the run, with their SHA-256

  std::string fact(const std::string& name) const;
};

// Reads the run's files for their checksums. `redact`: names, addresses and serial numbers become "redacted".
// Labels, environment and the command line never stand in it.
Certificate certificate(const Acceptance& acceptance, const Run& run, bool redact);

// The JSON ends with its own SHA-256, taken over the same text without that member.
std::string certificate_json(const Certificate& certificate);
// What that checksum is; empty where the text is no certificate.
std::string stated_checksum(const std::string& json);
// Whether the text is as it was written. Throws BadInput where it is no certificate.
bool verify_certificate(const std::string& json, const std::string& name);

// One page, without scripts, fit for A4; carries the checksum of the JSON.
std::string certificate_page(const Certificate& certificate);

// The same for the terminal and for Markdown.
Report acceptance_report(const Certificate& certificate);

}  // namespace assay
