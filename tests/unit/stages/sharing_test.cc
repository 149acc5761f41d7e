// Sharings on small moments: which rows become variables, what each optimises, what it remembers.

#include "stages/rounds/sharing.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "core/index.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/sched/world.h"

namespace allot {
namespace {

using testing_support::World;

// (row, type) -> share; pairs are left out.
using SharesByType = std::map<std::pair<std::int32_t, int>, double>;

SharesByType Asked(Sharing* sharing, const Observation& o) {
  std::vector<std::int32_t> rows(static_cast<std::size_t>(o.rows()));
  std::iota(rows.begin(), rows.end(), 0);
  std::vector<TimeShare> shares;
  sharing->Share(o, rows, &shares);
  SharesByType by_type;
  for (const TimeShare& share : shares) {
    if (share.share < 1e-6) continue;
    by_type[{share.row, (*o.table[At(share.row)])[share.configuration].gpu_type}] = share.share;
  }
  return by_type;
}

SharesByType Asked(const std::string& spec, const Observation& o) {
  return Asked(MakeStage<Sharing>("sharing", spec).get(), o);
}

void ExpectShares(const SharesByType& got, const SharesByType& wanted) {
  EXPECT_EQ(got.size(), wanted.size());
  for (const auto& [of, share] : wanted) {
    const auto found = got.find(of);
    ASSERT_NE(found, got.end()) << "row " << of.first << " on type " << of.second;
    EXPECT_NEAR(found->second, share, 1e-6) << "row " << of.first << " on type " << of.second;
  }
}

TEST(SharingTest, MaxMinLooksAtTimeAndMaxMinPerfAtProgress) {
  World world("1x1:fast,1x1:slow");
  world.Add({{4}, {1}});
  world.Add({{1}, {1}});
  world.Add({{1}, {1}});
  double time = 0;
  for (const auto& [of, share] : Asked("max-min", world.o)) time += of.first == 0 ? share : 0;
  EXPECT_NEAR(time, 2.0 / 3, 1e-6);
  // The first reaches 2.5 l on the fast type in 0.625 l of its time, the others each take l.
  const SharesByType progress = Asked("max-min-perf", world.o);
  EXPECT_NEAR(progress.at({0, 0}), 0.625 * 2 / 2.625, 1e-6);
}

TEST(SharingTest, ATypeWithoutARateIsNotAVariable) {
  World world("1x1:fast,1x1:slow");
  world.Add({{4}, {}});
  world.Add({{4}, {1}});
  for (const char* spec : {"max-min", "max-min-perf", "water-filling", "max-sum", "fifo-perf",
                           "min-total-duration", "finish-time-fairness", "allox", "hierarchical"}) {
    EXPECT_FALSE(Asked(spec, world.o).contains({0, 1})) << spec;
  }
}

TEST(SharingTest, AJobThatFitsNoTypeIsLeftOut) {
  World world("1x2");
  world.Add({{1, 2, 3}}, 3);
  world.Add({{1}});
  for (const std::string& id : Registry<SharingInfo>::Global().ids()) {
    if (id == "isolated") continue;  // divides the cluster by who is there
    for (const auto& [of, share] : Asked(id, world.o)) EXPECT_EQ(of.first, 1) << id;
  }
}

TEST(SharingTest, PrioritiesAreWeights) {
  World world("1x1");
  world.Add({{1}});
  world.Add({{1}});
  world.o.priority = {3, 1};
  for (const char* spec : {"max-min", "max-min-perf", "water-filling", "hierarchical"}) {
    SCOPED_TRACE(spec);
    ExpectShares(Asked(spec, world.o), {{{0, 0}, 0.75}, {{1, 0}, 0.25}});
  }
}

TEST(SharingTest, SumsAsPublishedFavourManySteps) {
  World world("1x1:fast,1x1:slow");
  world.Add({{100}, {90}});  // small steps: hardly faster on the fast type
  world.Add({{2}, {1}});
  ExpectShares(Asked("max-sum:normalised=no", world.o), {{{0, 0}, 1}, {{1, 1}, 1}});
  ExpectShares(Asked("max-sum", world.o), {{{0, 1}, 1}, {{1, 0}, 1}});
}

TEST(SharingTest, PricesTurnASumToTheCheapType) {
  World world("1x1:fast,1x1:slow");
  world.Add({{3}, {2}});
  ExpectShares(Asked("max-sum", world.o), {{{0, 0}, 1}});
  ExpectShares(Asked("max-sum:prices=fast=4|slow=1", world.o), {{{0, 1}, 1}});
  ExpectError(ExitCode::kUsage, {"every GPU type", "'slow'"},
              [&] { Asked("max-sum:prices=fast=4", world.o); });
  ExpectError(ExitCode::kUsage, {"> 0", "'fast=-1'"},
              [&] { Asked("max-sum:prices=fast=-1", world.o); });
  ExpectError(ExitCode::kUsage, {"(fast, slow)", "'fats'"},
              [&] { Asked("max-sum:prices=fast=4|slow=1|fats=2", world.o); });
}

TEST(SharingTest, DeadlinesAreMetWhereTheyCanBeAndCountedWhereNot) {
  World world("1x1");
  world.Add({{1}});
  world.Add({{2}});
  world.o.estimated_work = {300, 6000};
  world.o.deadline[0] = 1000;  // 0.3 of the time
  const auto sharing = MakeStage<Sharing>("sharing", "max-sum:normalised=no,deadlines=yes");
  ExpectShares(Asked(sharing.get(), world.o), {{{0, 0}, 0.3}, {{1, 0}, 0.7}});
  EXPECT_EQ(sharing->notes()[0].second, "0");
  world.o.deadline[1] = 3500;  // 0.857 of it
  ExpectShares(Asked(sharing.get(), world.o), {{{1, 0}, 1}});
  EXPECT_EQ(sharing->notes()[1].second, "1");
  world.o.deadline[1] = 100;  // past what it can do alone
  ExpectShares(Asked(sharing.get(), world.o), {{{0, 0}, 0.3}, {{1, 0}, 0.7}});
  EXPECT_EQ(sharing->notes()[0].second, "1");
}

TEST(SharingTest, EntitiesAreTenantsUsersOrGroups) {
  World world("1x1");
  for (int i = 0; i < 3; ++i) world.Add({{1}});
  world.o.user = {0, 0, 1};
  const std::vector<std::string> users = {"ann", "bob"};
  world.o.user_names = &users;
  ExpectShares(Asked("hierarchical", world.o),
               {{{0, 0}, 1.0 / 3}, {{1, 0}, 1.0 / 3}, {{2, 0}, 1.0 / 3}});
  ExpectShares(Asked("hierarchical:by=user", world.o),
               {{{0, 0}, 0.25}, {{1, 0}, 0.25}, {{2, 0}, 0.5}});
  ExpectShares(Asked("hierarchical:by=user,weights=ann=3,fifo=ann", world.o),
               {{{0, 0}, 0.75}, {{2, 0}, 0.25}});
  ExpectError(ExitCode::kUsage, {"NAME=WEIGHT", "'ann=0'"},
              [&] { Asked("hierarchical:weights=ann=0", world.o); });
}

TEST(SharingTest, EntitiesThatAreNotThereAreNamedWhereAllAreKnown) {
  World world("1x1");
  world.Add({{1}});
  world.o.tenant = {0};
  const std::vector<std::string> tenants = {"ann", "bob"};
  const auto ask = [&](const char* spec, const std::vector<std::string>* known) {
    const auto sharing = MakeStage<Sharing>("sharing", spec);
    EpisodeContext context;
    context.tenants = known;
    sharing->OnEpisodeStart(context);
    return Asked(sharing.get(), world.o);
  };
  ExpectError(ExitCode::kUsage, {"'weights'", "tenant", "(ann, bob)", "'eve'"},
              [&] { ask("hierarchical:weights=ann=2|eve=3", &tenants); });
  ExpectError(ExitCode::kUsage, {"'fifo'", "'eve'"},
              [&] { ask("hierarchical:fifo=eve", &tenants); });
  // Live, eve may come later.
  ExpectShares(ask("hierarchical:weights=eve=3", nullptr), {{{0, 0}, 1}});
}

TEST(SharingTest, TheShortestTimeGivesLongJobsMore) {
  World world("1x1");
  world.Add({{1}});
  world.Add({{1}});
  world.o.estimated_work = {300, 900};
  ExpectShares(Asked("min-total-duration", world.o), {{{0, 0}, 0.25}, {{1, 0}, 0.75}});
}

TEST(SharingTest, FinishTimesCountWhatWasDoneAtTheRatesOfThen) {
  World world("1x1");
  world.Add({{1}});
  world.o.estimated_work = {1000};
  world.o.now = 0;
  const auto sharing = MakeStage<Sharing>("sharing", "finish-time-fairness");
  ExpectShares(Asked(sharing.get(), world.o), {{{0, 0}, 1}});
  world.o.now = 500;
  world.o.done_work = {500};
  world.Add({{1}});
  world.o.submit[1] = 500;
  world.o.estimated_work[1] = 500;
  // Alone 500 s were 500 s; the half that is left is due 1,000 s later, for both. The first has
  // (500 + 500/x) / 1500, the second (500/(1 - x)) / 1000.
  const SharesByType shares = Asked(sharing.get(), world.o);
  const double x = shares.at({0, 0});
  EXPECT_NEAR((500 + 500 / x) / 1500, 500 / (1 - x) / 1000, 1e-5);
}

TEST(SharingTest, AlloxMovesNobody) {
  World world("1x1:fast,1x1:slow");
  world.Add({{2}, {1}});
  world.o.estimated_work = {100};
  const auto sharing = MakeStage<Sharing>("sharing", "allox");
  ExpectShares(Asked(sharing.get(), world.o), {{{0, 0}, 1}});
  world.Add({{9}, {1}});
  world.o.estimated_work[1] = 90;
  ExpectShares(Asked(sharing.get(), world.o), {{{0, 0}, 1}, {{1, 1}, 1}});
}

TEST(SharingTest, FifoWaitsForTheHeadAndTakesTheFastestTypeLeft) {
  World world("1x2:fast,1x1:slow");
  world.Add({{2}, {1}});
  world.Add({{2, 4}, {1}}, 2);
  world.Add({{2}, {1}});
  ExpectShares(Asked("fifo-perf", world.o), {{{0, 0}, 1}});
}

TEST(SharingTest, SpeedsMayBeTakenFromOneType) {
  World world("1x1:fast,1x1:slow");
  world.Add({{4}, {1}});
  world.Add({{4}, {1}});
  // All types as fast as the fast one: any division of time is as good, each has all of its time.
  const SharesByType shares = Asked("water-filling:speeds=fast", world.o);
  EXPECT_NEAR(shares.at({0, 0}) + shares.at({0, 1}), 1, 1e-6);
  ExpectError(ExitCode::kUsage, {"known, alike", "fast, slow", "'k80'"},
              [&] { Asked("water-filling:speeds=k80", world.o); });
}

// Alone at rate 1, beside one of its own profile at 0.8.
ConfigurationTable TableOfPairs() {
  const Configuration alone{.units = {1}, .gpu_type = 0, .demand = {1, 0}, .cost = 1, .rate = 1};
  Configuration beside = alone;
  beside.partner = 0;
  beside.rate = 0.8;
  return ConfigurationTable("p", {{"gpu", {1, 0}}}, {alone, beside}, ConfigurationTable::kNoLimits,
                            {"p"});
}

TEST(SharingTest, PairsAreFormedByThoseThatAreAskedTo) {
  for (const char* spec : {"max-min-packed", "water-filling:pairs=yes", "max-sum:pairs=yes",
                           "min-total-duration:pairs=yes", "finish-time-fairness:pairs=yes",
                           "gandiva", "fifo-packed"}) {
    SCOPED_TRACE(spec);
    World world("1x1");
    for (int i = 0; i < 2; ++i) world.Add(TableOfPairs(), {1});
    world.o.estimated_work = {1000, 1000};
    std::vector<TimeShare> shares;
    const auto sharing = MakeStage<Sharing>("sharing", spec);
    sharing->OnEpisodeStart({.seed = 1});
    sharing->Share(world.o, std::vector<std::int32_t>{0, 1}, &shares);
    std::erase_if(shares, [](const TimeShare& share) { return share.share < 1e-6; });
    ASSERT_EQ(shares.size(), 1U);
    EXPECT_EQ(shares[0].row, 0);
    EXPECT_EQ(shares[0].partner_row, 1);
    EXPECT_EQ(shares[0].configuration, 1);
    EXPECT_EQ(shares[0].partner_configuration, 1);
    EXPECT_NEAR(shares[0].share, 1, 1e-9);
  }
}

TEST(SharingTest, PairsGoWithKnownSpeedsOnly) {
  ExpectError(ExitCode::kUsage, {"'pairs'", "known", "speeds=alike"},
              [] { MakeStage<Sharing>("sharing", "water-filling:pairs=yes,speeds=alike"); });
}

}  // namespace
}  // namespace allot
