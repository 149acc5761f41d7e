#include "rules/constrained_cluster.h"

#include <gtest/gtest.h>

#include <bit>
#include <memory>

#include "perf/table_cache.h"

namespace allot {
namespace {

// One node of eight GPUs. Job 0 runs on GPUs 0 to 3, job 1 on GPUs 4 to 7, job 2 waits; each may
// have 1 to 8. Job 1 is eve's, the others are alice's. What is applied is kept, and changes
// nothing.
class FakeCluster : public ClusterPort, public ConstraintSource {
 public:
  static constexpr std::int32_t kAlice = 0;
  static constexpr std::int32_t kEve = 1;
  FakeCluster() {
    Job job;
    job.id = "job";
    job.gpus = 4;
    job.min_gpus = 1;
    job.max_gpus = 8;
    job.duration = 100;
    const auto offer = TableCache(Catalogue::Embedded(), cluster_.type_specs()).OfferFor({}, job);
    table = offer.table;
    all.cluster = &cluster_;
    all.events.number = 1;
    all.ClearJobs();
    for (const std::uint64_t gpus : {0x0f, 0xf0, 0x00}) {
      const NodeShare share{0, UnitCounts(std::popcount(gpus)), gpus};
      all.Append({.job = all.rows(),
                  .table = table.get(),
                  .requested = offer.requested,
                  .running = gpus == 0 ? -1 : ConfigurationOf(4)},
                 {&share, gpus == 0 ? 0U : 1U});
      constraints.AddRow({}, false, {}, {0, all.rows() == 2 ? kEve : kAlice});
    }
  }
  std::int32_t ConfigurationOf(int gpus) const { return table->Find({gpus}, 0); }

  const Observation& Observe() const override { return all; }
  Status Validate(const Allocation& allocation) const override {
    return ValidateAllocation(all, allocation);
  }
  ApplyReport Apply(const Allocation& allocation) override {
    ApplyReport report;
    report.refused = Validate(allocation);
    applied = allocation;
    return report;
  }
  bool WaitForChange(Seconds until) override {
    valid_until = until;
    all.now += 60;
    ++all.decision;
    ++all.events.number;
    return true;
  }
  const Constraints& ConstraintsOn(const Observation&) override { return constraints; }
  void OnCorrections(const Corrections& made) override { corrections = made; }

  Observation all;
  std::shared_ptr<const ConfigurationTable> table;
  Constraints constraints;
  Corrections corrections;
  Allocation applied;
  Seconds valid_until = -1;

 private:
  ClusterSpec cluster_ = ClusterSpec::Parse("1x8");
};

class ConstrainedClusterTest : public testing::Test {
 protected:
  void Begin(std::vector<Guarantee> guarantees = {}) {
    cluster_ = std::make_unique<ConstrainedCluster>(inside_, inside_, std::move(guarantees));
  }
  void Answer(JobIndex job, std::uint64_t gpus) {
    const NodeShare share{0, UnitCounts(std::popcount(gpus)), gpus};
    answer_.Add(job, inside_.ConfigurationOf(std::popcount(gpus)), {&share, 1});
  }
  void Decide() { EXPECT_EQ(cluster_->Apply(answer_).refused.message(), ""); }
  std::uint64_t GpusOf(JobIndex job) const {
    for (const Allocation::Entry& entry : inside_.applied.entries()) {
      if (entry.job == job) return inside_.applied.shares(entry)[0].gpus;
    }
    return 0;
  }

  FakeCluster inside_;
  std::unique_ptr<ConstrainedCluster> cluster_;
  Allocation answer_;
};

TEST_F(ConstrainedClusterTest, APinnedJobKeepsItsGpusWhateverThePolicyAnswers) {
  inside_.constraints.hidden[0] = true;
  Begin();
  Answer(2, 0x3);  // of the four that it sees
  Decide();
  EXPECT_EQ(GpusOf(0), 0x0fU);
  EXPECT_EQ(GpusOf(1), 0U);
  EXPECT_EQ(GpusOf(2), 0x30U);
}

TEST_F(ConstrainedClusterTest, AnAccountGetsItsGuaranteeAndThePolicyIsAskedAgain) {
  inside_.constraints.guarantee[2] = 0;
  Begin({{"vision", 4}});
  Answer(0, 0xff);
  Decide();
  EXPECT_EQ(inside_.corrections.reason, Corrections::Reason::kGuarantees);
  EXPECT_EQ(std::popcount(GpusOf(0)), 4);
  EXPECT_EQ(std::popcount(GpusOf(2)), 4);
  cluster_->WaitForChange(kNever);
  EXPECT_EQ(inside_.valid_until, 0) << "a promise is of the policy's own answer";
}

TEST_F(ConstrainedClusterTest, GpusOfPinnedJobsCountForTheirAccount) {
  inside_.constraints.hidden[0] = true;
  inside_.constraints.guarantee[0] = inside_.constraints.guarantee[2] = 0;
  Begin({{"vision", 4}});
  Answer(1, 0xf);
  Decide();
  EXPECT_EQ(inside_.corrections.reason, Corrections::Reason::kNone)
      << "vision has its four already";
  EXPECT_EQ(GpusOf(1), 0xf0U);
}

TEST_F(ConstrainedClusterTest, AnAnswerThatKeepsGuaranteesStaysAsItIs) {
  inside_.constraints.guarantee[2] = 0;
  Begin({{"vision", 4}});
  Answer(0, 0x0f);
  Answer(2, 0xf0);
  Decide();
  EXPECT_EQ(inside_.corrections.reason, Corrections::Reason::kNone);
  EXPECT_TRUE(inside_.applied == answer_);
  cluster_->WaitForChange(kNever);
  EXPECT_EQ(inside_.valid_until, kNever);
}

TEST_F(ConstrainedClusterTest, GuaranteesCountWholeGpus) {
  inside_.constraints.guarantee[2] = 0;
  Begin({{"vision", 4}});
  const NodeShare share{0, {1}, 0x1};
  answer_.Add(0, inside_.ConfigurationOf(1), {&share, 1}, false, 1);
  answer_.Add(1, inside_.ConfigurationOf(1), {&share, 1}, false, 0);
  EXPECT_EQ(cluster_->Apply(answer_).refused.message(),
            "guarantees count whole GPUs, got jobs that share some");
}

TEST_F(ConstrainedClusterTest, AUserGetsHisFairShareAndThePolicyIsAskedAgain) {
  const GpuUsage usage(86400);
  inside_.constraints.usage = &usage;
  Begin();
  Answer(0, 0xff);
  Decide();
  EXPECT_EQ(inside_.corrections.reason, Corrections::Reason::kFairShares);
  EXPECT_EQ(GpusOf(1), 0xf0U) << "eve's running job keeps its GPUs";
  EXPECT_EQ(std::popcount(GpusOf(0)), 4);
  cluster_->WaitForChange(kNever);
  EXPECT_EQ(inside_.valid_until, 0) << "a promise is of the policy's own answer";
}

TEST_F(ConstrainedClusterTest, GpusOfPinnedJobsCountForTheirUser) {
  const GpuUsage usage(86400);
  inside_.constraints.usage = &usage;
  inside_.constraints.hidden[1] = true;
  Begin();
  Answer(0, 0xf);
  Decide();
  EXPECT_EQ(inside_.corrections.reason, Corrections::Reason::kNone) << "eve has her four already";
}

TEST_F(ConstrainedClusterTest, OneUserAloneIsNotAffected) {
  const GpuUsage usage(86400);
  inside_.constraints.usage = &usage;
  for (Constraints::Owner& owner : inside_.constraints.owners) owner.submitter.user = 0;
  Begin();
  Answer(0, 0xff);
  Decide();
  EXPECT_TRUE(inside_.applied == answer_);
  cluster_->WaitForChange(kNever);
  EXPECT_EQ(inside_.valid_until, kNever);
}

TEST_F(ConstrainedClusterTest, ThePolicyIsAskedWhenConstraintsChange) {
  inside_.constraints.valid_until = 500;
  Begin();
  Decide();
  cluster_->WaitForChange(kNever);
  EXPECT_EQ(inside_.valid_until, 500);
  EXPECT_EQ(cluster_->Observe().now, 60);
}

TEST_F(ConstrainedClusterTest, ASecondAnswerToADecisionChangesNothing) {
  Begin();
  Answer(0, 0x0f);
  Decide();
  answer_.Clear();
  Decide();
  EXPECT_EQ(GpusOf(0), 0x0fU);
}

}  // namespace
}  // namespace allot
