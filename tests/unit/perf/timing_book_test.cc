#include "perf/timing_book.h"

#include <gtest/gtest.h>

#include <cmath>

namespace allot {
namespace {

class TimingBookTest : public ::testing::Test {
 protected:
  TimingBook::Entry Job() { return book_.Begin("m", SpeedPrior::LevelsOf(1, "", "", "m")); }
  // An iteration of 8 samples a GPU, without synchronisation.
  void Run(GpuCount gpus, Seconds seconds, TimingBook::Entry* job) {
    book_.Observe("m", "gpu", gpus > 4 ? 2 : 1, {gpus > 4, gpus, 8, seconds, seconds}, job);
  }
  static Seconds Predicted(const TimingBook::Entry& job, GpuCount gpus) {
    return job.fits->On("gpu")->Iteration(gpus > 4, gpus, 8, 0);
  }
  TimingBook book_;
};

TEST_F(TimingBookTest, AJobBeginsWithWhatItsModelsJobsMeasured) {
  TimingBook::Entry first = Job();
  TimingBook::Entry waiting = Job();
  Run(1, 0.5, &first);
  EXPECT_NEAR(Predicted(waiting, 1), 0.5, 1e-3);
  EXPECT_EQ(waiting.fits, first.fits);
}

TEST_F(TimingBookTest, AJobThatIsSlowerThanOthersHasTimesOfItsOwn) {
  TimingBook::Entry first = Job();
  Run(1, 0.5, &first);
  Run(2, 0.5, &first);
  Run(4, 0.6, &first);
  TimingBook::Entry slow = Job();
  Run(1, 1.0, &slow);
  EXPECT_TRUE(slow.differs);
  EXPECT_NEAR(Predicted(slow, 1), 1.0, 0.02) << "measured itself";
  EXPECT_NEAR(Predicted(slow, 4), 1.2, 0.06) << "as others, times how much slower it is";
  EXPECT_NEAR(Predicted(first, 4), 0.6, 0.03) << "others keep theirs";
}

TEST_F(TimingBookTest, AJobThatIsAsOthersAreSharesTheirFit) {
  TimingBook::Entry first = Job();
  Run(1, 0.5, &first);
  TimingBook::Entry like = Job();
  Run(1, 0.51, &like);
  EXPECT_FALSE(like.differs);
  EXPECT_EQ(like.fits, first.fits);
}

TEST_F(TimingBookTest, WhatWasMeasuredHasNoSpreadAndWhatIsFartherHasMore) {
  TimingBook::Entry job = Job();
  Run(1, 0.5, &job);
  Run(2, 0.5, &job);
  EXPECT_EQ(book_.ErrorAt(job, "gpu", false, 2).spread, 0);
  const double four = book_.ErrorAt(job, "gpu", false, 4).spread;
  EXPECT_GT(four, 0);
  EXPECT_GT(book_.ErrorAt(job, "gpu", true, 16).spread, four);
}

TEST_F(TimingBookTest, LearnsThatFitsAreTooHopefulAboutMoreGpus) {
  // Predicted to take 0.5 s on two GPUs, as on one.
  TimingBook::Entry job = Job();
  Run(1, 0.5, &job);
  EXPECT_EQ(book_.ErrorAt(job, "gpu", false, 2).mean, 0);
  book_.Observe("m", "gpu", 1, {false, 2, 8, 0.5, 0.8}, &job);
  const TimingBook::Entry other = book_.Begin("n", SpeedPrior::LevelsOf(1, "", "", "n"));
  // All jobs: ln(0.5 / 0.8) / 3; size 1: two thirds of that and a third of the error.
  const double error = std::log(0.5 / 0.8);
  EXPECT_NEAR(book_.ErrorAt(other, "gpu", false, 2).mean, error / 3 * 2 / 3 + error / 3, 1e-3);
}

}  // namespace
}  // namespace allot
