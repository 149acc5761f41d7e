#include "solve/type_assignment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/index.h"
#include "core/rng.h"

namespace allot {
namespace {

struct Instance {
  std::vector<std::int32_t> capacity;
  std::vector<std::int32_t> gpus;
  std::vector<double> values;
  std::size_t by_order = 0;

  std::size_t jobs() const { return gpus.size(); }
  double value(std::size_t job, std::size_t type) const {
    return values[job * capacity.size() + type];
  }
  TypeAssignmentProblem problem() const { return {capacity, gpus, values, by_order}; }
};

// Speeds relative to the job's best, often equal, some absent.
Instance Draw(Rng* rng, std::size_t jobs, std::size_t types, const std::vector<int>& sizes) {
  Instance drawn;
  for (std::size_t type = 0; type < types; ++type) {
    drawn.capacity.push_back(static_cast<std::int32_t>(rng->Below(5)) * ((sizes.back() + 1) / 2));
  }
  for (std::size_t job = 0; job < jobs; ++job) {
    drawn.gpus.push_back(sizes[rng->Below(sizes.size())]);
    for (std::size_t type = 0; type < types; ++type) {
      const bool absent = rng->Below(8) == 0;
      const bool round = rng->Below(2) == 0;
      const double value =
          round ? static_cast<double>(1 + rng->Below(4)) / 4 : rng->Uniform(0.05, 1.0);
      drawn.values.push_back(absent ? 0 : value);
    }
  }
  return drawn;
}

// Sum and feasibility of what the solver says, from the instance alone.
double Checked(const Instance& instance, std::span<const std::int32_t> types) {
  std::vector<std::int32_t> room = instance.capacity;
  double sum = 0;
  for (std::size_t job = 0; job < instance.jobs(); ++job) {
    if (types[job] == kWaits) continue;
    EXPECT_GT(instance.value(job, At(types[job])), 0) << "job " << job;
    room[At(types[job])] -= instance.gpus[job];
    sum += instance.value(job, At(types[job]));
  }
  for (const std::int32_t left : room) EXPECT_GE(left, 0);
  return sum;
}

// By trying all: the jobs by order that can all run, first ones first, then the largest sum.
struct Best {
  std::vector<bool> runs;  // of the jobs by order
  double sum = -1;
};
void Search(const Instance& instance, std::vector<std::int32_t>* room, std::vector<bool>* runs,
            std::size_t job, double sum, Best* best) {
  if (job == instance.jobs()) {
    if (*runs > best->runs || (*runs == best->runs && sum > best->sum)) *best = {*runs, sum};
    return;
  }
  const bool ordered = job < instance.by_order;
  for (std::size_t type = 0; type < room->size(); ++type) {
    if (instance.value(job, type) <= 0 || (*room)[type] < instance.gpus[job]) continue;
    (*room)[type] -= instance.gpus[job];
    if (ordered) (*runs)[job] = true;
    Search(instance, room, runs, job + 1, sum + instance.value(job, type), best);
    (*room)[type] += instance.gpus[job];
    if (ordered) (*runs)[job] = false;
  }
  Search(instance, room, runs, job + 1, sum, best);
}
Best Exhaustive(const Instance& instance) {
  Best best{std::vector<bool>(instance.by_order, false), -1};
  std::vector<std::int32_t> room = instance.capacity;
  std::vector<bool> runs(instance.by_order, false);
  Search(instance, &room, &runs, 0, 0, &best);
  return best;
}

TEST(TypeAssignerTest, IsExactForJobsOfOneGpu) {
  Rng rng(1, "type-assignment");
  TypeAssigner assigner;
  for (int trial = 0; trial < 2000; ++trial) {
    const Instance instance = Draw(&rng, 1 + rng.Below(8), 1 + rng.Below(4), {1, 1});
    assigner.Solve(instance.problem());
    const double sum = Checked(instance, assigner.types());
    EXPECT_NEAR(sum, assigner.value(), 1e-12);
    ASSERT_NEAR(sum, Exhaustive(instance).sum, 1e-9) << "trial " << trial;
  }
}

TEST(TypeAssignerTest, ThoseByOrderGetInFirstAndTypesAmongThemAreTheBest) {
  Rng rng(2, "type-assignment");
  TypeAssigner assigner;
  for (int trial = 0; trial < 2000; ++trial) {
    Instance instance = Draw(&rng, 1 + rng.Below(7), 1 + rng.Below(4), {1, 1});
    instance.by_order = rng.Below(instance.jobs() + 1);
    assigner.Solve(instance.problem());
    const Best best = Exhaustive(instance);
    for (std::size_t job = 0; job < instance.by_order; ++job) {
      ASSERT_EQ(assigner.types()[job] != kWaits, best.runs[job]) << trial << ", job " << job;
    }
    ASSERT_NEAR(Checked(instance, assigner.types()), best.sum, 1e-9) << "trial " << trial;
  }
}

// No price rule can be broken by an optimal answer: each job is where value less price is largest,
// and what is not full costs nothing.
TEST(TypeAssignerTest, PricesAreDuals) {
  Rng rng(3, "type-assignment");
  TypeAssigner assigner;
  for (int trial = 0; trial < 500; ++trial) {
    const Instance instance = Draw(&rng, 30, 3, {1, 6});
    assigner.Solve(instance.problem());
    const std::span<const double> prices = assigner.prices();
    double dual = 0;
    for (std::size_t type = 0; type < 3; ++type) {
      ASSERT_GE(prices[type], 0);
      dual += prices[type] * instance.capacity[type];
    }
    for (std::size_t job = 0; job < instance.jobs(); ++job) {
      double surplus = 0;
      for (std::size_t type = 0; type < 3; ++type) {
        if (instance.value(job, type) <= 0) continue;
        surplus = std::max(surplus, instance.value(job, type) - prices[type] * instance.gpus[job]);
      }
      dual += surplus;
    }
    ASSERT_NEAR(dual, assigner.bound(), 1e-9) << "trial " << trial;
    ASSERT_LE(assigner.value(), assigner.bound() + 1e-9);
  }
}

// What is stated in docs/adr/0035: 0.2 % on average, never more than 20 %, of instances so small
// that one job is a large part of the sum.
TEST(TypeAssignerTest, JobsOfSeveralGpusAreCloseToTheBest) {
  Rng rng(4, "type-assignment");
  TypeAssigner assigner;
  double gaps = 0;
  double worst = 0;
  constexpr int kTrials = 1000;
  for (int trial = 0; trial < kTrials; ++trial) {
    const Instance instance = Draw(&rng, 3 + rng.Below(6), 2 + rng.Below(2), {1, 1, 1, 2, 4, 8});
    assigner.Solve(instance.problem());
    const double sum = Checked(instance, assigner.types());
    const double best = Exhaustive(instance).sum;
    ASSERT_LE(best, assigner.bound() + 1e-9);
    if (best <= 0) continue;
    ASSERT_LE(sum, best + 1e-9);
    gaps += 1 - sum / best;
    worst = std::max(worst, 1 - sum / best);
  }
  RecordProperty("mean_gap", std::to_string(gaps / kTrials));
  EXPECT_LE(gaps / kTrials, 0.002);
  EXPECT_LE(worst, 0.20);
}

// As many as a cluster has: the bound shows how close without trying all.
TEST(TypeAssignerTest, ManyJobsOfSeveralGpusAreCloseToTheBound) {
  Rng rng(5, "type-assignment");
  TypeAssigner assigner;
  for (int trial = 0; trial < 100; ++trial) {
    Instance instance = Draw(&rng, 120, 3, {1, 1, 1, 1, 1, 1, 1, 2, 4, 4, 8});
    instance.capacity = {36, 36, 36};
    assigner.Solve(instance.problem());
    const double sum = Checked(instance, assigner.types());
    EXPECT_GE(sum, 0.99 * assigner.bound()) << "trial " << trial;
  }
}

TEST(TypeAssignerTest, LargeJobsByOrderGoBeforeSmallOnesAfterThem) {
  // Two types of four GPUs: two small jobs first, one where it likes; then a large one.
  Instance instance{{4, 4}, {1, 1, 4}, {1, .5, .5, 1, 1, .9}, 3};
  TypeAssigner assigner;
  assigner.Solve(instance.problem());
  EXPECT_EQ(std::vector(assigner.types().begin(), assigner.types().end()),
            (std::vector<std::int32_t>{1, 1, 0}));
}

// One that has solved others before begins from their prices: the answer is that of a new one.
TEST(TypeAssignerTest, AnswersDoNotDependOnWhatWasSolvedBefore) {
  Rng rng(6, "type-assignment");
  for (const bool equal_jobs : {false, true}) {
    for (const std::size_t types : {2, 3}) {
      TypeAssigner kept;
      Instance instance = Draw(&rng, 300, types, {1, 1, 1, 2, 4});
      instance.capacity.assign(types, 400 / static_cast<std::int32_t>(types));
      for (int decision = 0; decision < 60; ++decision) {
        if (!equal_jobs) {
          for (double& value : instance.values) value *= rng.Uniform(0.98, 1.03);
        }
        // Some are others, and all count for more or less at times.
        for (int other = 0; other < 3; ++other) {
          const Instance drawn = Draw(&rng, 1, types, {1, 2, 4});
          const std::size_t job = rng.Below(instance.jobs());
          instance.gpus[job] = drawn.gpus[0];
          std::copy(drawn.values.begin(), drawn.values.end(),
                    instance.values.begin() + static_cast<std::ptrdiff_t>(job * types));
        }
        if (decision % 10 == 9) {
          for (double& value : instance.values) value *= 0.3;
        }
        if (decision == 40) instance.capacity[0] = 1000;
        TypeAssigner anew;
        kept.Solve(instance.problem());
        anew.Solve(instance.problem());
        ASSERT_EQ(std::vector(kept.types().begin(), kept.types().end()),
                  std::vector(anew.types().begin(), anew.types().end()))
            << types << " types, decision " << decision;
        ASSERT_EQ(std::vector(kept.prices().begin(), kept.prices().end()),
                  std::vector(anew.prices().begin(), anew.prices().end()))
            << types << " types, decision " << decision;
        ASSERT_EQ(kept.value(), anew.value());
      }
    }
  }
}

// Lists of who could leave a type are of one problem, also where nobody is whole at its beginning.
TEST(TypeAssignerTest, AFewDividedJobsAfterManyAreAsNew) {
  Rng rng(7, "type-assignment");
  const Instance few{{7, 7}, {8, 8}, {1, 1, .9, .9}};
  TypeAssigner anew;
  anew.Solve(few.problem());
  for (int round = 0; round < 50; ++round) {
    Instance many = Draw(&rng, 40, 2, {1, 2, 4, 5});
    many.capacity = {7, 7};
    TypeAssigner kept;
    kept.Solve(many.problem());
    kept.Solve(few.problem());
    ASSERT_EQ(std::vector(kept.types().begin(), kept.types().end()),
              std::vector(anew.types().begin(), anew.types().end()));
    ASSERT_EQ(kept.value(), anew.value());
  }
}

TEST(TypeAssignerTest, NothingToAssign) {
  TypeAssigner assigner;
  assigner.Solve(Instance{{4, 4}, {}, {}}.problem());
  EXPECT_TRUE(assigner.types().empty());
  assigner.Solve(Instance{{0, 0}, {1}, {1, 1}}.problem());
  EXPECT_EQ(assigner.types()[0], kWaits);
}

}  // namespace
}  // namespace allot
