#include "live/state/journal.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "core/error.h"
#include "core/file.h"
#include "core/file_lock.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/core/temp_folder.h"

namespace allot {
namespace {

class JournalTest : public testing::Test {
 protected:
  JournalTest() { path_ = folder_ / "journal.jsonl"; }
  testing_support::TempFolder folder_;
  std::filesystem::path path_;
};

TEST_F(JournalTest, ReadsBackWhatWasWritten) {
  Journal(path_).Append({1.5, record::Take{"a", "held"}});
  Journal journal(path_);
  const auto past = journal.TakePast();
  ASSERT_EQ(past.size(), 1U);
  EXPECT_EQ(JournalLine(past[0]), ReadTextFile(path_.string()));
  EXPECT_EQ(journal.torn(), "");
}

TEST_F(JournalTest, ALastLineThatWasCutOffIsDroppedAndTold) {
  Journal(path_).Append({1, record::Retire{"a"}});
  std::ofstream(path_, std::ios::app) << R"({"at":2,"what":"ta)";
  {
    Journal journal(path_);
    EXPECT_EQ(journal.torn(), R"({"at":2,"what":"ta)");
    EXPECT_EQ(journal.TakePast().size(), 1U);
    journal.Append({3, record::Take{"a"}});
  }
  Journal journal(path_);
  EXPECT_EQ(journal.TakePast().size(), 2U);
  EXPECT_EQ(journal.torn(), "");
}

TEST_F(JournalTest, ABrokenLineInTheMiddleNamesItsPlace) {
  std::ofstream(path_)
      << "{\"at\":1,\"what\":\"pause\"}\nrubbish\n{\"at\":2,\"what\":\"resume\"}\n";
  ExpectError(ExitCode::kBadData, {"journal.jsonl:2"}, [&] { Journal journal(path_); });
}

// In a process of its own, whose files may not grow.
void AppendBeyondTheDisk(const std::filesystem::path& path) {
  std::signal(SIGXFSZ, SIG_IGN);
  Journal journal(path);
  journal.Append({1, record::Pause{}});
  rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = std::filesystem::file_size(path) + 10;
  ::setrlimit(RLIMIT_FSIZE, &limit);
  bool refused = false;
  try {
    journal.Append({2, record::Resume{}});
  } catch (const Error&) {
    refused = true;
  }
  limit.rlim_cur = before;
  ::setrlimit(RLIMIT_FSIZE, &limit);
  journal.Append({3, record::Drain{}});
  std::_Exit(refused ? 0 : 1);
}

TEST_F(JournalTest, ARecordThatDidNotFitOnTheDiskLeavesNothing) {
  EXPECT_EXIT(AppendBeyondTheDisk(path_), testing::ExitedWithCode(0), "");
  Journal journal(path_);
  EXPECT_EQ(journal.torn(), "");
  const auto past = journal.TakePast();
  ASSERT_EQ(past.size(), 2U);
  EXPECT_TRUE(std::holds_alternative<record::Drain>(past[1].record));
}

TEST_F(JournalTest, AFlippedLetterIsSeenByTheChecksum) {
  Journal(path_).Append({1, record::Retire{"a"}});
  std::string text = ReadTextFile(path_.string());
  text.replace(text.find("\"a\""), 3, "\"b\"");
  WriteTextFile(path_, text);
  ExpectError(ExitCode::kBadData, {"journal.jsonl:1: its checksum", "allot journal repair"},
              [&] { Journal journal(path_); });
  EXPECT_EQ(ReadTextFile(path_.string()), text) << "nothing is changed";
}

TEST_F(JournalTest, OneDaemonAFolder) {
  const FileLock first(folder_ / "lock", "one daemon a state folder");
  ExpectError(ExitCode::kRunFailed, {std::to_string(::getpid())},
              [&] { const FileLock second(folder_ / "lock", "one daemon a state folder"); });
}

TEST_F(JournalTest, ALockEndsWithItsHolder) {
  { const FileLock first(folder_ / "lock", "one daemon a state folder"); }
  EXPECT_NO_THROW(const FileLock second(folder_ / "lock", "one daemon a state folder"));
}

}  // namespace
}  // namespace allot
