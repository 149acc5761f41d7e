// The points of the index that docs/learning-method.md names: each gives the sizes of the
// heuristic, or the best value of the objective, that it is said to be.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "core/rng.h"
#include "sched/policy.h"
#include "tests/unit/sched/world.h"

namespace allot {
namespace {

using testing_support::World;

// The configuration of every row, -1: none.
std::vector<std::int32_t> Sizes(const World& world, const std::string& spec) {
  Allocation allocation;
  MakePolicy(spec)->Decide(world.o, &allocation);
  std::vector<std::int32_t> sizes(world.o.job.size(), -1);
  for (const Allocation::Entry& entry : allocation.entries()) {
    sizes[static_cast<std::size_t>(entry.job)] = entry.configuration;
  }
  return sizes;
}

// Eight waiting jobs of 1 to 6 GPUs with lengths, ages and service all over the place; 8 GPUs.
std::unique_ptr<World> RigidWorld(std::uint64_t seed) {
  Rng rng(seed, "rigid");
  auto world = std::make_unique<World>("2x4");
  for (int job = 0; job < 8; ++job) {
    const auto gpus = static_cast<std::int16_t>(1 + rng.Below(6));
    std::vector<double> rates(static_cast<std::size_t>(gpus), 0.0);
    rates.back() = 1;
    world->Add({rates}, gpus);
    const auto r = static_cast<std::size_t>(job);
    world->o.attained_seconds[r] = rng.Exponential(5000);
    world->o.attained_gpu_seconds[r] = gpus * world->o.attained_seconds[r];
    world->o.done_work[r] = world->o.attained_seconds[r];
    world->o.estimated_work[r] = world->o.done_work[r] + 10 + rng.Exponential(5000);
    world->o.submit[r] = 700.0 * job;
  }
  world->o.now = 100000;
  return world;
}

// `jobs` waiting elastic jobs of rates n^p on 8 GPUs.
std::unique_ptr<World> ElasticWorld(std::uint64_t seed, int jobs) {
  Rng rng(seed, "elastic");
  auto world = std::make_unique<World>("2x4");
  for (int job = 0; job < jobs; ++job) {
    const double p = 0.3 + 0.65 * rng.Uniform();
    std::vector<double> rates;
    for (int n = 1; n <= 8; ++n) rates.push_back(std::pow(n, p));
    world->Add({rates}, 1);
    world->o.estimated_work[static_cast<std::size_t>(job)] = 10 + rng.Exponential(5000);
  }
  world->o.now = 1000;
  return world;
}

TEST(IndexPointsTest, ShortestRemainingTime) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const auto rigid = RigidWorld(seed);
    EXPECT_EQ(Sizes(*rigid, "index:alpha=1000,beta=0,kappa=0"), Sizes(*rigid, "srtf")) << seed;
    const auto elastic = ElasticWorld(seed, 4);
    EXPECT_EQ(Sizes(*elastic, "index:alpha=1000,beta=0,kappa=0"),
              Sizes(*elastic, "srtf:sizing=hull/alpha=100/beta=0/kappa=0"))
        << seed;
  }
}

TEST(IndexPointsTest, LeastAttainedService) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const auto world = RigidWorld(seed);
    EXPECT_EQ(Sizes(*world, "index:basis=attained,alpha=1000,beta=0,kappa=0"), Sizes(*world, "las"))
        << seed;
  }
}

TEST(IndexPointsTest, FirstInFirstOut) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const auto world = RigidWorld(seed);
    EXPECT_EQ(Sizes(*world, "index:basis=submit,alpha=1000,beta=0,kappa=0"), Sizes(*world, "fifo"))
        << seed;
  }
}

TEST(IndexPointsTest, UnknownLengthsHaveAWeightOfTheirOwn) {
  const std::string both = "index:alpha=0,rank=0.75,unknown-alpha=0.5";
  const std::string by_rank = "index:alpha=0,rank=0.75";
  const std::string by_time = "index:alpha=0.5";
  bool differ = false;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const auto world = ElasticWorld(seed, 4);
    EXPECT_EQ(Sizes(*world, both), Sizes(*world, by_rank)) << seed;
    world->o.done_work = world->o.estimated_work;
    world->o.estimated_work.assign(4, kUnknown);
    EXPECT_EQ(Sizes(*world, both), Sizes(*world, by_time)) << seed;
    differ = differ || Sizes(*world, by_rank) != Sizes(*world, by_time);
  }
  EXPECT_TRUE(differ) << "the two weights give different sizes without estimates";
}

TEST(IndexPointsTest, JobsOfOneSizeHaveAWeightOfTheirOwn) {
  const std::string both = "index:alpha=0,rank=0.75,rigid-alpha=0.5";
  bool differ = false;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const auto rigid = RigidWorld(seed);
    EXPECT_EQ(Sizes(*rigid, both), Sizes(*rigid, "index:alpha=0.5")) << seed;
    differ = differ || Sizes(*rigid, both) != Sizes(*rigid, "index:alpha=0,rank=0.75");
    const auto elastic = ElasticWorld(seed, 4);
    EXPECT_EQ(Sizes(*elastic, both), Sizes(*elastic, "index:alpha=0,rank=0.75")) << seed;
  }
  EXPECT_TRUE(differ) << "the two weights give different orders";
}

// Speed of a configuration against the smallest one.
double Speed(const World& world, std::size_t row, std::int32_t configuration) {
  const ConfigurationTable& table = *world.o.table[row];
  return configuration < 0 ? 0 : table[configuration].rate / table.reference_rate();
}

using Objective = std::function<double(std::size_t row, double speed)>;

double ValueOf(const World& world, const std::vector<std::int32_t>& sizes,
               const Objective& objective) {
  double value = 0;
  for (std::size_t r = 0; r < sizes.size(); ++r) value += objective(r, Speed(world, r, sizes[r]));
  return value;
}

// The best value over all sizes of three or more jobs that use at most 8 GPUs.
double BestValue(const World& world, const Objective& objective, std::size_t row = 0,
                 int gpus = 8) {
  if (row == world.o.job.size()) return 0;
  double best = -1e300;
  for (int n = 0; n <= gpus; ++n) {
    const double here = objective(row, Speed(world, row, n - 1));
    best = std::max(best, here + BestValue(world, objective, row + 1, gpus - n));
  }
  return best;
}

// (u, beta) = (ln weight, beta): sum of weight x speed^(1 - beta) / (1 - beta).
Objective AlphaFair(double beta, const std::vector<double>& weights = {}) {
  return [beta, weights](std::size_t row, double speed) {
    const double weight = weights.empty() ? 1 : weights[row];
    if (speed <= 0) return beta >= 1 ? -1e9 : 0.0;
    return weight * (beta == 1 ? std::log(speed) : std::pow(speed, 1 - beta) / (1 - beta));
  };
}

// Steps are valued at their middle, which may be off by one GPU where two steps are nearly alike.
void ExpectNearlyBest(const std::string& spec, double beta, bool weighted, double tolerance) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const auto world = ElasticWorld(seed, 4);
    const Objective objective =
        AlphaFair(beta, weighted ? world->o.estimated_work : std::vector<double>{});
    const double best = BestValue(*world, objective);
    const double value = ValueOf(*world, Sizes(*world, spec), objective);
    EXPECT_GE(value, best - tolerance * std::abs(best)) << spec << ", seed " << seed;
  }
}

TEST(IndexPointsTest, Throughput) {
  ExpectNearlyBest("index:alpha=0,beta=0,kappa=0", 0, false, 1e-6);
}

TEST(IndexPointsTest, ProportionalFairness) {
  ExpectNearlyBest("index:alpha=0,beta=1,kappa=0,first-bonus=100", 1, false, 0.01);
}

TEST(IndexPointsTest, SiaAtItsPower) {  // p = -0.5
  ExpectNearlyBest("index:alpha=0,beta=1.5,kappa=0,first-bonus=100", 1.5, false, 0.01);
}

TEST(IndexPointsTest, PolluxAtItsPower) {  // p = -1
  ExpectNearlyBest("index:alpha=0,beta=2,kappa=0,first-bonus=100", 2, false, 0.01);
}

TEST(IndexPointsTest, OptimusIsLeastRemainingTimeInSum) {
  ExpectNearlyBest("index:alpha=-1,beta=2,kappa=0,first-bonus=100", 2, true, 0.01);
  ExpectNearlyBest("optimus", 2, true, 1e-6);
}

TEST(IndexPointsTest, DominantResourceFairnessOfEqualJobs) {
  for (int jobs = 1; jobs <= 10; ++jobs) {
    World world("2x4");
    for (int job = 0; job < jobs; ++job) {
      world.Add({{1, 1.9, 2.7, 3.4, 4.0, 4.5, 4.9, 5.2}});
      world.o.submit.back() = 0;
    }
    world.o.now = 0;
    const std::vector<std::int32_t> shares = Sizes(world, "drf");
    EXPECT_EQ(Sizes(world, "index:alpha=0,beta=20,kappa=0,first-bonus=100"), shares) << jobs;
    EXPECT_EQ(Sizes(world, "max-min"), shares) << jobs;
  }
}

TEST(IndexPointsTest, MaxMin) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const auto world = ElasticWorld(seed, 3);
    const auto least = [&world](const std::vector<std::int32_t>& sizes) {
      double speed = 1e9;
      for (std::size_t r = 0; r < sizes.size(); ++r) {
        speed = std::min(speed, Speed(*world, r, sizes[r]));
      }
      return speed;
    };
    double best = 0;
    for (std::int32_t a = 0; a < 6; ++a) {
      for (std::int32_t b = 0; b + a < 6; ++b) best = std::max(best, least({a, b, 5 - a - b}));
    }
    EXPECT_GE(least(Sizes(*world, "index:alpha=0,beta=20,kappa=0,first-bonus=100")), 0.98 * best)
        << seed;
  }
}

}  // namespace
}  // namespace allot
