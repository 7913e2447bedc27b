// Certificates: checksums, what they say and what they must not.
// SPDX-License-Identifier: Apache-2.0
#include "reports/accept/certificate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "reports/accept/sha256.h"
#include "tests/accept/made_up_machine.h"

namespace assay {
namespace {

using made_up::healthy;
using made_up::Rented;
using ::testing::HasSubstr;
using ::testing::Not;

Certificate made(const Rented& rented, bool redact = false) {
  return certificate(accept(rented.run, rented.fleet, rented.claim), rented.run, redact);
}

TEST(Sha256, GivesTheStandardsOwnExamples) {
  // FIPS 180-4's examples, and the sum of nothing.
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1'000'000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Certificate, StatesItsGrade) {
  Rented rented = healthy();  // standard profile, 20 minutes, with sustained load
  EXPECT_EQ(made(rented).fact("grade"), "qualification");
  rented.run.info.ended_utc = "2026-12-01T12:14:59Z";
  EXPECT_EQ(made(rented).fact("grade"), "standard");
  rented.run.info.profile = "quick";
  EXPECT_EQ(made(rented).fact("grade"), "screening");
}

TEST(Certificate, CarriesTheChecksumOfItsJsonAndNoticesAChange) {
  const std::string json = certificate_json(made(healthy()));
  EXPECT_TRUE(verify_certificate(json, "c.json"));
  std::string changed = json;
  changed.replace(changed.find("\"verdict\": \"pass\""), 17, "\"verdict\": \"fail\"");
  EXPECT_FALSE(verify_certificate(changed, "c.json"));
  EXPECT_THROW(verify_certificate("{}", "c.json"), BadInput);
  EXPECT_THROW(verify_certificate("not JSON", "c.json"), BadInput);
  EXPECT_THAT(certificate_page(made(healthy())), HasSubstr(stated_checksum(json)));
}

TEST(Certificate, CarriesTheChecksumsOfTheRunsFiles) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "certificate_run";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "run.json") << "abc";
  Rented rented = healthy();
  rented.run.path = folder;
  const Certificate one = made(rented);
  ASSERT_EQ(one.files.size(), 1U);
  EXPECT_EQ(one.files.front().first, "run.json");
  EXPECT_EQ(one.files.front().second, sha256("abc"));
  std::filesystem::remove_all(folder);
}

TEST(Certificate, IsFreeOfEnvironmentLabelsAndCommand) {
  Rented rented = healthy();
  rented.run.info.environment["NCCL_TOKEN_FILE"] = "secret-one";
  rented.run.info.labels["customer"] = "secret-two";
  rented.run.info.command = "assay run --label secret-three";
  for (const std::string& text : {certificate_json(made(rented)), certificate_page(made(rented))})
    EXPECT_THAT(text, Not(HasSubstr("secret-")));
}

TEST(Certificate, LeavesNamesAndNumbersOutWhenAsked) {
  Rented rented = healthy();
  rented.fact("ecc_uncorrected_since_boot", 1.0);
  rented.run.path = "/home/somebody/runs/one";
  const std::string open = certificate_json(made(rented));
  for (const char* name : {"rented-box", "GPU-5c2e-cuda:0"}) EXPECT_THAT(open, HasSubstr(name));
  for (const std::string& text : {certificate_json(made(rented, true)), certificate_page(made(rented, true))}) {
    for (const char* name : {"rented-box", "GPU-5c2e", "somebody", "1654321000"})
      EXPECT_THAT(text, Not(HasSubstr(name)));
    EXPECT_THAT(text, HasSubstr("redacted"));
  }
}

TEST(Certificate, MakesWhatComesFromOutsideHarmless) {
  Rented rented = healthy();
  rented.card().name = "<script>alert(1)</script>\x1b[2J";
  rented.run.info.host = "\"><img src=x>";
  const std::string page = certificate_page(made(rented));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_THAT(page, Not(HasSubstr("\x1b")));
}

TEST(Certificate, RepeatsEachFindingByACommand) {
  Rented rented = healthy();
  rented.slower("gemm/", 2);
  for (const Certificate::Line& line : made(rented).lines) {
    EXPECT_THAT(line.repeat, HasSubstr("assay ")) << line.rule;
    EXPECT_THAT(line.repeat, Not(HasSubstr("{"))) << line.rule;
  }
  EXPECT_THAT(certificate_json(made(rented)), HasSubstr("assay run --filter '^gemm' --device cuda:0 --repeat 3"));
}

TEST(Certificate, SaysTheWorstFirst) {
  Rented rented = healthy();
  rented.slower("gemm/", 2);
  const Certificate one = made(rented);
  EXPECT_EQ(one.fact("verdict"), "fail");
  EXPECT_EQ(one.lines.front().outcome, "fail");
  const Report report = acceptance_report(one);
  EXPECT_EQ(report.findings.front().severity, Severity::problem);
  EXPECT_THAT(report.findings.front().sentence, HasSubstr("Not acceptable"));
}

}  // namespace
}  // namespace assay
