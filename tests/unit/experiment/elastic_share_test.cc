#include "experiment/whatif/elastic_share.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "core/error.h"
#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

// Users with so many GPU hours, those of most first.
std::vector<WhatIfGroup> Users(const std::vector<std::pair<std::string, double>>& hours) {
  std::vector<WhatIfGroup> users;
  users.reserve(hours.size());
  for (const auto& [name, spent] : hours) users.push_back({name, 1, spent, {}});
  return users;
}

std::vector<std::string> Names(std::span<const ElasticUser> users) {
  std::vector<std::string> names;
  names.reserve(users.size());
  for (const ElasticUser& user : users) names.push_back(user.name);
  return names;
}

// Each user's jobs save so many seconds; those of `ann` nothing beside those of `bob`.
Seconds Jct(const std::vector<std::string>& users) {
  static const std::map<std::string, Seconds> saves = {{"ann", 90}, {"bob", 100}, {"cy", 30}};
  const bool bob = std::find(users.begin(), users.end(), "bob") != users.end();
  Seconds jct = 1000;
  for (const std::string& user : users) jct -= bob && user == "ann" ? 0 : saves.at(user);
  return jct;
}

TEST(ElasticShareTest, TheUserWhoSavesMostForAGpuHourIsNext) {
  const auto users = Users({{"ann", 60}, {"bob", 30}, {"cy", 10}});
  EXPECT_EQ(Names(FindElasticUsers(users, 1, Jct)), (std::vector<std::string>{"bob", "cy", "ann"}));
}

TEST(ElasticShareTest, WhatIsSavedIsBesideTheUsersBefore) {
  const auto users = FindElasticUsers(Users({{"ann", 60}, {"bob", 30}, {"cy", 10}}), 1, Jct);
  ASSERT_EQ(users.size(), 3u);
  EXPECT_EQ(users[0].saved_s, 100);
  EXPECT_EQ(users[1].saved_s, 30);
  EXPECT_EQ(users[2].saved_s, 0);
  EXPECT_DOUBLE_EQ(users[0].gpu_share, 0.3);
}

TEST(ElasticShareTest, TheSearchEndsWithTheShareAndPrefixesReachSmallerOnes) {
  const auto users = FindElasticUsers(Users({{"ann", 60}, {"bob", 30}, {"cy", 10}}), 0.35, Jct);
  EXPECT_EQ(Names(users), (std::vector<std::string>{"bob", "cy"}));
  EXPECT_EQ(Names(FirstElasticUsers(users, 0.3)), (std::vector<std::string>{"bob"}));
  EXPECT_EQ(Names(FirstElasticUsers(users, 0.31)), (std::vector<std::string>{"bob", "cy"}));
}

TEST(ElasticShareTest, JobsWithoutAUserAreNobodys) {
  EXPECT_EQ(Names(FindElasticUsers(Users({{"", 60}, {"bob", 30}}), 1, Jct)),
            (std::vector<std::string>{"bob"}));
}

TEST(ElasticShareTest, SharesAreReadStrictly) {
  EXPECT_EQ(ParseElasticShares("10, 50"), (std::vector<double>{0.1, 0.5}));
  for (const char* text : {"", "0", "50,10", "10,10", "101", "ten"}) {
    EXPECT_NE(ErrorOf(ExitCode::kUsage, [&] { ParseElasticShares(text); }).find(text),
              std::string::npos);
  }
}

}  // namespace
}  // namespace allot
