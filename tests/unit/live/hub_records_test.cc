#include "live/workers/hub_records.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace allot {
namespace {

using Json = nlohmann::json;

// A job "j" of two workers that train together in epoch 0, at step 5.
class HubRecordsTest : public testing::Test {
 protected:
  HubRecordsTest() {
    records_.AddJob("j", "token");
    for (const char* worker : {"j.0", "j.1"}) {
      records_.Expect("j", worker, false, 10);
      records_.Join(worker, Json::object(), 11);
    }
    Announce("j", {0, {"j.0", "j.1"}});
    for (const char* worker : {"j.0", "j.1"}) {
      records_.Hear(worker, {{"say", "reached"}, {"epoch", 0}, {"step", 5}});
    }
  }

  // True when it was not announced before.
  bool Announce(const std::string& job, const Membership& membership) {
    bool is_new = false;
    refusal_ = records_.Announce(job, membership, &is_new).message();
    return is_new;
  }

  HubRecords records_;
  std::string refusal_;  // of the last announcement
};

TEST_F(HubRecordsTest, AJobKeepsItsFirstToken) {
  records_.AddJob("j", "another");
  EXPECT_EQ(records_.FindJob("j")->token, "token");
}

TEST_F(HubRecordsTest, AWorkerSpeaksForItsOwnJobAlone) {
  records_.AddJob("k", "token");
  EXPECT_NE(records_.JobWith("j", "j.0"), nullptr);
  EXPECT_EQ(records_.JobWith("k", "j.0"), nullptr);
  EXPECT_EQ(records_.JobWith("j", "k.0"), nullptr);
}

TEST_F(HubRecordsTest, AnEpochIsAnnouncedOnceAndNeverAnEarlierOne) {
  EXPECT_TRUE(Announce("j", {1, {"j.0"}}));
  EXPECT_FALSE(Announce("j", {1, {"j.0"}})) << "again";
  EXPECT_FALSE(Announce("j", {0, {"j.1"}}));
  EXPECT_EQ(refusal_, "job j: epoch 0 must not be earlier than the latest, 1");
  EXPECT_FALSE(Announce("k", {0, {}}));
  EXPECT_NE(refusal_, "") << "there is no such job";
  EXPECT_TRUE(records_.member("j.0"));
  EXPECT_FALSE(records_.member("j.1"));
}

TEST_F(HubRecordsTest, AGroupIsWhereItsSlowestMemberIs) {
  Announce("j", {1, {"j.0", "j.1"}});
  EXPECT_EQ(records_.Hear("j.0", {{"say", "reached"}, {"epoch", 1}}), HubRecords::Said::kNews);
  EXPECT_EQ(records_.Progress("j").epoch, 0);
  records_.Hear("j.1", {{"say", "reached"}, {"epoch", 1}});
  EXPECT_EQ(records_.Progress("j").epoch, 1);
}

TEST_F(HubRecordsTest, StepsAreThoseOfTheFirstMember) {
  EXPECT_EQ(records_.Hear("j.1", {{"say", "progress"}, {"epoch", 0}, {"step", 4}}),
            HubRecords::Said::kProgress);
  EXPECT_EQ(records_.Progress("j").step, 5);
  records_.Hear("j.0", {{"say", "progress"}, {"epoch", 0}, {"step", 7}});
  EXPECT_EQ(records_.Progress("j").step, 7);
}

TEST_F(HubRecordsTest, ProgressOfAGroupThatWasIsNone) {
  Announce("j", {1, {"j.0", "j.1"}});
  records_.Hear("j.0", {{"say", "progress"}, {"epoch", 0}, {"step", 9}});
  EXPECT_EQ(records_.Progress("j").step, 5);
}

TEST_F(HubRecordsTest, AGroupIsBrokenUntilTheNextEpoch) {
  EXPECT_EQ(records_.Hear("j.1", {{"say", "broken"}, {"epoch", 0}}), HubRecords::Said::kNews);
  EXPECT_TRUE(records_.Progress("j").broken);
  Announce("j", {1, {"j.0", "j.1"}});
  EXPECT_FALSE(records_.Progress("j").broken);
}

TEST_F(HubRecordsTest, AfterTheEndOfItsWorkAJobGoesNoFurther) {
  EXPECT_EQ(records_.Hear("j.0", {{"say", "finished"}, {"epoch", 0}, {"step", 8}}),
            HubRecords::Said::kFinished);
  EXPECT_EQ(records_.Hear("j.0", {{"say", "reached"}, {"epoch", 0}, {"step", 9}}),
            HubRecords::Said::kProgress);
  EXPECT_EQ(records_.Progress("j").step, 8);
}

TEST_F(HubRecordsTest, BeforeAnAnnouncementWorkersSayWhatTheyKnowOfAnEarlierDaemon) {
  records_.AddJob("k", "token");
  records_.Expect("k", "k.3", false, 10);
  records_.Join("k.3", {{"epoch", 4}, {"heard", 6}, {"step", 100}}, 11);
  EXPECT_EQ(records_.Progress("k").epoch, 6);
  EXPECT_EQ(records_.Progress("k").step, 100);
}

TEST_F(HubRecordsTest, AJoinWithANumberThatBreaksItsRuleChangesNothing) {
  records_.Expect("j", "j.2", false, 10);
  EXPECT_THROW(records_.Join("j.2", {{"step", -1}}, 11), Error);
  EXPECT_FALSE(records_.FindWorker("j.2")->joined);
}

TEST_F(HubRecordsTest, AnUnknownWordIsSaidToBeUnknown) {
  EXPECT_EQ(records_.Hear("j.0", {{"say", "sing"}}), HubRecords::Said::kNoneOfOurs);
}

TEST_F(HubRecordsTest, WithAJobItsWorkersAreForgotten) {
  records_.RemoveJob("j");
  EXPECT_EQ(records_.FindWorker("j.0"), nullptr);
  EXPECT_EQ(records_.Progress("j").epoch, -1);
}

}  // namespace
}  // namespace allot
