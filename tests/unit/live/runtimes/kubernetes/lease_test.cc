// One of several daemons is in charge: the decisions alone, and keepers on an API server.

#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/error.h"
#include "live/runtimes/kubernetes/lease_keeper.h"
#include "live/runtimes/lease_claim.h"
#include "tests/unit/live/runtimes/kubernetes/fake_apiserver.h"

namespace allot {
namespace {

constexpr const char* kTime = "2026-11-23T00:00:00.000000Z";

Lease LeaseOf(const std::string& holder, int changes, const char* renewed = kTime) {
  return {
      .holder = holder, .duration = 12, .acquired = kTime, .renewed = renewed, .changes = changes};
}

TEST(LeaseClaim, TakesWhatNobodyHas) {
  LeaseClaim claim("me", {});
  EXPECT_EQ(claim.Next({}, 0, kTime), LeaseOf("me", 1));
  EXPECT_FALSE(claim.held(0)) << "before it is written";
  claim.Written(0);
  EXPECT_TRUE(claim.held(6.9));
  EXPECT_FALSE(claim.held(7)) << "not renewed";
}

TEST(LeaseClaim, RenewsItsOwn) {
  LeaseClaim claim("me", {});
  const auto next = claim.Next(LeaseOf("me", 3), 100, "later");
  EXPECT_EQ(next, LeaseOf("me", 3, "later"));
}

TEST(LeaseClaim, LeavesAnothersAsLongAsItIsRenewed) {
  LeaseClaim claim("me", {});
  for (int second = 0; second < 100; second += 10) {
    EXPECT_FALSE(claim.Next(LeaseOf("other", 3, std::to_string(second).c_str()), second, kTime));
  }
  EXPECT_EQ(claim.holder(), "other");
}

TEST(LeaseClaim, TakesAnothersThatIsOverByItsOwnClock) {
  LeaseClaim claim("me", {});
  const Lease lease = LeaseOf("other", 3);
  EXPECT_FALSE(claim.Next(lease, 1000, kTime)) << "whatever its renewTime says";
  EXPECT_FALSE(claim.Next(lease, 1011.9, kTime));
  EXPECT_EQ(claim.Next(lease, 1012, kTime), LeaseOf("me", 4));
}

TEST(LeaseClaim, IsLostAtOnceWhenAnotherHasIt) {
  LeaseClaim claim("me", {});
  ASSERT_TRUE(claim.Next({}, 0, kTime));
  claim.Written(0);
  EXPECT_FALSE(claim.Next(LeaseOf("other", 2), 1, kTime));
  EXPECT_FALSE(claim.held(1));
}

TEST(LeaseClaim, TakesOneThatWasGivenBackAtOnce) {
  LeaseClaim claim("me", {});
  EXPECT_TRUE(claim.Next(LeaseOf("", 3), 0, kTime));
}

TEST(LeaseClaim, HoldsForLessThanOthersWait) {
  const LeaseTiming timing;
  EXPECT_LT(timing.hold, timing.duration);
  EXPECT_LT(timing.renew, timing.hold);
}

class LeaseKeepers : public testing::Test {
 protected:
  LeaseKeepers() {
    spdlog::set_level(spdlog::level::off);
    config_.server = server_.url();
  }
  std::unique_ptr<LeaseKeeper> Keep(std::function<void(const std::string&)> on_wait = {}) {
    return std::make_unique<LeaseKeeper>(config_, "allot/allot",
                                         LeaseTiming{.duration = 600, .hold = 300, .renew = 0.05},
                                         std::move(on_wait));
  }
  FakeApiServer server_;
  KubeConfig config_;
};

TEST_F(LeaseKeepers, OneHasItAndTheNextGetsItWhenItIsGivenBack) {
  auto first = Keep();
  first->WaitUntilHeld();
  std::vector<std::string> told;  // by the second's thread
  auto second = Keep([&](const std::string& why) { told.push_back(why); });
  while (server_.Count("GET /apis/coordination.k8s.io") < 20) {
    EXPECT_FALSE(second->held());
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_TRUE(first->held());
  first.reset();
  second->WaitUntilHeld();
  EXPECT_EQ(server_.Get("leases", "allot/allot")["spec"]["leaseTransitions"], 2);
  second.reset();
  ASSERT_EQ(told.size(), 1U) << "why it waits, once";
  EXPECT_TRUE(told[0].starts_with("the lease allot/allot: held by ")) << told[0];
}

TEST_F(LeaseKeepers, OfManyThatBeginTogetherOneGetsIt) {
  constexpr int kMany = 5;
  std::vector<std::unique_ptr<LeaseKeeper>> keepers;
  keepers.reserve(kMany);
  for (int i = 0; i < kMany; ++i) keepers.push_back(Keep());
  const auto held = [&] {
    return std::count_if(keepers.begin(), keepers.end(),
                         [](const auto& one) { return one->held(); });
  };
  while (server_.Count("GET /apis/coordination.k8s.io") < 40) {
    EXPECT_LE(held(), 1);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(held(), 1);
}

TEST_F(LeaseKeepers, ANameThatIsNoneIsRefused) {
  for (const char* name : {"allot", "/allot", "allot/"}) {
    EXPECT_THROW(LeaseKeeper(config_, name, {}), Error) << name;
  }
}

}  // namespace
}  // namespace allot
