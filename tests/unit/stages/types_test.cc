#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "core/error.h"
#include "sched/stages.h"
#include "stages/fill/typed_fill.h"
#include "stages/fill/typed_sizing.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/sched/world.h"

namespace allot {
namespace {

using testing_support::World;

std::vector<std::int32_t> RowsOf(const Observation& o) {
  std::vector<std::int32_t> rows(o.job.size());
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

// Types of the rows, served in their order, by stages given as text; -1: waits.
std::vector<int> TypesOf(const World& world, const std::string& types,
                         const std::string& sizing = "requested", bool moves = true,
                         std::size_t first = 0) {
  const auto assignment = MakeStage<TypeAssignment>("types", types);
  const auto size = MakeStage<Sizing>("sizing", sizing);
  TypedSizing typed(assignment.get(), size.get());
  const std::vector<std::int32_t> order = RowsOf(world.o);
  const std::vector<double> keys(order.size(), 0);
  std::vector<Grant> grants;
  if (typed.AppliesTo(*world.o.cluster)) {
    TypeQuestion question;
    question.order = order;
    question.moves = moves;
    question.first = first;
    typed.Size(world.o, question, keys, &grants);
  } else {
    size->Size(world.o, order, keys, &grants);
  }
  std::vector<int> result(order.size(), -1);
  for (const Grant& grant : grants) {
    const auto row = static_cast<std::size_t>(grant.row);
    result[row] = int{(*world.o.table[row])[grant.configuration].gpu_type};
  }
  return result;
}

using Types = std::vector<int>;

TEST(TypesTest, WhoLosesLeastTakesTheSlowType) {
  World world("1x1:fast,1x1:slow");
  world.Add({{1}, {.9}});
  world.Add({{1}, {.2}});
  EXPECT_EQ(TypesOf(world, "greedy"), (Types{0, 1}));
  EXPECT_EQ(TypesOf(world, "exact"), (Types{1, 0}));
}

TEST(TypesTest, SpeedsCountRelativeToTheJobsOwnBest) {
  World world("1x1:fast,1x1:slow");
  world.Add({{100}, {80}});
  world.Add({{1}, {.1}});
  EXPECT_EQ(TypesOf(world, "exact:enter=value"), (Types{1, 0}));
}

TEST(TypesTest, ByOrderTheFirstRunWhateverTheyAreWorth) {
  World world("1x1:fast,1x1:slow");
  world.Add({{1}, {.1}});
  world.Add({{1}, {.1}});
  world.Add({{1}, {1}});
  EXPECT_EQ(TypesOf(world, "exact"), (Types{0, 1, -1}));
  EXPECT_EQ(TypesOf(world, "exact:enter=value"), (Types{0, -1, 1}));
}

TEST(TypesTest, WhoHasWaitedTooLongComesBeforeAllWorth) {
  World world("1x1:fast");
  world.Add({{1, 1.5}}, 2);  // too large
  world.Add({{1}});
  world.Add({{1}});
  world.Run(2, 0, {{0, 1}});
  EXPECT_EQ(TypesOf(world, "exact:enter=value"), (Types{-1, -1, 0}));
  EXPECT_EQ(TypesOf(world, "exact:enter=value", "requested", true, 2), (Types{-1, 0, -1}));
}

TEST(TypesTest, OfEqualAnswersTheOneThatRuns) {
  World world("1x1:a,1x1:b");
  world.Add({{1}, {1}});
  world.Add({{1}, {1}});
  world.Add({{1}, {1}});
  world.Run(0, 1, {{1, 1}});
  world.Run(2, 0, {{0, 1}});
  EXPECT_EQ(TypesOf(world, "exact:enter=value"), (Types{1, -1, 0}));
}

// Where it runs it is half as fast: of twice the cost half is left after a restart.
TEST(TypesTest, AChangeOfTypePaysForItsRestartInTime) {
  World world("1x1:fast,1x1:slow");
  world.Add({{1}, {.5}});
  world.Run(0, 1, {{1, 1}});
  world.o.restart_cost[0] = 30;
  EXPECT_EQ(TypesOf(world, "exact"), (Types{0}));
  EXPECT_EQ(TypesOf(world, "exact:pays-within=2.1"), (Types{0}));
  EXPECT_EQ(TypesOf(world, "exact:pays-within=1.9"), (Types{1}));
  EXPECT_EQ(TypesOf(world, "exact:pays-within=0"), (Types{0}));
  world.o.restart_cost[0] = 0;
  EXPECT_EQ(TypesOf(world, "exact:pays-within=1.9"), (Types{0}));
  ExpectError(ExitCode::kUsage, {"pays-within", "above 1", "got 1"},
              [&] { TypesOf(world, "exact:pays-within=1"); });
}

TEST(TypesTest, WithoutPreemptionWhoRunsKeepsItsType) {
  World world("1x1:fast,1x1:slow");
  world.Add({{1}, {.9}});
  world.Add({{1}, {.2}});
  world.Run(0, 0, {{0, 1}});
  EXPECT_EQ(TypesOf(world, "exact", "requested", true), (Types{1, 0}));
  EXPECT_EQ(TypesOf(world, "exact", "requested", false), (Types{0, 1}));
}

TEST(TypesTest, WhereAJobHasNoRateItNeverGoes) {
  World world("2x1:fast,2x1:slow");
  for (int i = 0; i < 3; ++i) world.Add({{1}, {0}});
  EXPECT_EQ(TypesOf(world, "exact"), (Types{0, 0, -1}));
  EXPECT_EQ(TypesOf(world, "exact:enter=value"), (Types{0, 0, -1}));
}

TEST(TypesTest, OnOneTypeTheSizingIsAskedAsBefore) {
  World world("1x4");
  EXPECT_FALSE(MakeStage<TypeAssignment>("types", "exact")->AppliesTo(*world.o.cluster));
  EXPECT_TRUE(MakeStage<TypeAssignment>("types", "exact:enter=value")->AppliesTo(*world.o.cluster));
}

TEST(TypesTest, SizingsThatHoldUpOthersKeepTheirOrder) {
  World world("1x1:fast,1x1:slow");
  world.Add({{1}, {.9}});
  world.Add({{1}, {.2}});
  EXPECT_EQ(TypesOf(world, "exact", "requested:backfill=false"), (Types{0, 1}));
}

// Each sizing that takes types grows its jobs on those alone.
TEST(TypesTest, ElasticSizingsKeepToTheTypesGiven) {
  for (const SizingInfo& info : Registry<SizingInfo>::Global().entries()) {
    World world("1x4:fast,1x4:slow");
    world.Add({{1, 1.9, 2.7, 3.4}, {.9, 1.8, 2.6, 3.3}});
    world.Add({{1, 1.9, 2.7, 3.4}, {.2, .4, .5, .6}});
    const auto sizing = MakeStage<Sizing>("sizing", info.id);
    if (!sizing->takes_types() || sizing->as_requested()) continue;
    EXPECT_EQ(TypesOf(world, "exact", info.id), (Types{1, 0})) << info.id;
  }
}

TEST(TypesTest, UnknownWayToEnterIsAnError) {
  EXPECT_THROW(MakeStage<TypeAssignment>("types", "exact:enter=late"), Error);
}

std::vector<int> FilledTypes(const World& world, const std::vector<Score>& scores) {
  TypedFill fill;
  std::vector<Grant> grants;
  fill.Fill(world.o, RowsOf(world.o), scores, &grants);
  std::vector<int> result(world.o.job.size(), -1);
  for (const Grant& grant : grants) {
    const auto row = static_cast<std::size_t>(grant.row);
    result[row] = int{(*world.o.table[row])[grant.configuration].gpu_type};
  }
  return result;
}

TEST(TypedFillTest, ScoresWeighTheSum) {
  World world("1x1:fast,1x1:slow");
  world.Add({{1}, {.9}});
  world.Add({{1}, {.2}});
  EXPECT_EQ(FilledTypes(world, {{0, 0, 0}, {0, 0, 0}}), (Types{1, 0}));
  // Ten times the worth: .1 of that is more than the other's .8.
  EXPECT_EQ(FilledTypes(world, {{2.3F, 0, 0}, {0, 0, 0}}), (Types{0, 1}));
}

TEST(TypedFillTest, KappaHoldsWhoRunsButNotItsType) {
  World world("1x1:fast,1x1:slow");
  world.Add({{1}, {.5}});
  world.Run(0, 1, {{1, 1}});
  EXPECT_EQ(FilledTypes(world, {{0, 0, 9}}), (Types{0}));
  World full("1x1:fast");
  full.Add({{1}});
  full.Add({{1}});
  full.Run(0, 0, {{0, 1}});
  const std::vector<std::int32_t> order = {0, 1};
  TypeQuestion question;
  question.order = order;
  const std::vector<std::int32_t> sizes = {0, 0};
  question.sizes = sizes;
  std::vector<double> weights;
  const std::vector<Score> scores = {{0, 0, .3F}, {.5F, 0, .3F}};
  TableFacts facts;
  facts.Read(full.o, order);
  WeighForTypes(full.o, question, scores, &facts, &weights);
  EXPECT_NEAR(weights[0] / weights[1], std::exp(.6 - .5), 1e-6);
}

TEST(TypedFillTest, WhoWaitsGetsWhatTheAssignedLeave) {
  World world("1x2:fast,1x1:slow");
  world.Add({{1, 1.9}, {.5}});  // one GPU is enough to run
  world.Add({{1, 1.9}, {.5}});
  world.Add({{1, 1.9}, {.9}});
  EXPECT_EQ(FilledTypes(world, {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}), (Types{0, 0, 1}));
}

}  // namespace
}  // namespace allot
