#include "stages/fill/hull_fill.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "tests/unit/sched/world.h"

namespace allot {
namespace {

using testing_support::Permuted;
using testing_support::Shuffled;
using testing_support::World;

std::vector<std::int32_t> AllRows(const Observation& o) {
  std::vector<std::int32_t> rows(o.job.size());
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

// GPUs of each job (by JobIndex) after a fill.
std::vector<int> GpusOf(const Observation& o, const std::vector<Score>& scores,
                        HullFillOptions options = {}) {
  HullFill fill(std::move(options));
  std::vector<Grant> grants;
  const auto rows = AllRows(o);
  fill.Fill(o, rows, scores, &grants);
  std::vector<int> gpus(o.job.size(), 0);
  for (const Grant& grant : grants) {
    const auto r = static_cast<std::size_t>(grant.row);
    gpus[static_cast<std::size_t>(o.job[r])] = (*o.table[r])[grant.configuration].demand.gpus;
  }
  return gpus;
}

// Rates with strictly falling gains, one entry for each GPU count.
std::vector<double> ConcaveRates(int counts, Rng* rng) {
  std::vector<double> gains;
  gains.reserve(static_cast<std::size_t>(counts));
  for (int i = 0; i < counts; ++i) gains.push_back(rng->Uniform(0.1, 5.0));
  std::sort(gains.rbegin(), gains.rend());
  std::partial_sum(gains.begin(), gains.end(), gains.begin());
  return gains;
}

double RateOf(const Observation& o, std::size_t row, int gpus) {
  if (gpus == 0) return 0;
  const ConfigurationTable& table = *o.table[row];
  return table[table.Find({static_cast<std::int16_t>(gpus)}, 0)].rate;
}

double BestSum(const Observation& o, const std::vector<Score>& scores, std::size_t row, int left) {
  if (row == o.job.size()) return 0;
  double best = 0;
  for (int gpus = 0; gpus <= std::min(left, o.table[row]->size()); ++gpus) {
    const double own =
        std::exp(scores[row].u) * RateOf(o, row, gpus) / o.table[row]->reference_rate();
    best = std::max(best, own + BestSum(o, scores, row + 1, left - gpus));
  }
  return best;
}

TEST(HullFillTest, MaximisesWeightedThroughputWhenBetaIsZero) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Rng rng(seed, "hull-fill-test");
    World world("1x6");
    std::vector<Score> scores;
    for (int job = 0; job < 4; ++job) {
      world.Add({ConcaveRates(1 + static_cast<int>(rng.Below(5)), &rng)});
      scores.push_back({.u = static_cast<float>(rng.Normal())});
    }
    const std::vector<int> gpus = GpusOf(world.o, scores);
    double sum = 0;
    for (std::size_t row = 0; row < gpus.size(); ++row) {
      sum += std::exp(scores[row].u) * RateOf(world.o, row, gpus[row]) /
             world.o.table[row]->reference_rate();
    }
    const double best = BestSum(world.o, scores, 0, 6);
    EXPECT_NEAR(sum, best, 1e-5 * best) << "seed " << seed;
  }
}

TEST(HullFillTest, DoesNotDependOnTheOrderOfRows) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Rng rng(seed, "hull-fill-order");
    World world("2x4");
    std::vector<Score> scores;
    for (int job = 0; job < 8; ++job) {
      world.Add({ConcaveRates(4, &rng)});
      scores.push_back({.u = 0, .beta = 0.5F, .kappa = 0.1F});
    }
    const auto order = Shuffled(8, &rng);
    std::vector<Score> shuffled;
    shuffled.reserve(order.size());
    for (const std::size_t row : order) shuffled.push_back(scores[row]);
    EXPECT_EQ(GpusOf(world.o, scores), GpusOf(Permuted(world.o, order), shuffled))
        << "seed " << seed;
  }
}

TEST(HullFillTest, EqualJobsAreServedBySubmission) {
  World world("1x2");
  for (int job = 0; job < 3; ++job) world.Add({{1.0}});
  world.o.submit = {7, 3, 5};
  EXPECT_EQ(GpusOf(world.o, std::vector<Score>(3)), (std::vector{0, 1, 1}));
}

TEST(HullFillTest, LargeBetaGivesEqualSpeedups) {
  World world("1x4");
  world.Add({{10, 19, 27, 34}});
  world.Add({{1, 1.9, 2.7, 3.4}});
  EXPECT_EQ(GpusOf(world.o, {{.beta = 5}, {.beta = 5}}), (std::vector{2, 2}));
}

TEST(HullFillTest, KappaKeepsTheRunningSize) {
  World world("1x4");
  world.Add({{1, 1.9, 2.7, 3.4}});
  world.Add({{1, 1.9, 2.7, 3.4}});
  world.Run(0, 2, {{0, 0b111}});  // 3 GPUs
  world.Run(1, 0, {{0, 0b1000}});
  EXPECT_EQ(GpusOf(world.o, {{.kappa = 0}, {.kappa = 0}}), (std::vector{2, 2}));
  EXPECT_EQ(GpusOf(world.o, {{.kappa = 1}, {.kappa = 1}}), (std::vector{3, 1}));
}

TEST(HullFillTest, FirstBonusServesEveryJobFirst) {
  World world("1x4");
  world.Add({{1, 1.9, 2.7, 3.4}});
  for (int job = 0; job < 3; ++job) world.Add({{1, 1.5}});
  const std::vector<Score> scores = {{.u = 5}, {}, {}, {}};
  EXPECT_EQ(GpusOf(world.o, scores), (std::vector{4, 0, 0, 0}));
  EXPECT_EQ(GpusOf(world.o, scores, {.first_bonus = 100}), (std::vector{1, 1, 1, 1}));
}

// Two equal jobs; that of the second is not known beyond one GPU.
TEST(HullFillTest, ExploresOneStepBeyondWhatIsKnownWhereThatRepays) {
  World world("1x3");
  const std::vector<double> rates = {1, 1.9, 2.7};
  world.Add({rates});
  ConfigurationTable unknown = testing_support::GpuTable({rates});
  unknown.Renew(rates, ConfigurationTable::kNoLimits, std::vector<float>{0, 0.5F, 0.9F});
  world.Add(std::move(unknown), {1});
  world.o.done_work = {1e6, 1e6};  // and as much to come
  EXPECT_EQ(GpusOf(world.o, {{}, {}}), (std::vector{2, 1}));
  EXPECT_EQ(GpusOf(world.o, {{}, {}}, {.explore = 1}), (std::vector{1, 2}));
  EXPECT_EQ(GpusOf(world.o, {{.u = 0.1F}, {}}, {.explore = 0.1F}), (std::vector{2, 1}))
      << "worth its spread, no more";
  world.o.done_work = {300, 300};  // ends within an interval
  EXPECT_EQ(GpusOf(world.o, {{}, {}}, {.explore = 1}), (std::vector{2, 1}));
}

// With a trace every step is considered by itself; without one those that certainly fit are taken
// together, and the last price says where to begin.
TEST(HullFillTest, StepsTakenTogetherAreThoseTakenOneByOne) {
  int scarce = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Rng rng(seed, "hull-fill-together");
    const bool two_types = rng.Below(2) == 0;
    World world(two_types ? "24x4:a,16x4:b" : "20x4:a");
    const auto few = [&rng] { return static_cast<float>(rng.Below(4)) - 1; };  // many equal keys
    std::vector<std::vector<Score>> decisions(2);
    for (int job = 0; job < 32; ++job) {
      const auto most = [&rng] { return 1 + static_cast<int>(rng.Below(8)); };
      std::vector<std::vector<double>> rates = {ConcaveRates(most(), &rng)};
      if (two_types && rng.Below(2) == 0) rates.push_back(ConcaveRates(most(), &rng));
      const std::int32_t row = world.Add(rates);
      if (rng.Below(2) == 0) world.o.running[static_cast<std::size_t>(row)] = 0;
      for (auto& scores : decisions) scores.push_back({.u = few(), .beta = few(), .kappa = few()});
    }
    const auto rows = AllRows(world.o);
    HullFill fill({.first_bonus = rng.Below(2) == 0 ? 0.0F : 5.0F});
    for (const std::vector<Score>& scores : decisions) {
      std::vector<Grant> together;
      std::vector<Grant> one_by_one;
      std::vector<FillStep> trace;
      fill.Fill(world.o, rows, scores, &together);
      fill.Fill(world.o, rows, scores, &one_by_one, &trace);
      ASSERT_EQ(together.size(), one_by_one.size()) << "seed " << seed;
      GpuCount held = 0;
      for (std::size_t i = 0; i < together.size(); ++i) {
        ASSERT_EQ(together[i].row, one_by_one[i].row) << "seed " << seed;
        ASSERT_EQ(together[i].configuration, one_by_one[i].configuration) << "seed " << seed;
        const auto& table = *world.o.table[static_cast<std::size_t>(together[i].row)];
        held += table[together[i].configuration].demand.gpus;
      }
      scarce += held == world.o.cluster->total().gpus ? 1 : 0;
    }
  }
  EXPECT_GT(scarce, 100);  // else nothing was ever refused
}

// With a trace all rows are looked at; without one, of a long queue, those that can be served.
TEST(HullFillTest, LongQueuesAreServedAsIfAllRowsWereLookedAt) {
  int elastic_served = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Rng rng(seed, "hull-fill-queue");
    World world("6x4");
    // Of one table each: jobs of 1, 2, 4 or 8 GPUs only, and one kind that may have several sizes.
    std::vector<std::vector<double>> kinds = {{1}, {0, 1}, {0, 0, 0, 1}, {0, 0, 0, 0, 0, 0, 0, 1}};
    kinds.push_back(ConcaveRates(3, &rng));
    const bool any_elastic = rng.Below(2) == 0;
    std::vector<const ConfigurationTable*> tables(kinds.size(), nullptr);
    std::vector<Score> scores;
    for (int job = 0; job < 300 + static_cast<int>(rng.Below(300)); ++job) {
      const std::size_t kind = rng.Below(20) == 0 && any_elastic ? 4 : rng.Below(4);
      const auto row = static_cast<std::size_t>(world.Add({kinds[kind]}));
      if (tables[kind] == nullptr) tables[kind] = world.o.table[row];
      world.o.table[row] = tables[kind];
      if (rng.Below(40) == 0) world.o.running[row] = 0;
      scores.push_back({.u = static_cast<float>(rng.Below(12)),  // many equal keys
                        .beta = rng.Below(2) == 0 ? 0.3F : 1,
                        .kappa = 0.3F});
    }
    const auto rows = AllRows(world.o);
    HullFill fill;
    std::vector<Grant> of_some;
    std::vector<Grant> of_all;
    std::vector<FillStep> trace;
    fill.Fill(world.o, rows, scores, &of_some);
    fill.Fill(world.o, rows, scores, &of_all, &trace);
    ASSERT_EQ(of_some.size(), of_all.size()) << "seed " << seed;
    for (std::size_t i = 0; i < of_all.size(); ++i) {
      ASSERT_EQ(of_some[i].row, of_all[i].row) << "seed " << seed;
      ASSERT_EQ(of_some[i].configuration, of_all[i].configuration) << "seed " << seed;
      const auto row = static_cast<std::size_t>(of_all[i].row);
      elastic_served += world.o.table[row] == tables[4] ? 1 : 0;
    }
  }
  EXPECT_GT(elastic_served, 10);
}

TEST(HullFillTest, StaysOnOneGpuType) {
  World world("1x2:fast,1x2:slow");
  world.Add({{4, 8}, {1, 2}});
  world.Add({{4, 8}, {1, 2}});
  std::vector<Grant> grants;
  HullFill fill;
  fill.Fill(world.o, AllRows(world.o), std::vector<Score>{{.u = 1}, {}}, &grants);
  ASSERT_EQ(grants.size(), 2U);
  const Configuration& first = (*world.o.table[0])[grants[0].configuration];
  const Configuration& second = (*world.o.table[1])[grants[1].configuration];
  EXPECT_EQ(first.gpu_type, 0);
  EXPECT_EQ(first.demand.gpus, 2);
  EXPECT_EQ(second.gpu_type, 1);
  EXPECT_EQ(second.demand.gpus, 2);
}

TEST(HullFillTest, LeftoversGoToSizesBelowTheHull) {
  // 2 GPUs lie below the chord from 1 to 4, so that the hull jumps; 3 GPUs in all leave 2 for the
  // jump.
  World world("1x3");
  world.Add({{1, 1.1, 1.2, 4}});
  EXPECT_EQ(GpusOf(world.o, {{}}), (std::vector{3}));
}

TEST(HullFillTest, LeftoversDoNotResizeForLessThanTheRestart) {
  World world("1x3");
  world.Add({{1, 1.05, 1.06, 4}});
  world.Run(0, 0, {{0, 1}});
  world.o.restart_cost[0] = 60;  // of 300 s: a fifth of the new rate is lost, a twentieth gained
  EXPECT_EQ(GpusOf(world.o, {{}}), (std::vector{1}));
}

TEST(HullFillTest, ZeroJobsGiveNoGrants) {
  World world("1x3");
  EXPECT_TRUE(GpusOf(world.o, {}).empty());
}

}  // namespace
}  // namespace allot
