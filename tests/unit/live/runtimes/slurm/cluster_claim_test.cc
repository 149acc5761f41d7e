// One of several daemons is in charge of a Slurm cluster, by files of a folder that all of them
// see.

#include "live/runtimes/slurm/cluster_claim.h"

#include <gtest/gtest.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "core/file.h"
#include "core/file_lock.h"
#include "live/runtimes/slurm/lease_file.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/core/temp_folder.h"

namespace allot {
namespace {

// Long enough for a machine on which much else runs.
constexpr LeaseTiming kPatient{.duration = 600, .hold = 300, .renew = 0.02};
constexpr LeaseTiming kQuick{.duration = 1, .hold = 0.5, .renew = 0.02};

constexpr uid_t kNobody = 65534;

class ClusterClaimTest : public testing::Test {
 protected:
  ClusterClaimTest() {
    spdlog::set_level(spdlog::level::off);
    std::signal(SIGTERM, SIG_IGN);  // who loses the lease ends
  }
  ~ClusterClaimTest() override { std::signal(SIGTERM, SIG_DFL); }

  std::unique_ptr<ClusterClaim> Claim(bool standby = false,
                                      const LeaseTiming& timing = kPatient) const {
    return std::make_unique<ClusterClaim>(folder_.path(), standby, timing);
  }
  std::string Refusal(const LeaseTiming& timing = kPatient) const {
    return ErrorOf(ExitCode::kRunFailed, [&] { (void)Claim(false, timing); });
  }
  // The lease of a daemon on another machine, which does not renew it.
  void WriteLeaseOfAnother(std::int64_t number, int seconds) const {
    LeaseRecord record;
    record.lease.holder = "elsewhere";
    record.lease.duration = seconds;
    record.lease.renewed = "1";
    record.lease.changes = number;
    record.boot = "another";
    record.pid = 1;
    record.locked = true;
    ASSERT_TRUE(WriteLease(folder_, record, false));
  }
  template <typename Condition>
  static void Until(const Condition& condition) {
    for (int i = 0; i < 12'000 && !condition(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_TRUE(condition());
  }

  testing_support::TempFolder folder_;
};

TEST_F(ClusterClaimTest, ASecondDaemonIsRefusedUntilTheFirstHasEnded) {
  auto first = Claim();
  EXPECT_EQ(first->number(), 1);
  EXPECT_TRUE(first->MayAct().ok());
  EXPECT_NE(Refusal().find("one daemon a cluster"), std::string::npos) << Refusal();
  EXPECT_TRUE(first->MayAct().ok());
  first.reset();
  EXPECT_EQ(Claim()->number(), 2) << "given back: nobody waits for its end";
}

TEST_F(ClusterClaimTest, AStandbyWaitsUntilTheOneInChargeHasEnded) {
  auto first = Claim();
  std::unique_ptr<ClusterClaim> second;
  std::atomic<bool> is_there = false;
  std::thread waits([&] {
    second = Claim(true);
    is_there = true;
  });
  EXPECT_FALSE(is_there);
  first.reset();
  waits.join();
  EXPECT_EQ(second->number(), 2);
}

TEST_F(ClusterClaimTest, AnothersLeaseThatIsNotRenewedIsTakenAndNoNumberComesTwice) {
  WriteLeaseOfAnother(7, 1);
  const auto claim = Claim(true, kQuick);
  EXPECT_EQ(claim->number(), 8);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "allot.lease.7"));
}

TEST_F(ClusterClaimTest, WhoSeesALaterLeaseDoesNothingMore) {
  const auto claim = Claim();
  WriteLeaseOfAnother(claim->number() + 1, 600);
  EXPECT_FALSE(claim->MayAct().ok()) << "before its own next look";
  Until([&] { return !LockHolder(folder_ / "allot.lock"); });
  EXPECT_FALSE(claim->MayAct().ok());
  EXPECT_FALSE(std::filesystem::exists(folder_ / "allot.lease.3")) << "it does not take it back";
}

TEST_F(ClusterClaimTest, WhoCannotRenewDoesNothingMore) {
  const auto claim = Claim(false, kQuick);
  std::filesystem::remove_all(folder_.path());
  Until([&] { return !claim->MayAct().ok(); });
}

TEST_F(ClusterClaimTest, AFileOfAnotherUsersDaemonIsNamed) {
  EXPECT_TRUE(ClusterClaim::MayBeIn(folder_.path()));
  EXPECT_TRUE(ClusterClaim::MayOpenAllIn(folder_.path()).ok()) << "none is there";
  (void)Claim();
  WriteTextFile(folder_ / "job_state", "Slurm's own");
  std::filesystem::permissions(folder_ / "job_state", std::filesystem::perms::none);
  EXPECT_TRUE(ClusterClaim::MayOpenAllIn(folder_.path()).ok());
  if (::geteuid() == 0) {  // the files are root's, the folder is not
    ASSERT_EQ(::chown(folder_.path().c_str(), kNobody, kNobody), 0);
    ASSERT_EQ(::seteuid(kNobody), 0);
  } else {
    std::filesystem::permissions(folder_ / "allot.lock", std::filesystem::perms::none);
  }
  const bool may_be_in = ClusterClaim::MayBeIn(folder_.path());
  const Status open = ClusterClaim::MayOpenAllIn(folder_.path());
  const bool back = ::getuid() != 0 || ::seteuid(0) == 0;
  ASSERT_TRUE(back);
  EXPECT_TRUE(may_be_in);
  EXPECT_NE(open.message().find("allot.lock', it is of user"), std::string::npos) << open.message();
}

TEST_F(ClusterClaimTest, ALeaseThatCannotBeReadIsAnothersUntilItHasStayedSo) {
  WriteTextFile(folder_ / "allot.lease.4", "{\"spec\":{}}\n");
  EXPECT_EQ(ReadLease(folder_).lease.holder, "unreadable");
  EXPECT_EQ(Claim(false, kQuick)->number(), 5);
}

TEST_F(ClusterClaimTest, ADaemonThatKnowsNoLeasesIsRespected) {
  const FileLock earlier(folder_ / "allot.lock", "one daemon a cluster");
  EXPECT_NE(Refusal(kQuick).find("in use by process"), std::string::npos);
  WriteLeaseOfAnother(3, 1);  // of one that died before it began
  EXPECT_NE(Refusal(kQuick).find("in use by process"), std::string::npos);
}

}  // namespace
}  // namespace allot
