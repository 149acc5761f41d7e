// The belief 'completed': what of the rates was profiled, what is estimated, and what is learned.

#include <gtest/gtest.h>

#include <utility>

#include "core/error.h"
#include "sim/belief.h"
#include "tests/unit/sim/small_world.h"

namespace allot {
namespace {

// Fast by 1, 2 and 3, on types that are by 1, 4 and 2: one rate of each says all. The odd one goes
// against the others' order: nobody could guess it.
const Catalogue& Products() {
  static const Catalogue catalogue = Catalogue::FromCsv(
      "profile,gpus,a,b,c\nm1,1,1,4,2\nm2,1,2,8,4\nm3,1,3,12,6\nodd,1,90,1,30\n", "products.csv");
  return catalogue;
}

Scenario ProductWorld(const std::vector<std::string>& models, SimOptions options = {}) {
  Workload workload = testing_support::WorkloadOf(
      std::vector<testing_support::SmallJob>(models.size(), {0, 1, 1000}));
  for (std::size_t i = 0; i < models.size(); ++i) {
    workload.jobs[i].model = workload.models.Intern(models[i]);
  }
  return Scenario(std::move(workload), ClusterSpec::Parse("4x1:a,4x1:b,4x1:c"), std::move(options),
                  Products());
}

// Shown rates of a job by type, relative to the true ones.
std::vector<double> ShownRatios(Belief& belief, const Scenario& world, JobIndex job) {
  const ConfigurationTable& truth = *world.facts(job).table;
  std::vector<double> ratios;
  for (GpuTypeIndex type = 0; type < 3; ++type) {
    const std::int32_t c = truth.Find(UnitCounts{1}, type);
    ratios.push_back((*belief.TableOf(job))[c].rate / truth[c].rate);
  }
  return ratios;
}

int ExactOnes(const std::vector<double>& ratios) {
  return static_cast<int>(std::count(ratios.begin(), ratios.end(), 1.0));
}

TEST(CompletedBelief, AllAreKnownWhereAllAreReferences) {
  const Scenario world = ProductWorld({"m1", "m2", "m3", "odd"});
  const auto belief = MakeBelief("completed:references=4,profiled=0", world);
  for (JobIndex job = 0; job < 4; ++job)
    EXPECT_EQ(ExactOnes(ShownRatios(*belief, world, job)), 3) << job;
}

TEST(CompletedBelief, AllAreKnownWhereAllIsProfiled) {
  const Scenario world = ProductWorld({"m1", "odd"});
  const auto belief = MakeBelief("completed:references=0,profiled=1", world);
  EXPECT_EQ(ExactOnes(ShownRatios(*belief, world, 1)), 3);
}

TEST(CompletedBelief, OneTypeIsProfiledAtLeastAndTheRestFollows) {
  const Scenario world = ProductWorld({"m1", "m2", "m3"});
  const auto belief = MakeBelief("completed:references=1,profiled=0", world);
  for (JobIndex job = 0; job < 3; ++job) {
    for (const double ratio : ShownRatios(*belief, world, job)) EXPECT_NEAR(ratio, 1, 1e-6) << job;
  }
}

TEST(CompletedBelief, NearestTakesTheReferencesSpeeds) {
  const Scenario world = ProductWorld({"m1", "m2", "m3"});
  const auto belief = MakeBelief("completed:references=1,profiled=0,nearest=true", world);
  for (JobIndex job = 0; job < 3; ++job) {
    for (const double ratio : ShownRatios(*belief, world, job)) EXPECT_NEAR(ratio, 1, 1e-6) << job;
  }
}

// Of four models three are references: with some seed the odd one is not.
TEST(CompletedBelief, WhatHasRunIsKnown) {
  SimOptions options;
  for (options.seed = 0; options.seed < 20; ++options.seed) {
    const Scenario world = ProductWorld({"m1", "m2", "m3", "odd"}, options);
    const auto belief = MakeBelief("completed:references=3,profiled=0", world);
    const std::vector<double> before = ShownRatios(*belief, world, 3);
    if (ExactOnes(before) == 3) continue;
    EXPECT_EQ(ExactOnes(before), 1) << "one type was profiled";
    for (std::int32_t c = 0; c < 3; ++c) {
      const double rate = (*world.facts(3).table)[c].rate;
      belief->Take({.job = 3, .configuration = c, .rate = rate, .seconds = 60});
    }
    EXPECT_EQ(ExactOnes(ShownRatios(*belief, world, 3)), 3);
    return;
  }
  FAIL() << "the odd model was a reference with each of 20 seeds";
}

// Half as fast from half of the work on: so are all estimates, and what was learned.
TEST(CompletedBelief, FollowsRatesThatChange) {
  SimOptions options;
  options.progress = "phases:at=0.5,factors=0.5";
  for (options.seed = 0; options.seed < 20; ++options.seed) {
    const Scenario world = ProductWorld({"m1", "m2", "m3", "odd"}, options);
    const auto belief = MakeBelief("completed:references=3,profiled=0", world);
    const std::vector<double> before = ShownRatios(*belief, world, 3);
    if (ExactOnes(before) == 3) continue;
    EXPECT_EQ(belief->measured_after(), 0);
    const double done = 0.6 * world.facts(3).work;
    EXPECT_TRUE(belief->Take({.job = 3, .configuration = 0, .done = done, .seconds = 30}));
    const std::vector<double> halved = ShownRatios(*belief, world, 3);
    for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(halved[c], before[c] / 2, 1e-12);
    // A minute in each, in two pieces.
    for (std::int32_t c = 0; c < 3; ++c) {
      for (int piece = 0; piece < 2; ++piece) {
        belief->Take({.job = 3, .configuration = c, .done = done, .seconds = 30});
      }
    }
    for (const double ratio : ShownRatios(*belief, world, 3)) EXPECT_EQ(ratio, 0.5);
    return;
  }
  FAIL() << "the odd model was a reference with each of 20 seeds";
}

TEST(CompletedBelief, FollowsRatesThatChangeAlsoWhereItLearnsNothing) {
  SimOptions options;
  options.progress = "phases:at=0.5,factors=0.5";
  const Scenario world = ProductWorld({"m1", "m2", "m3", "odd"}, options);
  const auto belief = MakeBelief("completed:references=0,profiled=0,learns=false", world);
  const std::vector<double> before = ShownRatios(*belief, world, 3);
  const double done = 0.6 * world.facts(3).work;
  belief->Take({.job = 3, .configuration = 0, .done = done, .seconds = 600});
  const std::vector<double> halved = ShownRatios(*belief, world, 3);
  for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(halved[c], before[c] / 2, 1e-9 * before[c]);
}

TEST(CompletedBelief, SameSeedSameTables) {
  const Scenario world = ProductWorld({"m1", "m2", "m3", "odd"});
  const auto one = MakeBelief("completed:0.3", world);
  const auto other = MakeBelief("completed:0.3", world);
  for (JobIndex job = 0; job < 4; ++job) {
    EXPECT_EQ(one->TableOf(job)->fingerprint(), other->TableOf(job)->fingerprint());
  }
}

TEST(CompletedBelief, RefusesAShareAboveOne) {
  EXPECT_THROW(CheckBelief("completed:profiled=1.2"), Error);
  EXPECT_NO_THROW(CheckBelief("completed:profiled=0.3,references=16,nearest=true"));
}

}  // namespace
}  // namespace allot
