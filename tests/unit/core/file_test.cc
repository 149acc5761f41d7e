#include "core/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <csignal>
#include <iterator>

#include "tests/unit/core/expect_error.h"
#include "tests/unit/core/temp_folder.h"

namespace allot {
namespace {

namespace fs = std::filesystem;

class FileTest : public testing::Test {
 protected:
  FileTest() {}

  std::string Put(const std::string& name, std::string_view bytes) const {
    const fs::path path = folder_ / name;
    std::ofstream(path, std::ios::binary).write(bytes.data(), std::ssize(bytes));
    return path.string();
  }
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_))
      names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }

  testing_support::TempFolder folder_;
};

std::string Gzip(std::string text) {
  z_stream zlib{};
  deflateInit2(&zlib, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string bytes(deflateBound(&zlib, text.size()) + 64, '\0');
  zlib.next_in = reinterpret_cast<Bytef*>(text.data());
  zlib.avail_in = static_cast<uInt>(text.size());
  zlib.next_out = reinterpret_cast<Bytef*>(bytes.data());
  zlib.avail_out = static_cast<uInt>(bytes.size());
  EXPECT_EQ(deflate(&zlib, Z_FINISH), Z_STREAM_END);
  bytes.resize(zlib.total_out);
  deflateEnd(&zlib);
  return bytes;
}

// Longer than one read, and hard enough to compress that its gzip form is more than one too.
std::string LongText() {
  std::string text;
  for (std::uint32_t i = 0; i < 400000; ++i) text += std::to_string(i * 2654435761U) + "\n";
  return text;
}

TEST_F(FileTest, ReadsPlainText) {
  EXPECT_EQ(ReadTextFile(Put("plain.csv", "a,b\n1,2\n")), "a,b\n1,2\n");
}

TEST_F(FileTest, ReadsAnEmptyFileAsNothing) { EXPECT_EQ(ReadTextFile(Put("empty.csv", "")), ""); }

TEST_F(FileTest, ReadsGzipByContentNotByName) {
  const std::string text = LongText();
  EXPECT_EQ(ReadTextFile(Put("jobs.csv", Gzip(text))), text);
}

TEST_F(FileTest, ReadsGzipOfNothing) { EXPECT_EQ(ReadTextFile(Put("empty.gz", Gzip(""))), ""); }

TEST_F(FileTest, ReadsSeveralGzipMembersAsOne) {
  EXPECT_EQ(ReadTextFile(Put("two.gz", Gzip("one\n") + Gzip("two\n"))), "one\ntwo\n");
}

TEST_F(FileTest, GzipCutAnywhereIsAnError) {
  const std::string whole = Gzip("job_id,submit_s\n1,0\n2,10\n3,20\n");
  for (std::size_t length = 2; length < whole.size(); ++length) {
    const std::string path = Put("cut.gz", std::string_view(whole).substr(0, length));
    ExpectError(ExitCode::kBadData, {path, "cut short", fmt::format("{} compressed", length)},
                [&] { ReadTextFile(path); });
  }
}

TEST_F(FileTest, GzipWithAFlippedBitNeverReadsAsOtherText) {
  const std::string text = "job_id,submit_s\n1,0\n2,10\n3,20\n";
  const std::string whole = Gzip(text);
  std::size_t noticed = 0;
  for (std::size_t at = 0; at < 8 * whole.size(); ++at) {
    if (at / 8 < 2) continue;  // without the magic number it is plain text
    std::string flipped = whole;
    flipped[at / 8] = static_cast<char>(flipped[at / 8] ^ (1 << (at % 8)));
    const std::string path = Put("flipped.gz", flipped);
    try {
      EXPECT_EQ(ReadTextFile(path), text) << "bit " << at;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kBadData);
      EXPECT_NE(std::string(error.what()).find(path), std::string::npos) << error.what();
      ++noticed;
    }
  }
  // All but the header's notes (time, level, system) and the padding behind the last code.
  EXPECT_GT(noticed, 8 * (whole.size() - 12));
}

TEST_F(FileTest, GarbageBehindGzipIsAnError) {
  const std::string path = Put("trailing.gz", Gzip("text\n") + "more");
  ExpectError(ExitCode::kBadData, {path, "4 bytes of garbage"}, [&] { ReadTextFile(path); });
}

TEST_F(FileTest, AbsentFileAndFolderAreErrors) {
  const std::string absent = (folder_ / "absent.csv").string();
  ExpectError(ExitCode::kBadData, {absent, "No such file"}, [&] { ReadTextFile(absent); });
  ExpectError(ExitCode::kBadData, {folder_.string(), "Is a directory"},
              [&] { ReadTextFile(folder_.string()); });
}

TEST_F(FileTest, AtomicFileAppearsAtCommit) {
  const fs::path path = folder_ / "new" / "folder" / "jobs.csv";
  AtomicFile file(path);
  file.stream() << "text";
  EXPECT_FALSE(fs::exists(path));
  file.Commit();
  EXPECT_EQ(ReadTextFile(path.string()), "text");
  EXPECT_EQ(std::distance(fs::directory_iterator(path.parent_path()), {}), 1) << "a part is left";
}

TEST_F(FileTest, AtomicFileWithoutCommitLeavesTheOldContent) {
  const std::string path = Put("jobs.csv", "old");
  { AtomicFile(path).stream() << "new"; }
  EXPECT_EQ(ReadTextFile(path), "old");
  EXPECT_EQ(Names(), std::vector<std::string>{"jobs.csv"});
}

TEST_F(FileTest, TwoWritersOfOneNameDoNotMix) {
  const std::string path = (folder_ / "jobs.csv").string();
  AtomicFile first(path);
  AtomicFile second(path);
  first.stream() << "first";
  second.stream() << "second";
  first.Commit();
  second.Commit();
  EXPECT_EQ(ReadTextFile(path), "second");
}

TEST_F(FileTest, TemporaryNameCannotBePreparedByOthers) {
  EXPECT_NE(PartName("jobs.csv"), PartName("jobs.csv"));
  const std::string precious = Put("precious", "precious");
  for (int guess = 0; guess < 100; ++guess) {
    fs::create_symlink(precious, folder_ / fmt::format("jobs.csv.{}-{}.part", ::getpid(), guess));
  }
  WriteTextFile(folder_ / "jobs.csv", "text");
  EXPECT_EQ(ReadTextFile(precious), "precious");
}

TEST_F(FileTest, AtomicFileBelowAFileIsAnError) {
  const std::string file = Put("file", "");
  ExpectError(ExitCode::kRunFailed, {file, "Not a directory"}, [&] { AtomicFile(file + "/x"); });
}

// A limit on file sizes stands in for a full disk: the same failing write, reported late or early.
class FullDisk : public FileTest {
 protected:
  FullDisk() {
    std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit small = before_;
    small.rlim_cur = 4096;
    setrlimit(RLIMIT_FSIZE, &small);
  }
  ~FullDisk() override { setrlimit(RLIMIT_FSIZE, &before_); }
  rlimit before_{};
};

TEST_F(FullDisk, IsAnErrorAndNothingIsLeft) {
  const fs::path path = folder_ / "jobs.csv";
  ExpectError(ExitCode::kRunFailed, {path.string(), "File too large"},
              [&] { WriteTextFile(path, std::string(1 << 20, 'x')); });
  EXPECT_TRUE(Names().empty()) << Names().front();
}

TEST_F(FullDisk, IsNoticedAtTheLastFlush) {
  const fs::path path = folder_ / "jobs.csv";
  AtomicFile file(path);
  for (int i = 0; i < 4097; ++i) file.stream() << 'x';
  ExpectError(ExitCode::kRunFailed, {path.string(), "File too large"}, [&] { file.Commit(); });
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(FileTest, AtomicDirectoryAppearsWholeAtCommit) {
  const fs::path path = folder_ / "checkpoint";
  {
    AtomicDirectory directory(path);
    WriteTextFile(directory.path() / "deep" / "weights", "1");
    EXPECT_FALSE(fs::exists(path));
    directory.Commit();
  }
  EXPECT_EQ(ReadTextFile((path / "deep" / "weights").string()), "1");
  EXPECT_EQ(Names(), std::vector<std::string>{"checkpoint"});
}

TEST_F(FileTest, AtomicDirectoryReplacesTheOldOneEntirely) {
  const fs::path path = folder_ / "checkpoint";
  WriteTextFile(path / "old", "1");
  AtomicDirectory directory(path.string() + "/");
  WriteTextFile(directory.path() / "new", "2");
  directory.Commit();
  EXPECT_FALSE(fs::exists(path / "old"));
  EXPECT_EQ(ReadTextFile((path / "new").string()), "2");
  EXPECT_EQ(Names(), std::vector<std::string>{"checkpoint"});
}

TEST_F(FileTest, PipesAreWrittenToAndNotReplaced) {
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  WriteTextFile(pipe, "text");
  char read[8] = {};
  EXPECT_EQ(::read(reader, read, sizeof(read)), 4);
  ::close(reader);
  EXPECT_STREQ(read, "text");
  EXPECT_TRUE(fs::is_fifo(pipe));
  EXPECT_EQ(Names(), std::vector<std::string>{"pipe"});
}

TEST_F(FileTest, LinksStayAndWhatTheyLeadToIsWritten) {
  fs::create_symlink("target", folder_ / "link");
  WriteTextFile(folder_ / "link", "text");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(ReadTextFile((folder_ / "target").string()), "text");
}

TEST_F(FileTest, AtomicDirectoryWithoutCommitLeavesTheOldOne) {
  const fs::path path = folder_ / "checkpoint";
  WriteTextFile(path / "old", "1");
  { WriteTextFile(AtomicDirectory(path).path() / "new", "2"); }
  EXPECT_EQ(ReadTextFile((path / "old").string()), "1");
  EXPECT_EQ(Names(), std::vector<std::string>{"checkpoint"});
}

TEST_F(FileTest, AtomicDirectoryDoesNotReplaceAFile) {
  const std::string path = Put("checkpoint", "a file");
  AtomicDirectory directory{fs::path(path)};
  ExpectError(ExitCode::kRunFailed, {path, "Not a directory"}, [&] { directory.Commit(); });
  EXPECT_EQ(ReadTextFile(path), "a file");
}

}  // namespace
}  // namespace allot
