#include "features/encoder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <set>
#include <sstream>

#include "features/feature_table.h"
#include "tests/unit/sched/world.h"

namespace allot {
namespace {

using testing_support::Permuted;
using testing_support::Shuffled;
using testing_support::World;

// Fills a world with `jobs` jobs in random states, some running, some without an estimate.
void AddRandomJobs(int jobs, Rng* rng, World* world) {
  world->o.now = 30'000;
  for (int i = 0; i < jobs; ++i) {
    const double rate = rng->Uniform(0.5, 20);
    const auto row = world->Add({{rate, 1.9 * rate, 2.5 * rate}});
    const auto r = static_cast<std::size_t>(row);
    world->o.submit[r] = 300.0 * static_cast<double>(rng->Below(100));
    world->o.done_work[r] = rng->Uniform(0, 1e5);
    if (rng->Below(4) > 0) world->o.estimated_work[r] = rng->Uniform(1, 1e6);
    world->o.attained_seconds[r] = rng->Uniform(0, 1e4);
    world->o.attained_gpu_seconds[r] = 2 * world->o.attained_seconds[r];
    if (i < 3) world->Run(row, 1, {{i, 0b11}});
  }
}

FeatureBatch Encode(const Observation& o) {
  FeatureBatch batch;
  FeatureEncoder().Encode(o, &batch);
  return batch;
}

TEST(EncoderTest, PermutingRowsPermutesJobsAndLeavesTheContext) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Rng rng(seed, "encoder-test");
    World world("3x2");
    AddRandomJobs(9, &rng, &world);
    const auto order = Shuffled(9, &rng);
    const FeatureBatch before = Encode(world.o);
    const FeatureBatch after = Encode(Permuted(world.o, order));
    for (std::size_t i = 0; i < order.size(); ++i) {
      for (std::size_t f = 0; f < kJobFeatures; ++f) {
        EXPECT_EQ(after.jobs[i * kJobFeatures + f], before.jobs[order[i] * kJobFeatures + f])
            << JobFeatureTable()[f].name;
      }
    }
    for (std::size_t f = 0; f < kContextFeatures; ++f) {
      EXPECT_NEAR(after.context[f], before.context[f], 1e-5) << f;
    }
  }
}

void ExpectWithin(const std::vector<float>& numbers, const std::vector<FeatureInfo>& table,
                  double extreme) {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const FeatureInfo& f = table[i % table.size()];
    EXPECT_GE(numbers[i], f.low) << f.name << " at " << extreme;  // NaN is neither
    EXPECT_LE(numbers[i], f.high) << f.name << " at " << extreme;
  }
}

// Forecasts know how long jobs are, in seconds; all else is relative to the interval.
constexpr int kRelativeJobFeatures = kJobFeatures - 4;

TEST(EncoderTest, AllTimesScaledGiveTheSameFeatures) {
  Rng rng(1, "encoder-test");
  World world("3x2");
  AddRandomJobs(9, &rng, &world);
  const FeatureBatch before = Encode(world.o);
  for (const double scale : {0.01, 3.0, 1000.0}) {
    Observation o = world.o;
    o.now *= scale;
    o.interval *= scale;
    for (std::size_t r = 0; r < o.job.size(); ++r) {
      o.submit[r] *= scale;
      o.waiting_since[r] *= scale;
      o.done_work[r] *= scale;
      o.estimated_work[r] *= scale;
      o.attained_seconds[r] *= scale;
      o.attained_gpu_seconds[r] *= scale;
      o.restart_cost[r] *= scale;
    }
    const FeatureBatch after = Encode(o);
    for (std::size_t i = 0; i < before.jobs.size(); ++i) {
      if (i % kJobFeatures >= kRelativeJobFeatures) continue;
      EXPECT_NEAR(after.jobs[i], before.jobs[i], 1e-5)
          << JobFeatureTable()[i % kJobFeatures].name << " x " << scale;
    }
    for (std::size_t f = 0; f < kContextFeatures; ++f) {
      if (f < 2 * kJobFeatures && f % kJobFeatures >= kRelativeJobFeatures) continue;
      EXPECT_NEAR(after.context[f], before.context[f], 1e-5) << f << " x " << scale;
    }
  }
}

TEST(EncoderTest, ExtremesStayFiniteAndBounded) {
  for (const double extreme : {1e-30, 1e30}) {
    World world("3x2");
    world.Add({{1, 2}});
    world.Add({{1e-12, 1e12}});
    world.o.now = extreme;
    world.o.estimated_work = {extreme, kUnknown};
    world.o.done_work = {extreme, extreme};
    world.o.attained_gpu_seconds = {extreme, 0};
    world.o.restart_cost = {extreme, extreme};
    world.o.submit = {0, 0};  // nobody comes later
    const FeatureBatch batch = Encode(world.o);
    ExpectWithin(batch.jobs, JobFeatureTable(), extreme);
    ExpectWithin(batch.context, ContextFeatureTable(), extreme);
  }
}

// Two jobs of the same work are equal to whoever compares them, however many GPUs they asked for.
TEST(EncoderTest, ForecastsAreOfTheWorkWhateverWasRequested) {
  World world("3x2");
  const std::vector<std::vector<double>> rates = {{1, 1.9, 2.5, 3}};
  for (const std::int16_t requested : {std::int16_t{1}, std::int16_t{4}}) {
    const auto row = world.Add(rates, requested);
    world.o.estimated_work[static_cast<std::size_t>(row)] = 7200;
    world.o.done_work[static_cast<std::size_t>(row)] = 1800;
  }
  const FeatureBatch batch = Encode(world.o);
  for (const JobFeature f : {kForecastRank, kForecastMedian, kForecastHigh}) {
    EXPECT_NEAR(batch.jobs[f], batch.jobs[kJobFeatures + f], 1e-5) << JobFeatureTable()[f].name;
  }
}

TEST(EncoderTest, NoJobGivesAZeroContext) {
  World world("1x1");
  const FeatureBatch batch = Encode(world.o);
  EXPECT_TRUE(batch.jobs.empty());
  EXPECT_EQ(batch.context, std::vector<float>(kContextFeatures, 0.0F));
}

TEST(EncoderTest, EveryFeatureHasAName) {
  EXPECT_EQ(JobFeatureTable().size(), static_cast<std::size_t>(kJobFeatures));
  EXPECT_EQ(ClusterFeatureTable().size(), static_cast<std::size_t>(kClusterFeatures));
  EXPECT_EQ(ContextFeatureTable().size(), static_cast<std::size_t>(kContextFeatures));
  for (const auto* table : {&JobFeatureTable(), &ContextFeatureTable()}) {
    std::set<std::string> names;
    for (const FeatureInfo& f : *table) {
      EXPECT_EQ(f.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), std::string::npos)
          << f.name;
      EXPECT_TRUE(names.insert(f.name).second) << f.name << " twice";
    }
  }
}

TEST(EncoderTest, ThePageOfFeaturesIsTheTable) {
  std::ifstream page(ALLOT_SOURCE_DIR "/docs/features.md");
  std::stringstream text;
  text << page.rdbuf();
  for (const auto* table : {&JobFeatureTable(), &ContextFeatureTable(), &ConfigurationColumnTable(),
                            &NodeColumnTable()}) {
    const std::string rows = FeatureTableMarkdown(*table);
    EXPECT_NE(text.str().find(rows), std::string::npos) << "docs/features.md must hold\n" << rows;
  }
}

}  // namespace
}  // namespace allot
