#include "cluster/allocation_changes.h"

#include <gtest/gtest.h>

namespace allot {
namespace {

TEST(InFull, NamesWhatGoesOnAndWhatIsListed) {
  Observation o;
  o.job = {3, 4, 5, 6};
  o.running = {1, 0, 2, -1};
  o.share_begin = {0, 1, 2, 3, 3};
  o.shares = {{0, {1}, 1}, {0, {1}, 2}, {0, {1}, 4}};
  const std::vector<NodeShare> fresh{{1, {1}, 1}};
  AllocationChanges changes;
  changes.stopped = {4};
  changes.given.Add(5, 2, fresh, true);
  changes.given.Add(6, 0, fresh);
  Allocation expected;
  expected.Add(3, 1, o.shares_of(0));
  expected.Add(5, 2, fresh, true);
  expected.Add(6, 0, fresh);
  EXPECT_EQ(InFull(o, changes), expected);
}

Configuration OneWorker() {
  Configuration one;
  one.units = {1, 0};
  one.demand = {1, 2};
  one.cost = 1;
  one.rate = 1;
  return one;
}

class ValidateChangesTest : public testing::Test {
 protected:
  ValidateChangesTest() {
    o_.cluster = &cluster_;
    o_.job = {17, 20};
    o_.table = {&table_, &table_};
    o_.requested = {0, 0};
    o_.running = {0, -1};
    o_.share_begin = {0, 1, 1};
    o_.shares = {{0, {1, 0}, 0b0010}};
  }
  std::string Verdict() const { return ValidateChanges(o_, changes_).message(); }

  ClusterSpec cluster_ = ClusterSpec::Parse("1x4");
  ConfigurationTable table_{"net", {{"worker", {1, 2}}}, {OneWorker()}};
  Observation o_;
  AllocationChanges changes_;
};

TEST_F(ValidateChangesTest, TheOthersKeepWhatTheyHold) {
  EXPECT_EQ(Verdict(), "");
  const NodeShare taken{0, {1, 0}, 0b0010};
  changes_.given.Add(20, 0, std::span(&taken, 1));
  EXPECT_EQ(Verdict(), "job 20: GPU 1 of node 0 is given twice, first to job 17");
  changes_.stopped = {17};
  EXPECT_EQ(Verdict(), "");
}

TEST_F(ValidateChangesTest, OnlyWhatRunsIsStoppedAndOnce) {
  changes_.stopped = {17};
  EXPECT_EQ(Verdict(), "");
  changes_.stopped = {17, 17};
  EXPECT_EQ(Verdict(), "job 17: a job is named once, its stop follows another answer");
  changes_.stopped = {20};
  EXPECT_EQ(Verdict(), "job 20: only jobs that run can be stopped, it is none of the 1");
}

}  // namespace
}  // namespace allot
