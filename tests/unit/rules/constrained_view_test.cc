#include "rules/constrained_view.h"

#include <gtest/gtest.h>

#include <memory>

#include "cluster/validate.h"
#include "perf/table_cache.h"

namespace allot {
namespace {

// Three jobs on two nodes of four GPUs: "a" on GPUs 0 and 1 of the first, "b" on GPU 2 of it and
// GPU 1 of the second, "c" waits.
class ConstrainedViewTest : public testing::Test {
 protected:
  ConstrainedViewTest() : cluster_(ClusterSpec::Parse("2x4x8")) {
    Job job;
    job.id = "job";
    job.min_gpus = 1;
    job.max_gpus = 8;
    job.duration = 100;
    table_ = TableCache(Catalogue::Embedded(), cluster_.type_specs()).TableFor({}, job);
    all_.cluster = &cluster_;
    all_.interval = 60;
    all_.events.number = 1;
    all_.ClearJobs();
    Add({{0, {2}, 0x3}});
    Add({{0, {1}, 0x4}, {1, {1}, 0x2}});
    Add({});
  }
  void Add(const std::vector<NodeShare>& shares) {
    int units = 0;
    for (const NodeShare& share : shares) units += share.units.of(0);
    all_.Append({.job = all_.rows(),
                 .table = table_.get(),
                 .running = shares.empty() ? -1 : table_->Find({units}, 0)},
                shares);
  }
  // Shows all but the jobs of these rows.
  void ShowWithout(const std::vector<std::int32_t>& hidden) {
    constraints_.hidden.assign(all_.job.size(), false);
    for (const std::int32_t row : hidden) constraints_.hidden[static_cast<std::size_t>(row)] = true;
    view_.Show(all_, constraints_, true);
    ++all_.events.number;
  }
  Status Validate(const Allocation& answer) const {
    return ValidateAllocation(view_.shown(), answer);
  }

  ClusterSpec cluster_;
  std::shared_ptr<const ConfigurationTable> table_;
  Observation all_;
  Constraints constraints_;
  ConstrainedView view_;
};

TEST_F(ConstrainedViewTest, HiddenJobsKeepTheirPartOfWhatIsLent) {
  all_.lent = 8;
  all_.guaranteed = {8, 3, 1};
  ShowWithout({0});
  EXPECT_EQ(view_.shown().lent, 6);
  EXPECT_EQ(view_.shown().guaranteed, (std::vector<GpuCount>{6, 1, 0}));
}

TEST_F(ConstrainedViewTest, WithNothingHiddenItIsTheSame) {
  ShowWithout({});
  EXPECT_EQ(view_.shown().job, all_.job);
  EXPECT_EQ(view_.shown().shares, all_.shares);
  EXPECT_EQ(view_.shown().cluster->total(), cluster_.total());
}

TEST_F(ConstrainedViewTest, APinnedJobIsHiddenWithItsGpus) {
  ShowWithout({0});
  const Observation& o = view_.shown();
  EXPECT_EQ(o.job, (std::vector<JobIndex>{1, 2}));
  EXPECT_EQ(o.cluster->nodes()[0].capacity.gpus, 2);
  EXPECT_EQ(o.cluster->nodes()[0].capacity.cpus, 8 - DemandOf(table_->kinds(), {2}).cpus);
  EXPECT_EQ(o.cluster->nodes()[1].capacity, cluster_.nodes()[1].capacity);
  ASSERT_EQ(o.shares_of(0).size(), 2U);
  EXPECT_EQ(o.shares_of(0)[0].gpus, 0x1U) << "GPUs count from 0";
  EXPECT_EQ(o.shares_of(0)[1].gpus, 0x2U);
}

TEST_F(ConstrainedViewTest, AnAnswerIsTranslatedToTheMachinesNumbers) {
  ShowWithout({0});
  Allocation answer;
  answer.Add(2, table_->Find({1}, 0), std::vector<NodeShare>{{0, {1}, 0x2}});
  ASSERT_EQ(Validate(answer).message(), "");
  Allocation full;
  view_.Translate(all_, answer, &full);
  EXPECT_EQ(ValidateAllocation(all_, full).message(), "");
  ASSERT_EQ(full.entries().size(), 2U);
  EXPECT_EQ(full.shares(full.entries()[0])[0].gpus, 0x8U) << "the fourth GPU of the node";
  EXPECT_EQ(full.entries()[1].job, 0) << "the pinned job keeps what it has";
  EXPECT_TRUE(HoldsAlready(all_, 0, full, full.entries()[1]));
}

TEST_F(ConstrainedViewTest, AnAnswerForHiddenGpusIsRefused) {
  ShowWithout({0});
  Allocation answer;
  answer.Add(2, table_->Find({1}, 0), std::vector<NodeShare>{{0, {1}, 0x4}});
  EXPECT_FALSE(Validate(answer).ok());
  answer.Clear();
  answer.Add(0, table_->Find({1}, 0), std::vector<NodeShare>{{0, {1}, 0x2}});
  EXPECT_FALSE(Validate(answer).ok()) << "a job that is not seen cannot be given anything";
}

TEST_F(ConstrainedViewTest, WithheldGpusAreGivenToNobody) {
  constraints_.withheld = {0x8, 0xd};
  ShowWithout({});
  EXPECT_EQ(view_.shown().cluster->nodes()[0].capacity.gpus, 3);
  EXPECT_EQ(view_.shown().cluster->nodes()[1].capacity.gpus, 1);
  EXPECT_EQ(view_.shown().shares_of(1)[1].gpus, 0x1U);
}

TEST_F(ConstrainedViewTest, OfAClosedNodeOnlyGpusOfJobsAreLeft) {
  constraints_.node_use = {NodeUse::kNoFreeGpus, NodeUse::kOpen};
  ShowWithout({});
  EXPECT_EQ(view_.shown().cluster->nodes()[0].capacity.gpus, 3);
  EXPECT_EQ(view_.GivableOn(0), 0x7U);
  EXPECT_EQ(view_.GivableOn(1), 0xfU);
}

TEST_F(ConstrainedViewTest, AJobOnTheGpusOfAHiddenOneIsHidden) {
  all_.partner = {1, 0, kAlone};
  ShowWithout({0});
  EXPECT_EQ(view_.shown().job, std::vector<JobIndex>{2});
}

TEST_F(ConstrainedViewTest, OnlyEndsOfJobsThatWereShownAreReported) {
  ShowWithout({1});
  all_.events.ended = {EndedAt(all_, 0, 10), EndedAt(all_, 1, 10)};
  ShowWithout({1});
  ASSERT_EQ(view_.shown().events.ended.size(), 1U);
  EXPECT_EQ(view_.shown().events.ended[0].job, 0);
}

TEST_F(ConstrainedViewTest, WhoIsReleasedArrivesAgainAndEndsOnlyOnce) {
  ShowWithout({});
  EXPECT_EQ(view_.shown().events.arrived.size(), 3U);
  ShowWithout({0});
  EXPECT_TRUE(view_.shown().events.ended.empty()) << "it is pinned, not over";
  ShowWithout({});
  EXPECT_EQ(view_.shown().events.arrived, std::vector<std::int32_t>{0});
  EXPECT_EQ(view_.shown().events.number, 3);
}

}  // namespace
}  // namespace allot
