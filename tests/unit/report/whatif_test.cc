#include "report/whatif.h"

#include <gtest/gtest.h>

namespace allot {
namespace {

WhatIfScene Scene(WhatIfScene::Kind kind, const std::string& title, double wait, double jct) {
  WhatIfScene scene;
  scene.kind = kind;
  scene.title = title;
  scene.policy = scene.name = title.substr(0, title.find(','));
  scene.jobs = 10;
  scene.avg_wait_s = scene.p50_wait_s = scene.p95_wait_s = scene.max_wait_s = wait;
  scene.avg_jct_s = jct;
  return scene;
}

WhatIf Example(double recorded, double present) {
  using Kind = WhatIfScene::Kind;
  WhatIf what_if;
  what_if.jobs = 12;
  what_if.scenes = {Scene(Kind::kRecorded, "recorded", recorded, recorded + 600),
                    Scene(Kind::kPresent, "easy", present, present + 600),
                    Scene(Kind::kPolicy, "fifo", 90, 690), Scene(Kind::kPolicy, "las", 30, 630),
                    Scene(Kind::kNodes, "easy, 2 more nodes", 10, 610)};
  what_if.added_nodes = "2 nodes with 4 v100";
  what_if.users = {{"ann", 12, 3, {1, 2, 3, 4, 5}, {1, 2, 3, 4, 5}}};
  return what_if;
}

std::string Said(const WhatIf& what_if) {
  std::string text;
  for (const std::string& finding : WhatIfFindings(what_if)) text += finding + "\n";
  return text;
}

TEST(WhatIf, SaysWhatHelpsMost) {
  const std::string said = Said(Example(100, 110));
  EXPECT_NE(said.find("within 10.0 % of the record"), std::string::npos) << said;
  EXPECT_NE(said.find("las makes jobs end earliest: a mean wait of 30.0 s instead of 1m 50s, a "
                      "longest wait of 30.0 s instead of 1m 50s"),
            std::string::npos)
      << said;
  EXPECT_NE(said.find("with 2 more nodes (2 nodes with 4 v100) gives a mean wait of 10.0 s"),
            std::string::npos)
      << said;
}

TEST(WhatIf, SaysWhereTheSimulationIsFarFromTheRecord) {
  EXPECT_NE(Said(Example(1000, 110)).find("far from the record"), std::string::npos);
  EXPECT_EQ(Said(Example(100, 110)).find("far from the record"), std::string::npos);
}

TEST(WhatIf, NamesWhatIsLeftOutFirstWhereTheSimulationIsFarFromTheRecord) {
  WhatIf what_if = Example(1000, 110);
  what_if.gpu_hours = 24;
  what_if.left_out = {{"an earlier run", 2, "f:3", 583}, {"no GPU requested", 9, "f:2", 0}};
  const std::string said = Said(what_if);
  const std::size_t lost = said.find("583 of 607 GPU-hours");
  EXPECT_LT(lost, said.find("partitions")) << said;
  EXPECT_NE(said.find("an earlier run"), std::string::npos) << said;
  what_if.left_out.front().gpu_hours = 0.1;
  EXPECT_EQ(Said(what_if).find("GPU-hours"), std::string::npos) << "too little to matter";
}

TEST(WhatIf, SaysWhereTheRecordHeldMoreGpusThanThereAre) {
  WhatIf what_if = Example(100, 110);
  what_if.gpus = 32;
  what_if.most_gpus_at_once = 160;
  EXPECT_NE(Said(what_if).find("held 160 GPUs at once, this cluster has 32"), std::string::npos);
  what_if.most_gpus_at_once = 32;
  EXPECT_EQ(Said(what_if).find("at once"), std::string::npos);
}

TEST(WhatIf, CountsGpuHoursOfAllJobsThatDoNotFit) {
  WhatIf what_if = Example(100, 110);
  what_if.gpu_hours = 10;
  what_if.lacking_types = {{"p40", 1, 0.5}};
  what_if.without_room = {"", 1, "", 9.5};
  EXPECT_NE(Said(what_if).find("2 of 14 jobs of the trace, with 10.0 of 20.0 GPU-hours"),
            std::string::npos)
      << Said(what_if);
}

TEST(WhatIf, ComparesNothingWhereNoJobHasEnded) {
  WhatIf what_if = Example(0, 0);
  what_if.running = 5;
  what_if.pending = 7;
  const std::string said = Said(what_if);
  EXPECT_NE(said.find("No job of the record has ended"), std::string::npos) << said;
  for (const char* wrong : {"far from the record", "as in the record", "Jobs waited", "earliest"}) {
    EXPECT_EQ(said.find(wrong), std::string::npos) << said;
  }
}

TEST(WhatIf, NamesPoliciesThatKnowTrueLengths) {
  WhatIf what_if = Example(100, 110);
  what_if.scenes.push_back(Scene(WhatIfScene::Kind::kPolicy, "srtf", 10, 610));
  EXPECT_NE(Said(what_if).find("Of the other policies srtf makes"), std::string::npos);
  what_if.scenes.back().oracle = true;
  EXPECT_NE(Said(what_if).find("Of the other policies (without those that know true lengths: srtf) "
                               "las makes jobs end earliest"),
            std::string::npos)
      << Said(what_if);
}

TEST(WhatIf, DoesNotBlameThePolicyForNodesThatFail) {
  WhatIf what_if = Example(100, 110);
  WhatIfScene& las = what_if.scenes[3];
  las.preemptions_per_job = las.node_stops_per_job = 0.25;
  EXPECT_EQ(Said(what_if).find("checkpoints"), std::string::npos) << Said(what_if);
  las.preemptions_per_job = 0.75;
  EXPECT_NE(Said(what_if).find("stops jobs 0.50 times"), std::string::npos) << Said(what_if);
}

TEST(WhatIf, SaysWhichJobsOnlyMoreNodesHaveRoomFor) {
  WhatIf what_if = Example(100, 110);
  what_if.scenes.back().more_jobs = 1;
  EXPECT_NE(Said(what_if).find("1 job that the present cluster has no room for then fits"),
            std::string::npos)
      << Said(what_if);
}

TEST(WhatIf, SaysTheSameOfAFigureThatDoesNotChange) {
  WhatIf what_if = Example(100, 110);
  what_if.scenes[3].max_wait_s = 110.2;
  EXPECT_NE(Said(what_if).find("the same longest wait (1m 50s)"), std::string::npos)
      << Said(what_if);
}

// Ratios of waits say nothing where nobody waits.
TEST(WhatIf, WaitsNearZeroAreAlike) {
  const std::string said = Said(Example(0, 3));
  EXPECT_EQ(said.find("far from the record"), std::string::npos) << said;
  EXPECT_NE(said.find("as in the record"), std::string::npos) << said;
}

TEST(WhatIf, ASimulationThatIsWorseThanTheRecordHasOtherReasons) {
  const std::string said = Said(Example(100, 1000));
  EXPECT_NE(said.find("more room in truth"), std::string::npos) << said;
  EXPECT_EQ(said.find("partitions"), std::string::npos) << said;
}

TEST(WhatIf, BeginsWithManyJobsThatTheClusterHasNoTypeOrRoomFor) {
  WhatIf what_if = Example(100, 110);
  what_if.gpu_hours = 10;
  what_if.lacking_types = {{"p40", 1, 0.5}, {"k80", 4, 29.5}};
  what_if.without_room = {"", 3, "t.csv:7 asks for 9 GPUs, there are 8", 0};
  EXPECT_EQ(Said(what_if).find(
                "8 of 20 jobs of the trace, with 30.0 of 40.0 GPU-hours, are not in these figures: "
                "this cluster lacks the GPU type that they ask for, 'k80' (4 jobs), 'p40' (1 job) "
                "(--type-map THEIRS=OURS gives types the names of the cluster's), and 3 ask for "
                "more GPUs or GPU memory than this cluster has (first: t.csv:7 asks for 9 GPUs"),
            0U)
      << Said(what_if);
}

TEST(WhatIf, SaysLaterThatFewJobsDoNotFit) {
  WhatIf what_if = Example(100, 110);
  what_if.jobs = 1000;
  what_if.without_room = {"", 3, "t.csv:7 asks for 9 GPUs, there are 8", 0};
  EXPECT_NE(Said(what_if).find("are not in these figures: 3 ask for more GPUs or GPU memory than "
                               "this cluster has (first: t.csv:7 asks for 9 GPUs, there are 8)."),
            std::string::npos)
      << Said(what_if);
  EXPECT_NE(Said(what_if).find("3 of 1 003"), 0U);
}

TEST(WhatIf, NodesThatChangeNothingAreSaidToChangeNothing) {
  WhatIf what_if = Example(100, 10);
  EXPECT_NE(Said(what_if).find("with 2 more nodes (2 nodes with 4 v100) changes nothing"),
            std::string::npos)
      << Said(what_if);
}

TEST(WhatIf, SaysWhereNothingHelps) {
  EXPECT_NE(Said(Example(20, 20)).find("None of the other policies"), std::string::npos);
}

TEST(WhatIf, TablesCountWhatIsNotKnown) {
  const WhatIf what_if = Example(100, 110);
  const std::string text = WhatIfText(what_if);
  EXPECT_NE(text.find("does not tell the wait of 2 jobs"), std::string::npos) << text;
  EXPECT_NE(text.find("> easy"), std::string::npos) << text;
  EXPECT_NE(WhatIfSections(what_if).find("How long each user waits"), std::string::npos);
  EXPECT_EQ(WhatIfSections(what_if).find("each partition"), std::string::npos);
}

TEST(WhatIf, NamesAreEscapedOnThePage) {
  WhatIf what_if = Example(100, 110);
  what_if.users[0].name = "<b>ann</b>";
  EXPECT_EQ(WhatIfSections(what_if).find("<b>ann"), std::string::npos);
}

}  // namespace
}  // namespace allot
