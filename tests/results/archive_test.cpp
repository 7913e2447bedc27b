// Packed runs: what tar and Assay itself make, and what the hostile make.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdlib>

#include "core/error.h"
#include "results/run.h"
#include "results/tar.h"
#include "tests/results/examples.h"
#include "tests/results/temporary_folder.h"

namespace assay {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string message_of(const auto& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

RunInfo complete() {
  RunInfo info = full_info();
  info.ending = Ending::complete;
  info.planned.clear();
  return info;
}

void write_run(const TemporaryFolder& folder, const std::string& name) {
  folder.write(name + "/run.json", write_run_info(complete()));
  folder.write(name + "/results.csv", csv_header() + csv_line(full_row()));
  folder.write(name + "/samples.csv", "case,device,repetition,index,seconds\n");
  folder.write(name + "/ranks/3/results.csv", csv_header() + csv_line(full_row()));
}

bool shell(const std::string& command) { return std::system(command.c_str()) == 0; }

std::string member(const std::string& name, const std::string& content) {
  return tar_header(name, content.size(), 0) + content + std::string(tar_padding(content.size()), '\0');
}

void write_gzip(const std::filesystem::path& path, const std::string& content) {
  gzFile file = gzopen(path.c_str(), "wb");
  ASSERT_EQ(gzwrite(file, content.data(), static_cast<unsigned>(content.size())), static_cast<int>(content.size()));
  ASSERT_EQ(gzclose(file), Z_OK);
}

TEST(Archive, PacksWhatReadsBackTheSame) {
  const TemporaryFolder folder;
  write_run(folder, "my run");
  folder.write("my run/private.txt", "stays at home");
  const auto archive = pack_run(folder.path() / "my run" / "", false);
  EXPECT_EQ(archive, folder.path() / "my run.tgz");
  const auto packed = read_run(archive), loose = read_run(folder.path() / "my run");
  ASSERT_EQ(packed.rows.size(), 2u);
  EXPECT_EQ(csv_line(packed.rows[0]), csv_line(loose.rows[0]));
  EXPECT_EQ(write_run_info(packed.info), write_run_info(loose.info));
  EXPECT_EQ(packed.remarks, loose.remarks);
  // The judge of the format is tar itself.
  ASSERT_TRUE(shell("tar -tzf '" + archive.string() + "' > '" + (folder.path() / "list").string() + "'"));
  EXPECT_EQ(folder.read("list"),
            "my run/run.json\nmy run/results.csv\nmy run/samples.csv\nmy run/ranks/3/results.csv\n");
}

TEST(Archive, IsNotOverwrittenUnlessForced) {
  const TemporaryFolder folder;
  write_run(folder, "run");
  folder.write("run.tgz", "precious");
  EXPECT_THAT(message_of([&] { pack_run(folder.path() / "run", false); }), HasSubstr("is there already"));
  EXPECT_EQ(folder.read("run.tgz"), "precious");
  pack_run(folder.path() / "run", true);
  EXPECT_EQ(read_run(folder.path() / "run.tgz").rows.size(), 2u);
}

TEST(Archive, OfNothingIsNotMade) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "empty");
  EXPECT_THAT(message_of([&] { pack_run(folder.path() / "empty", false); }), HasSubstr("it holds no run"));
  EXPECT_THAT(message_of([&] { pack_run(folder.path() / "nowhere", false); }), HasSubstr("it holds no run"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "empty.tgz"));
}

TEST(Archive, OfAnyLayoutThatTarMakesIsRead) {
  const TemporaryFolder folder;
  write_run(folder, "run");
  // Too long for the name of a plain tar header, and splittable as ustar needs it.
  const std::string long_name = std::string(90, 'n') + '/' + std::string(40, 'm');
  write_run(folder, long_name);
  const std::string at = "cd '" + folder.path().string() + "' && tar ";
  ASSERT_TRUE(shell(at + "-czf named.tgz run"));
  ASSERT_TRUE(shell(at + "-czf dotted.tgz ./run"));
  ASSERT_TRUE(shell(at + "-czf bare.tgz -C run ."));
  ASSERT_TRUE(shell(at + "-cf plain.tar run"));
  ASSERT_TRUE(shell(at + "--format=gnu -czf gnu.tgz " + long_name));
  ASSERT_TRUE(shell(at + "--format=pax -czf pax.tgz " + long_name));
  ASSERT_TRUE(shell(at + "--format=ustar -czf ustar.tgz " + long_name));
  for (const char* name : {"named.tgz", "dotted.tgz", "bare.tgz", "plain.tar", "gnu.tgz", "pax.tgz", "ustar.tgz"}) {
    const auto run = read_run(folder.path() / name);
    EXPECT_EQ(run.rows.size(), 2u) << name;
    EXPECT_EQ(run.info.id, full_info().id) << name;
  }
}

TEST(Archive, CutOffAnywhereIsRefused) {
  const TemporaryFolder folder;
  write_run(folder, "run");
  const std::string whole = [&] {
    pack_run(folder.path() / "run", false);
    return folder.read("run.tgz");
  }();
  for (std::size_t length = 0; length < whole.size(); length += 13) {
    folder.write("cut.tgz", whole.substr(0, length));
    EXPECT_THROW(read_run(folder.path() / "cut.tgz"), BadInput) << length;
  }
}

TEST(Archive, ThatIsDamagedIsRefused) {
  const TemporaryFolder folder;
  write_run(folder, "run");
  pack_run(folder.path() / "run", false);
  std::string bytes = folder.read("run.tgz");
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 0x55);
  folder.write("damaged.tgz", bytes);
  EXPECT_THAT(message_of([&] { read_run(folder.path() / "damaged.tgz"); }),
              AllOf(HasSubstr("damaged.tgz"), HasSubstr("damaged or cut off")));
}

TEST(Archive, ThatIsNoneIsRefused) {
  const TemporaryFolder folder;
  folder.write("text.tgz", std::string(5000, 'x'));
  EXPECT_THAT(message_of([&] { read_run(folder.path() / "text.tgz"); }), HasSubstr("damaged or cut off"));
  folder.write("empty.tgz", "");
  EXPECT_THAT(message_of([&] { read_run(folder.path() / "empty.tgz"); }), HasSubstr("holds no run"));
  write_gzip(folder.path() / "other.tgz", member("a/b.txt", "hello") + std::string(1024, '\0'));
  EXPECT_THAT(message_of([&] { read_run(folder.path() / "other.tgz"); }), HasSubstr("holds no run"));
}

TEST(Archive, CannotReachOutsideItself) {
  // Nothing is unpacked, so a member's path is only a name; one that climbs is another run at most.
  const TemporaryFolder folder;
  const std::string info = write_run_info(complete());
  write_gzip(folder.path() / "climbing.tgz",
             member("../../run.json", info) + member("../../results.csv", csv_header()));
  EXPECT_TRUE(read_run(folder.path() / "climbing.tgz").rows.empty());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
  std::string link = tar_header("run/run.json", 0, 0);
  link[156] = '2';  // a symbolic link, with its checksum left wrong first
  write_gzip(folder.path() / "wrong.tgz", link);
  EXPECT_THAT(message_of([&] { read_run(folder.path() / "wrong.tgz"); }), HasSubstr("checksum"));
  ASSERT_TRUE(shell("cd '" + folder.path().string() +
                    "' && mkdir run && ln -s /etc/passwd run/run.json && tar -czf link.tgz run"));
  EXPECT_THAT(message_of([&] { read_run(folder.path() / "link.tgz"); }), HasSubstr("holds no run"));
}

TEST(Archive, OfTwoRunsIsRefused) {
  const TemporaryFolder folder;
  write_run(folder, "a");
  write_run(folder, "b");
  ASSERT_TRUE(shell("cd '" + folder.path().string() + "' && tar -czf both.tgz a b"));
  EXPECT_THAT(message_of([&] { read_run(folder.path() / "both.tgz"); }), HasSubstr("holds more than one run"));
}

TEST(Archive, ThatClaimsOrIsTooMuchIsRefused) {
  const TemporaryFolder folder;
  write_gzip(folder.path() / "claim.tgz", tar_header("run/run.json", std::uint64_t{1} << 32, 0));
  EXPECT_THAT(message_of([&] { read_run(folder.path() / "claim.tgz"); }), HasSubstr("4294967296 bytes"));
  // 5 GiB of zeros in an unrelated file, packed to 5 MB: a gzip file may be several gzip files one after another.
  const std::string zeros(std::size_t{64} << 20, '\0');
  write_gzip(folder.path() / "zeros.gz", zeros);
  write_gzip(folder.path() / "bomb.tgz", tar_header("run/big.bin", std::uint64_t{5} << 30, 0));
  const std::string piece = folder.read("zeros.gz");
  std::ofstream bomb(folder.path() / "bomb.tgz", std::ios::binary | std::ios::app);
  for (int i = 0; i < 80; ++i) bomb << piece;
  bomb.close();
  EXPECT_THAT(message_of([&] { read_run(folder.path() / "bomb.tgz"); }), HasSubstr("more than 4 GiB"));
}

}  // namespace
}  // namespace assay
