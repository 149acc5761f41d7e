#include "live/journal.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/error.h"
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
  Journal(path_).Append(1.5, "give", {{"job", "a"}});
  Journal journal(path_);
  const auto past = journal.TakePast();
  ASSERT_EQ(past.size(), 1U);
  EXPECT_EQ(past[0].dump(), R"({"at":1.5,"what":"give","job":"a"})");
  EXPECT_EQ(journal.torn(), "");
}

TEST_F(JournalTest, ALastLineThatWasCutOffIsDroppedAndTold) {
  Journal(path_).Append(1, "give", {{"job", "a"}});
  std::ofstream(path_, std::ios::app) << R"({"at":2,"what":"ta)";
  {
    Journal journal(path_);
    EXPECT_EQ(journal.torn(), R"({"at":2,"what":"ta)");
    EXPECT_EQ(journal.TakePast().size(), 1U);
    journal.Append(3, "take", {{"job", "a"}});
  }
  Journal journal(path_);
  EXPECT_EQ(journal.TakePast().size(), 2U);
  EXPECT_EQ(journal.torn(), "");
}

TEST_F(JournalTest, ABrokenLineInTheMiddleNamesItsPlace) {
  std::ofstream(path_) << "{\"at\":1,\"what\":\"give\"}\nrubbish\n{\"at\":2,\"what\":\"take\"}\n";
  try {
    Journal journal(path_);
    FAIL() << "it was read";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kBadData);
    EXPECT_NE(std::string(error.what()).find("journal.jsonl:2"), std::string::npos) << error.what();
  }
}

TEST_F(JournalTest, OneDaemonAFolder) {
  const StateLock first(folder_);
  try {
    const StateLock second(folder_);
    FAIL() << "two hold it";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(std::to_string(::getpid())), std::string::npos);
  }
}

TEST_F(JournalTest, ALockEndsWithItsHolder) {
  { const StateLock first(folder_); }
  EXPECT_NO_THROW(const StateLock second(folder_));
}

}  // namespace
}  // namespace allot
