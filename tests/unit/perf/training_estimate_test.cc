#include "perf/training_estimate.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "perf/catalogue.h"
#include "perf/rate_fit.h"
#include "perf/table_cache.h"

namespace allot {
namespace {

const StepTiming kStep{0.01, 0.001, 0.004, 0.0005, 0.002, 0.0002, 1.5};
const BatchLimits kRange{64, 2048, 8, 256};

TimingObservation Measured(const StepTiming& truth, bool several, GpuCount gpus, double local) {
  return {several, gpus, local, truth.Gradient(local), truth.Iteration(several, gpus, local, 0)};
}

class TrainingEstimateTest : public testing::Test {
 protected:
  TrainingEstimateTest() {
    layouts_.Add(LayoutModel(MakePriorModel()));
    tables_ = std::make_unique<TableCache>(
        layouts_, std::vector<GpuTypeSpec>{{.name = "a", .gpus = 8, .node_gpus = 4},
                                           {.name = "b", .gpus = 8, .node_gpus = 4}});
    Workload one;
    Job job;
    job.id = "j";
    job.gpus = 1;
    job.min_gpus = 1;
    job.max_gpus = 8;
    job.model = one.models.Intern("prior");
    table_ = std::make_unique<ConfigurationTable>(*tables_->TableFor(one, job));
  }
  double RateOf(GpuCount gpus, GpuTypeIndex type, std::size_t nodes) const {
    return (*table_)[table_->Find(UnitCounts(gpus), type, nodes)].rate;
  }
  static inline const std::vector<std::string> kTypes = {"a", "b"};
  Catalogue layouts_;
  std::unique_ptr<TableCache> tables_;
  std::unique_ptr<ConfigurationTable> table_;
};

TEST_F(TrainingEstimateTest, LayoutTellsOneNodeAndSeveralApart) {
  EXPECT_TRUE(table_->has_spans());
  EXPECT_GE(table_->Find({UnitCounts(4), 0, {1, 1}, kNoPartner}), 0);
  EXPECT_GE(table_->Find({UnitCounts(4), 0, {2, Span::kAny}, kNoPartner}), 0);
  EXPECT_LT(table_->Find({UnitCounts(8), 0, {1, 1}, kNoPartner}), 0) << "a node has four";
}

TEST_F(TrainingEstimateTest, SaysNothingBeforeTimesAndNoiseAreKnown) {
  TrainingEstimate estimate(kRange);
  EXPECT_FALSE(estimate.Renew(kTypes, table_.get()));
  estimate.SetNoise(500);
  EXPECT_FALSE(estimate.known());
  EXPECT_EQ(estimate.Choose("a", 1, 1, {}).local_batch, 0);
  EXPECT_TRUE(estimate.Observe("a", 1, Measured(kStep, false, 1, 64)));
  EXPECT_TRUE(estimate.known());
  EXPECT_EQ(table_->version(), 0U);
}

TEST_F(TrainingEstimateTest, RatesAreThoseOfTheBestBatchInSamplesOfTheInitialOne) {
  TrainingEstimate estimate(kRange);
  estimate.SetNoise(1000);
  for (const double local : {64.0, 128.0, 256.0}) {
    for (const GpuCount gpus : {1, 2, 4}) {
      estimate.Observe("a", 1, Measured(kStep, false, gpus, local));
    }
  }
  ASSERT_TRUE(estimate.Renew(kTypes, table_.get()));
  const GradientStatistics noise = GradientStatistics::OfNoiseScale(1000, 64);
  const BatchChoice best = ChooseBatch(kStep, kRange, {{64, noise}}, false, 4);
  EXPECT_NEAR(RateOf(4, 0, 1), best.rate * 64, 0.05 * best.rate * 64);
  EXPECT_DOUBLE_EQ(RateOf(4, 1, 1), RateOf(4, 0, 1)) << "the prior knows no faster type";
  EXPECT_EQ(table_->trusted(), UnitCounts(8)) << "twice what was measured";
}

TEST_F(TrainingEstimateTest, MoreNoiseAsksForALargerBatch) {
  TrainingEstimate estimate(kRange);
  estimate.Observe("a", 1, Measured(kStep, false, 4, 64));
  estimate.Observe("a", 1, Measured(kStep, false, 4, 256));
  double before = 0;
  for (const double noise : {0.0, 500.0, 3000.0, 30000.0}) {
    estimate.SetNoise(noise);
    const double total = estimate.Choose("a", 1, 4, {}).total(4);
    EXPECT_GT(total, before) << noise;
    before = total;
  }
  EXPECT_LE(before, kRange.most);
  estimate.SetNoise(0);
  EXPECT_EQ(estimate.Choose("a", 1, 4, {}).total(4), kRange.initial);
}

TEST_F(TrainingEstimateTest, TwiceTheOnlyBatchIsTriedOnce) {
  TrainingEstimate estimate(kRange);
  estimate.SetNoise(0);
  estimate.Observe("a", 1, Measured(kStep, false, 4, 16));
  EXPECT_EQ(estimate.Choose("a", 1, 4, {}).local_batch, 32);
  estimate.Observe("a", 1, Measured(kStep, false, 4, 32));
  EXPECT_EQ(estimate.Choose("a", 1, 4, {}).local_batch, 16) << "without noise the least is best";

  TrainingEstimate narrow({64, 100, 8, 256});
  narrow.SetNoise(0);
  narrow.Observe("a", 1, Measured(kStep, false, 4, 16));
  EXPECT_EQ(narrow.Choose("a", 1, 4, {}).local_batch, 16) << "128 would be more than the most";
}

TEST_F(TrainingEstimateTest, NoBatchIsSmallerThanTheFirst) {
  TrainingEstimate fewer(kRange);
  fewer.SetNoise(0);
  fewer.Observe("a", 1, Measured(kStep, false, 4, 16));
  const BatchChoice alone = fewer.Choose("a", 1, 1, {});
  EXPECT_EQ(alone.local_batch, 32);
  EXPECT_EQ(alone.total(1), 64) << "twice what each had, in two passes";

  TrainingEstimate narrow({64, 65, 8, 256});
  narrow.SetNoise(0);
  narrow.Observe("a", 1, Measured(kStep, false, 4, 16));
  EXPECT_EQ(narrow.Choose("a", 1, 3, {}).local_batch, 0) << "3 x 21 is too few, 3 x 22 too many";
}

TEST_F(TrainingEstimateTest, ABatchThatIsNearlyAsGoodStays) {
  TrainingEstimate estimate(kRange);
  estimate.SetNoise(1000);
  estimate.Observe("a", 1, Measured(kStep, false, 4, 64));
  estimate.Observe("a", 1, Measured(kStep, false, 4, 256));
  const BatchChoice best = estimate.Choose("a", 1, 4, {});
  BatchChoice near = best;
  near.local_batch += 4;
  EXPECT_EQ(estimate.Choose("a", 1, 4, near).local_batch, near.local_batch);
  const BatchChoice far{16, 0};
  EXPECT_EQ(estimate.Choose("a", 1, 4, far).local_batch, best.local_batch);
}

TEST_F(TrainingEstimateTest, ANewSizeIsTrustedOnceItWasMeasuredAndCountsOnce) {
  TrainingEstimate estimate(kRange);
  estimate.SetNoise(100);
  EXPECT_TRUE(estimate.Observe("a", 1, Measured(kStep, false, 1, 64)));
  ASSERT_TRUE(estimate.Renew(kTypes, table_.get()));
  EXPECT_EQ(table_->trusted(), UnitCounts(2));
  EXPECT_FALSE(estimate.Knows("a", 1, 2, 64));
  EXPECT_TRUE(estimate.Observe("a", 1, Measured(kStep, false, 2, 64)));
  EXPECT_TRUE(estimate.Knows("a", 1, 2, 64));
  ASSERT_TRUE(estimate.Renew(kTypes, table_.get()));
  EXPECT_EQ(table_->trusted(), UnitCounts(4));
  EXPECT_FALSE(estimate.Observe("a", 1, Measured(kStep, false, 2, 64))) << "known already";
}

TEST_F(TrainingEstimateTest, NoMoreGpusThanHaveTheLeastSamplesAreTrusted) {
  TrainingEstimate estimate({64, 96, 32, 96});
  estimate.SetNoise(100);
  estimate.Observe("a", 1, Measured(kStep, false, 2, 32));
  ASSERT_TRUE(estimate.Renew(kTypes, table_.get()));
  EXPECT_EQ(table_->trusted(), UnitCounts(3));
}

TEST_F(TrainingEstimateTest, NoiseMovesByATenth) {
  TrainingEstimate estimate(kRange);
  EXPECT_TRUE(estimate.NoiseMoved(100));
  EXPECT_FALSE(estimate.NoiseMoved(kUnknown));
  estimate.SetNoise(100);
  EXPECT_FALSE(estimate.NoiseMoved(109));
  EXPECT_TRUE(estimate.NoiseMoved(111));
  EXPECT_TRUE(estimate.NoiseMoved(89));
}

TEST_F(TrainingEstimateTest, TimesThatCannotBeAreRefused) {
  TrainingEstimate estimate(kRange);
  EXPECT_THROW(estimate.Observe("a", 1, {false, 1, 64, -1, 1}), Error);
  EXPECT_FALSE(estimate.Knows("a", 1, 1, 64));
}

}  // namespace
}  // namespace allot
