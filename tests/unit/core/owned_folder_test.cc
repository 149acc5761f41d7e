#include "core/owned_folder.h"

#include <gtest/gtest.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <iterator>

#include "tests/unit/core/expect_error.h"
#include "tests/unit/core/other_user.h"
#include "tests/unit/core/temp_folder.h"

namespace allot {
namespace {

namespace fs = std::filesystem;
using testing_support::AsOtherUser;
using testing_support::Bytes;
using testing_support::kOtherUser;

class OwnedFolderTest : public testing::Test {
 protected:
  static mode_t ModeOf(const fs::path& path) {
    struct stat found {};
    EXPECT_EQ(::stat(path.c_str(), &found), 0) << path;
    return found.st_mode & 07777;
  }

  testing_support::TempFolder temp_;
  OwnedFolder folder_ = OwnedFolder::OpenOrMake(temp_ / "own");
};

TEST_F(OwnedFolderTest, FilesAreWholeAndClosedToOthers) {
  ::umask(0);
  folder_.Write("file", "old and longer");
  folder_.Write("file", "new");
  ::umask(022);
  EXPECT_EQ(folder_.Read("file"), "new");
  EXPECT_EQ(ModeOf(temp_ / "own" / "file"), 0600U);
  EXPECT_EQ(std::distance(fs::directory_iterator(temp_ / "own"), {}), 1) << "a part is left";
}

TEST_F(OwnedFolderTest, WhatIsNotThereIsNoError) {
  EXPECT_FALSE(folder_.Has("file"));
  EXPECT_EQ(folder_.Read("file"), std::nullopt);
  EXPECT_FALSE(folder_.OpenOwn("folder"));
  EXPECT_FALSE(OwnedFolder::Open(temp_ / "none"));
  folder_.Remove("file");
}

TEST_F(OwnedFolderTest, NewFolderIsClosedWhateverTheUmask) {
  ::umask(0);
  const OwnedFolder made = folder_.MakeOwn("new");
  ::umask(022);
  EXPECT_EQ(ModeOf(made.path()), 0700U);
  made.Write("file", "text");
  EXPECT_EQ(folder_.MakeOwn("new").Read("file"), "text");
}

TEST_F(OwnedFolderTest, ExchangedPathChangesNothing) {
  fs::rename(temp_ / "own", temp_ / "away");
  fs::create_directory(temp_ / "own");
  folder_.Write("file", "text");
  EXPECT_TRUE(fs::is_empty(temp_ / "own"));
  EXPECT_EQ(Bytes(temp_ / "away" / "file"), "text");
  EXPECT_EQ(folder_.Read("file"), "text");
}

TEST_F(OwnedFolderTest, LinksAreReplacedAndNotFollowed) {
  std::ofstream(temp_ / "precious") << "precious";
  fs::create_symlink(temp_ / "precious", temp_ / "own" / "link");
  EXPECT_FALSE(folder_.Has("link"));
  ExpectError(ExitCode::kRunFailed, {"own/link", "symbolic links"}, [&] { folder_.Read("link"); });
  folder_.Write("link", "text");
  EXPECT_EQ(Bytes(temp_ / "precious"), "precious");
  EXPECT_EQ(folder_.Read("link"), "text");
}

TEST_F(OwnedFolderTest, LinkToOwnFolderIsRefused) {
  fs::create_directory(temp_ / "elsewhere");
  fs::create_symlink(temp_ / "elsewhere", temp_ / "own" / "link");
  ExpectError(ExitCode::kRunFailed, {"own/link"}, [&] { folder_.OpenOwn("link"); });
  ExpectError(ExitCode::kRunFailed, {"own/link"}, [&] { folder_.MakeOwn("link"); });
}

TEST_F(OwnedFolderTest, FolderThatOthersCanWriteIsRefused) {
  fs::create_directory(temp_ / "own" / "group");
  ::chmod((temp_ / "own" / "group").c_str(), 0770);
  ExpectError(ExitCode::kRunFailed, {"own/group", "writable by nobody else", "mode 40770"},
              [&] { folder_.OpenOwn("group"); });
}

TEST_F(OwnedFolderTest, FileThatIsNoneIsRefused) {
  ASSERT_EQ(::mkfifo((temp_ / "own" / "pipe").c_str(), 0600), 0);
  ExpectError(ExitCode::kRunFailed, {"own/pipe", "must be a file"}, [&] { folder_.Read("pipe"); });
}

TEST_F(OwnedFolderTest, FileOfAnotherUserIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, for another user";
  ::chmod(temp_.path().c_str(), 0755);
  ::chmod((temp_ / "own").c_str(), 0777);
  AsOtherUser([&] {
    std::ofstream(temp_ / "own" / "file") << "forged";
    return fs::create_directory(temp_ / "own" / "folder");
  });
  ExpectError(ExitCode::kRunFailed, {"own/file", "of user 65534"}, [&] { folder_.Read("file"); });
  ExpectError(ExitCode::kRunFailed, {"own/folder", "of user 65534"},
              [&] { folder_.OpenOwn("folder"); });
}

// An NFS server with root_squash: what root creates belongs to nobody.
TEST_F(OwnedFolderTest, MappedUserReadsWhatItWrote) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, for a mapped user";
  ::chmod(temp_.path().c_str(), 0755);
  ::chmod((temp_ / "own").c_str(), 0777);
  ::setfsuid(kOtherUser);
  folder_.MakeOwn("new").Write("file", "text");
  EXPECT_EQ(folder_.OpenOwn("new")->Read("file"), "text");
  ::setfsuid(0);
}

}  // namespace
}  // namespace allot
