#include "live/workers/worker_key.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "tests/unit/core/expect_error.h"
#include "tests/unit/core/other_user.h"
#include "tests/unit/core/temp_folder.h"

namespace allot {
namespace {

class WorkerKeyTest : public testing::Test {
 protected:
  void Put(const std::string& key, mode_t mode) const {
    std::ofstream(file_) << key << "\n";
    ASSERT_EQ(::chmod(file_.c_str(), mode), 0);
  }

  testing_support::TempFolder folder_;
  std::filesystem::path file_ = folder_ / "key";
  std::string key_ = std::string(32, '7');
};

TEST_F(WorkerKeyTest, TokensFollowFromTheKeyAndThePurpose) {
  // RFC 4231, test case 2.
  EXPECT_EQ(KeyedDigits("Jefe", "what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c7");
}

TEST_F(WorkerKeyTest, IsMadeOnce) {
  const std::string key = WorkerKey(file_, true);
  EXPECT_EQ(key.size(), 64U);
  EXPECT_EQ(WorkerKey(file_, true), key);
}

TEST_F(WorkerKeyTest, MissingAndShortKeysAreRefused) {
  ExpectError(ExitCode::kBadData, {"cannot open", file_.string()},
              [&] { WorkerKey(file_, false); });
  Put("abc", 0600);
  ExpectError(ExitCode::kBadData, {"at least 32 characters, got 3"},
              [&] { WorkerKey(file_, false); });
}

TEST_F(WorkerKeyTest, KeyThatOthersCanReadIsRefused) {
  Put(key_, 0600);
  EXPECT_EQ(WorkerKey(file_, false), key_);
  for (const mode_t mode : {0640, 0604, 0644}) {
    Put(key_, mode);
    ExpectError(ExitCode::kBadData, {"chmod 600 " + file_.string(), fmt::format("{:o}", mode)},
                [&] { WorkerKey(file_, false); });
  }
}

TEST_F(WorkerKeyTest, KeyOfAnotherUserIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, for another user";
  Put(key_, 0600);
  ASSERT_EQ(::chown(file_.c_str(), testing_support::kOtherUser, 0), 0);
  ExpectError(ExitCode::kBadData, {"of user 65534"}, [&] { WorkerKey(file_, false); });
}

// As Kubernetes provides a Secret to a pod with a user and an fsGroup.
TEST_F(WorkerKeyTest, KeyOfRootMayBeReadByTheDaemonsGroup) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, for another user";
  Put(key_, 0440);
  ASSERT_EQ(::chown(file_.c_str(), 0, testing_support::kOtherUser), 0);
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
  testing_support::AsOtherUser([&] { return WorkerKey(file_, false) == key_; });
  Put(key_, 0444);
  testing_support::AsOtherUser(
      [&] { return !ErrorOf(ExitCode::kBadData, [&] { WorkerKey(file_, false); }).empty(); });
}

}  // namespace
}  // namespace allot
