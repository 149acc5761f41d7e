#include "live/port/batch_control.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "tests/unit/live/daemon_fixture.h"

namespace allot {
namespace {

constexpr StepTiming kPasses{0.01, 0.0001, 0.004, 0.0005, 0.002, 0.0002, 1.5};

// One daemon's inside on two nodes of four GPUs. Jobs hold GPUs of the first node that has room.
class BatchControlTest : public DaemonTest {
 protected:
  BatchControlTest() {
    runtime_.AddNode("n1", 4);
    runtime_.AddNode("n2", 4);
  }
  void Serve() {
    DaemonTest::Serve();
    port_->WaitForChange(0);
  }
  // Each job, in order of rows, so many GPUs; a job has a node, or both.
  void Give(const std::vector<GpuCount>& wants) {
    port_->WaitForChange(0);
    const Observation& o = port_->Observe();
    Allocation allocation;
    NodeIndex node = 0;
    for (std::int32_t row = 0; row < o.rows(); ++row) {
      if (wants[std::size_t(row)] == 0) continue;
      std::vector<NodeShare> shares;
      for (GpuCount left = wants[std::size_t(row)]; left > 0; left -= 4) {
        const GpuCount here = std::min(left, 4);
        shares.push_back({node++, UnitCounts(here), GpuMask(here)});
      }
      const std::int32_t c =
          o.table[std::size_t(row)]->Find(UnitCounts(wants[std::size_t(row)]), 0, shares.size());
      allocation.Add(o.job[std::size_t(row)], c, shares);
    }
    const ApplyReport report = port_->Apply(allocation);
    ASSERT_TRUE(report.refused.ok()) << report.refused.message();
    for (int i = 0; i < 20; ++i) Look();
  }
  // As its client library says it, with the batch that it was told.
  void Report(const std::string& id, GpuCount workers, double noise, bool several = false) {
    JobProgress& p = runtime_.jobs.at(id).progress;
    const WorkerBatchOrder told = runtime_.batches[id];
    p.batch.initial = 64;
    p.batch.most = most_;
    p.batch.least_local = 4;
    p.batch.most_local = 512;
    p.batch.present = told.workers == workers ? told : WorkerBatchOrder{workers, 64 / workers, 0};
    p.batch.timed = {workers, p.batch.present.local, 0};
    const auto local = static_cast<double>(p.batch.timed.local);
    p.batch.gradient = kPasses.Gradient(local);
    p.batch.iteration = kPasses.Iteration(several, workers, local, 0);
    p.noise_scale = noise;
    time_.Pass(1);  // noise is taken once a second
    Look();
    Look();
  }
  std::int64_t most_ = 4096;
  std::int64_t Told(const std::string& id) {
    const WorkerBatchOrder& told = runtime_.batches[id];
    return told.workers * told.local * (told.accumulation + 1);
  }
};

TEST_F(BatchControlTest, TheBatchFollowsNoiseAndWorkers) {
  runtime_.AddJob("a", 1, 1, 8);
  Serve();
  Give({1});
  EXPECT_EQ(runtime_.batches.count("a"), 0U) << "nobody said that its batch follows";
  Report("a", 1, 100);
  EXPECT_EQ(Told("a"), 128) << "tried once";
  Report("a", 1, 100);
  const std::int64_t alone = Told("a");
  EXPECT_LE(alone, 128) << "little noise";
  Report("a", 1, 2000);
  const std::int64_t noisy = Told("a");
  EXPECT_GT(noisy, alone);
  Give({4});
  Report("a", 4, 2000);
  Report("a", 4, 2000);
  EXPECT_EQ(runtime_.batches["a"].workers, 4);
  EXPECT_GT(Told("a"), noisy);
  EXPECT_LE(Told("a"), 4096);
}

TEST_F(BatchControlTest, TablesAreOfGoodputOnceTimesAndNoiseAreKnown) {
  runtime_.AddJob("a", 2, 1, 8);
  Serve();
  Give({2});
  EXPECT_FALSE(JobOf("a").table->has_spans());
  Report("a", 2, 1000);
  const LiveJob& job = JobOf("a");
  ASSERT_TRUE(job.table->has_spans());
  EXPECT_EQ((*job.table)[job.running].units, UnitCounts(2)) << "what it holds stays";
  EXPECT_EQ((*job.table)[job.requested].units, UnitCounts(2));
  EXPECT_EQ(job.table->trusted(), UnitCounts(4));
  Give({8});
  Report("a", 8, 1000, true);
  EXPECT_EQ(JobOf("a").table->trusted(), UnitCounts(16));
  EXPECT_EQ((*JobOf("a").table)[JobOf("a").running].span.least, 2U) << "on two nodes";
}

TEST_F(BatchControlTest, AJobThatReportsNoBatchIsAsBefore) {
  runtime_.AddJob("a", 2, 1, 4);
  Serve();
  Give({2});
  runtime_.jobs.at("a").progress.noise_scale = 500;  // older programs tell their noise
  for (int i = 0; i < 50; ++i) Look();
  EXPECT_EQ(JobOf("a").training, nullptr);
  EXPECT_FALSE(JobOf("a").table->has_spans());
  EXPECT_TRUE(JobOf("a").fit.measured());
  EXPECT_EQ(runtime_.batches.count("a"), 0U);
}

TEST_F(BatchControlTest, ABatchThatIsAlwaysTheSameIsTheProgramsOwn) {
  runtime_.AddJob("a", 2, 1, 4);
  Serve();
  Give({3});
  most_ = 64;
  for (int reports = 0; reports < 3; ++reports) Report("a", 3, 5000);
  EXPECT_EQ(runtime_.batches["a"].workers, 0) << "3 x 21 are not 64";
}

TEST_F(BatchControlTest, APolicyMayKeepTheBatchThatUsersAskedFor) {
  runtime_.AddJob("a", 2, 1, 4);
  Serve();
  Give({2});
  Report("a", 2, 5000);
  EXPECT_GT(Told("a"), 64);
  port_->WaitForChange(0);
  const Observation& o = port_->Observe();
  Allocation same;
  same.Add(o.job[0], o.running[0], o.shares_of(0));
  same.KeepRequestedBatches();
  ASSERT_TRUE(port_->Apply(same).refused.ok());
  Look();
  EXPECT_EQ(Told("a"), 64);
}

TEST_F(BatchControlTest, AJobThatReportsEverNewNumbersCostsNoMore) {
  runtime_.AddJob("a", 2, 1, 4);
  Serve();
  Give({2});
  for (int i = 1; i <= 100; ++i) {
    runtime_.batches["a"] = {2, i, 0};
    Report("a", 2, 100);
  }
  EXPECT_EQ(JobOf("a").training->settings(), 64U);
  const auto noises = [&] {
    journal_->Commit();
    std::ifstream in(folder_ / "journal.jsonl");
    std::size_t lines = 0;
    for (std::string line; std::getline(in, line);) {
      lines += line.find("\"what\":\"noise\"") == std::string::npos ? 0 : 1;
    }
    return lines;
  };
  const std::size_t before = noises();
  for (int look = 0; look < 100; ++look) {  // of a tenth of a second each
    runtime_.jobs.at("a").progress.noise_scale = look % 2 == 0 ? 1e300 : 0;
    Look();
  }
  EXPECT_LE(noises(), before + 11);
  EXPECT_LE(Told("a"), 4096);
}

TEST_F(BatchControlTest, TheNextDaemonKnowsWhatWasMeasured) {
  runtime_.AddJob("a", 2, 1, 8);
  Serve();
  Give({2});
  Report("a", 2, 1000);
  Give({4});
  Report("a", 4, 1500);
  const std::uint64_t before = JobOf("a").table->fingerprint();
  const std::int64_t batch = Told("a");
  const std::int32_t running = JobOf("a").running;
  journal_->Commit();
  runtime_.batches.clear();
  Serve();
  EXPECT_EQ(JobOf("a").table->fingerprint(), before);
  EXPECT_EQ(JobOf("a").running, running);
  Look();
  EXPECT_NEAR(double(Told("a")), double(batch), 0.15 * double(batch)) << "told again";
}

TEST_F(BatchControlTest, AJobBeginsWithTheTimesOfItsUsersLastOne) {
  for (const char* id : {"a", "b", "c"}) runtime_.AddJob(id, 2, 1, 4).model = "m";
  runtime_.jobs.at("c").job.user = "other";
  Serve();
  Give({2, 0, 0});
  Report("a", 2, 1000);
  runtime_.Finish("a");
  Look();
  Give({2, 0});
  runtime_.jobs.at("b").progress.batch = runtime_.jobs.at("a").progress.batch;
  runtime_.jobs.at("b").progress.batch.iteration = kUnknown;
  runtime_.jobs.at("c").progress.batch = runtime_.jobs.at("b").progress.batch;
  Look();
  EXPECT_EQ(JobOf("b").training->most_gpus(), 2);
  EXPECT_FALSE(JobOf("b").training->known()) << "its gradients are its own";
  EXPECT_EQ(JobOf("c").training->most_gpus(), 0) << "nobody's numbers decide about others";
}

}  // namespace
}  // namespace allot
