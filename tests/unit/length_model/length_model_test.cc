// What the length model makes of who submits. Times are seconds, tables run at 1 per GPU asked for.

#include "length_model/length_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "cluster/event_finder.h"
#include "core/error.h"
#include "tests/unit/sched/world.h"

namespace allot {
namespace {

using testing_support::Permuted;
using testing_support::World;

// Log-normal run times: a median for each user, and the same spread for all.
struct User {
  const char* name;
  double median;
};
constexpr User kUsers[] = {{"short", 60}, {"middle", 900}, {"long", 20000}};
constexpr double kSigma = 0.6;

double Draw(double median, Rng* rng) { return median * std::exp(kSigma * rng->Normal()); }

// Users' runs in turn, all of one GPU; users named in the order given.
Workload Past(int runs_each, const std::vector<std::size_t>& order = {0, 1, 2}) {
  Rng rng(7, "past");
  Workload past;
  for (const std::size_t u : order) past.users.Intern(kUsers[u].name);
  for (int i = 0; i < runs_each; ++i) {
    for (std::size_t u = 0; u < std::size(kUsers); ++u) {
      Job job;
      job.id = fmt::format("{}-{}", kUsers[u].name, i);
      job.submit = 10.0 * i;
      job.duration = Draw(kUsers[u].median, &rng);
      job.user = past.users.Find(kUsers[u].name);
      past.jobs.push_back(job);
    }
  }
  past.Finish();
  return past;
}

LengthModel Knowing(const Workload& past) {
  LengthModel model;
  model.Learn(past, kNever);
  return model;
}

// Jobs of one GPU, waiting or gone; users and groups by name.
class Moment {
 public:
  Moment() : world_("4x8") {
    for (const char* name : {"short", "middle", "long", "new", "other"}) users_.Intern(name);
    for (const char* name : {"quick", "slow"}) groups_.Intern(name);
    world_.o.user_names = &users_.names();
    world_.o.group_names = &groups_.names();
  }
  std::int32_t Add(const std::string& user, const std::string& group = "", double attained = 0,
                   double estimate = kUnknown) {
    const std::int32_t row = world_.Add({{1, 2, 3, 4}});
    const auto r = static_cast<std::size_t>(row);
    world_.o.user[r] = users_.Intern(user);
    world_.o.group[r] = groups_.Intern(group);
    world_.o.done_work[r] = attained;
    world_.o.estimated_work[r] = estimate;
    return row;
  }
  const Observation& o() const { return world_.o; }
  Observation& o() { return world_.o; }

 private:
  World world_;
  NameTable users_;
  NameTable groups_;
};

void ExpectSame(const LengthModel::RemainingTime& a, const LengthModel::RemainingTime& b) {
  EXPECT_EQ(a.rank, b.rank);
  EXPECT_EQ(a.median, b.median);
  EXPECT_EQ(a.high, b.high);
}

class LengthModelTest : public testing::Test {
 protected:
  // A run of so long has ended, at one moment and the next.
  void End(LengthModel* model, const std::string& user, const std::string& group, double seconds,
           double estimate = kUnknown) {
    Moment with;
    with.Add(user, group, seconds, estimate);
    with.o().job[0] = next_++;
    Moment without;
    finder_.Find(&with.o());
    model->Observe(with.o());
    finder_.Find(&without.o());
    model->Observe(without.o());
  }
  // Of a copy, which alone has seen the one that asks.
  LengthModel::RemainingTime Ask(LengthModel model, const std::string& user,
                                 const std::string& group = "", double attained = 0,
                                 double estimate = kUnknown) {
    Moment now;
    now.Add(user, group, attained, estimate);
    now.o().job[0] = kAsked;
    model.Observe(now.o());
    const LengthModel::RemainingTime forecast = model.Predict(now.o(), 0);
    EXPECT_EQ(model.Rank(now.o(), 0), forecast.rank);
    return forecast;
  }
  EventFinder finder_;
  static constexpr JobIndex kAsked = 1'000'000;

  JobIndex next_ = 0;
};

TEST_F(LengthModelTest, QuantilesAreThoseOfTheUser) {
  const LengthModel model = Knowing(Past(400));
  Rng rng(8, "future");
  for (const User& user : kUsers) {
    for (const double had : {0.0, 0.7 * user.median}) {
      const LengthModel::RemainingTime forecast = Ask(model, user.name, "", had);
      int left = 0;
      int below_median = 0;
      int below_high = 0;
      while (left < 2000) {
        const double seconds = Draw(user.median, &rng) - had;
        if (seconds <= 0) continue;
        ++left;
        below_median += seconds <= forecast.median ? 1 : 0;
        below_high += seconds <= forecast.high ? 1 : 0;
      }
      EXPECT_NEAR(below_median / 2000.0, 0.5, 0.06) << user.name << " after " << had;
      EXPECT_NEAR(below_high / 2000.0, 0.9, 0.05) << user.name << " after " << had;
    }
  }
}

TEST_F(LengthModelTest, WhoNeverRanAnythingIsAsHisSizeClass) {
  const LengthModel model = Knowing(Past(50));
  for (const double had : {0.0, 100.0, 5000.0}) {
    const LengthModel::RemainingTime of_class = Ask(model, "", "", had);
    ExpectSame(Ask(model, "new", "", had), of_class);
    ExpectSame(Ask(model, "new", "script", had), of_class);
    ExpectSame(Ask(model, "", "script", had), of_class);
    EXPECT_NE(Ask(model, "long", "", had).rank, of_class.rank);
  }
}

// To the last bit, whoever else is there, and whatever is known of them.
TEST_F(LengthModelTest, JobsOfNobodyAreForecastAsIfNobodyHadAName) {
  Workload nameless = Past(50);
  for (Job& job : nameless.jobs) job.user = job.group = -1;
  LengthModel with = Knowing(Past(50));
  LengthModel without = Knowing(nameless);
  for (int i = 0; i < 40; ++i) {
    Moment named;
    named.Add("short", "a", 20.0 * i);
    named.Add("", "", 3.0 * i);
    named.o().job = {i, 1000};
    Moment plain;
    plain.Add("", "", 20.0 * i);
    plain.Add("", "", 3.0 * i);
    plain.o().job = {i, 1000};
    with.Observe(named.o());
    without.Observe(plain.o());
    with.Predict(named.o(), 0);
    ExpectSame(with.Predict(named.o(), 1), without.Predict(plain.o(), 1));
  }
}

TEST_F(LengthModelTest, HistoriesAreKnownByNameNotByNumber) {
  const LengthModel::RemainingTime forecast = Ask(Knowing(Past(60, {0, 1, 2})), "long", "", 40);
  ExpectSame(Ask(Knowing(Past(60, {2, 0, 1})), "long", "", 40), forecast);
  EXPECT_GT(forecast.median, 5000) << "it is long, and no other";
}

TEST_F(LengthModelTest, NumbersWithoutNamesAreOfTheRunAlone) {
  const LengthModel model = Knowing(Past(60));
  Moment now;
  now.Add("long");
  now.o().user_names = nullptr;
  LengthModel asked = model;
  asked.Observe(now.o());
  ExpectSame(asked.Predict(now.o(), 0), Ask(model, ""));
}

TEST_F(LengthModelTest, RunsThatEndTellOfTheirUser) {
  LengthModel model;
  const LengthModel::RemainingTime before = Ask(model, "new");
  for (int i = 0; i < 12; ++i) End(&model, "new", "", 9000);
  for (int i = 0; i < 12; ++i) End(&model, "other", "", 30);
  const LengthModel::RemainingTime after = Ask(model, "new");
  EXPECT_GT(after.median, 5 * before.median);
  EXPECT_NEAR(after.median, 9000, 4000);
  EXPECT_LT(Ask(model, "other").median, 100);
}

TEST_F(LengthModelTest, AGroupIsDrawnTowardsItsUserByItsRuns) {
  LengthModel model;
  for (int i = 0; i < 30; ++i) End(&model, "new", "quick", 60);
  for (int i = 0; i < 30; ++i) End(&model, "new", "slow", 30000);
  const double quick = Ask(model, "new", "quick").median;
  const double slow = Ask(model, "new", "slow").median;
  const double another = Ask(model, "new", "another").median;
  EXPECT_LT(quick, 150);
  EXPECT_GT(slow, 10000);
  EXPECT_GT(another, quick);
  EXPECT_LT(another, slow);
  EXPECT_EQ(another, Ask(model, "new", "").median) << "as all runs of its user";
}

TEST_F(LengthModelTest, OneRunTellsLessThanMany) {
  LengthModel model;
  for (int i = 0; i < 200; ++i) End(&model, "other", "", 60);
  End(&model, "new", "", 20000);
  const double one = Ask(model, "new").median;
  for (int i = 0; i < 30; ++i) End(&model, "new", "", 20000);
  const double many = Ask(model, "new").median;
  EXPECT_LT(one, 1000) << "four pseudo-jobs of the class against one run";
  EXPECT_GT(many, 10000);
}

TEST_F(LengthModelTest, ANewEpisodeKnowsTheHistoryAgain) {
  LengthModel model = Knowing(Past(40));
  const LengthModel::RemainingTime fresh = Ask(model, "middle", "script");
  for (int i = 0; i < 40; ++i) End(&model, "middle", "script", 1e6);
  EXPECT_NE(Ask(model, "middle", "script").median, fresh.median);
  model.OnEpisodeStart();
  ExpectSame(Ask(model, "middle", "script"), fresh);
}

// Estimates of one are twice what his jobs take, those of the other a fifth.
TEST_F(LengthModelTest, UsersDifferInHowTheyForetell) {
  LengthModel model;
  for (int i = 0; i < 40; ++i) End(&model, "new", "", 500, 1000);
  for (int i = 0; i < 40; ++i) End(&model, "other", "", 5000, 1000);
  EXPECT_NEAR(Ask(model, "new", "", 0, 2000).median, 1000, 250);
  EXPECT_NEAR(Ask(model, "other", "", 0, 2000).median, 10000, 2500);
  EXPECT_GT(Ask(model, "short", "", 0, 2000).median, 1000) << "a new one is between them";
  ExpectSame(Ask(model, "short", "", 10, 2000), Ask(model, "", "", 10, 2000));
}

// Three jobs that were never there before, one of each user, somewhere in their runs.
void AddOneOfEach(JobIndex turn, Rng* rng, Moment* now) {
  for (std::size_t u = 0; u < 3; ++u) {
    now->Add(kUsers[u].name, u == 0 ? "a" : "", Draw(kUsers[u].median, rng));
  }
  now->o().job = {3 * turn, 3 * turn + 1, 3 * turn + 2};
}

TEST_F(LengthModelTest, WhatWasAskedDoesNotMatter) {
  LengthModel asked = Knowing(Past(5));
  LengthModel silent = asked;
  Rng rng(3, "asked");
  for (int i = 0; i < 300; ++i) {
    Moment now;
    AddOneOfEach(i, &rng, &now);
    asked.Observe(now.o());
    silent.Observe(now.o());
    for (std::int32_t row = 0; row < 3; ++row) asked.Predict(now.o(), row);
    if (i % 50 == 49) {
      const auto later = [](const auto& model, const Moment& at) {
        return LengthModel(model).Predict(at.o(), 1);
      };
      ExpectSame(later(silent, now), later(asked, now));
    }
  }
}

TEST_F(LengthModelTest, TheOrderOfRowsDoesNotMatter) {
  LengthModel one = Knowing(Past(5));
  LengthModel two = one;
  Rng rng(4, "rows");
  for (int i = 0; i < 50; ++i) {
    Moment now;
    AddOneOfEach(i, &rng, &now);
    const Observation turned = Permuted(now.o(), {2, 0, 1});
    one.Observe(now.o());
    two.Observe(turned);
    ExpectSame(one.Predict(now.o(), 2), two.Predict(turned, 0));
  }
}

TEST_F(LengthModelTest, WhatWasLearnedComesBackWhole) {
  Workload past = Past(30);
  for (std::size_t i = 0; i < past.jobs.size(); i += 2) {
    past.jobs[i].group = past.groups.Intern("script");
  }
  const LengthModel model = Knowing(past);
  LengthModel back;
  back.SetLearned(model.learned(), model.submitters());
  for (const char* user : {"short", "long", "new", ""}) {
    ExpectSame(Ask(back, user, "script", 33), Ask(model, user, "script", 33));
  }
  back.SetLearned(model.learned());
  ExpectSame(Ask(back, "short", "script"), Ask(model, ""));
  EXPECT_THROW(back.SetLearned(model.learned(), {{"u", {{"", {{-1, 1}}}}}}), Error);
  EXPECT_THROW(back.SetLearned(model.learned(), {{"u", {{"", {{5, kUnknown}}}}}}), Error);
}

TEST(SubmitterTablesTest, ThereIsRoomForSoManyAndTheOthersAreAsTheirClass) {
  constexpr auto kMost = static_cast<std::int32_t>(SubmitterTables::kMostLevels);
  SubmitterTables tables(1, 1);
  GittinsTable of_class(1, 4, [](double x) { return 1 / (1 + x / 600); });
  Moment moment;
  for (std::int32_t u = 0; u < kMost + 1; ++u) {
    moment.Add("");
    moment.o().user.back() = u;
  }
  tables.Observe(moment.o(), true);
  tables.SetClass(0, of_class);
  for (std::int32_t u = 0; u < kMost + 1; ++u) tables.Add(u, -1, u);
  EXPECT_EQ(tables.Of(kMost, -1, 0), nullptr);
  ASSERT_NE(tables.Of(kMost - 1, -1, 0), nullptr);
  // Far more than there are tables; each answer is its own, the second time too.
  std::vector<double> medians;
  for (int round = 0; round < 2; ++round) {
    for (std::int32_t u = 100; u < 100 + 3000; ++u) {
      const double median = tables.Of(u, -1, 0)->Predict(tables.bins(), 0).median;
      if (round == 0) medians.push_back(median);
      EXPECT_EQ(median, medians[static_cast<std::size_t>(u - 100)]);
    }
  }
  EXPECT_LT(medians.front(), medians.back());
}

double MedianOf(const SubmitterTables& tables, std::int32_t user) {
  return tables.Of(user, -1, 0)->Predict(tables.bins(), 0).median;
}

// Thirty short runs, a month later five long ones; in two episodes.
TEST(SubmitterTablesTest, EarlierRunsCountLessUnlessTheyStay) {
  for (const Seconds half_life : {3 * 86400.0, 0.0}) {
    SubmitterTables tables(1, 1);
    tables.SetOptions({.half_life = half_life});
    const GittinsTable of_class(1, 4, [](double x) { return 1 / (1 + x / 600); });
    for (int episode = 0; episode < 2; ++episode) {
      tables.OnEpisodeStart();
      Moment moment;
      moment.Add("");
      moment.o().user.back() = 0;
      moment.o().now = 1e7;
      tables.Observe(moment.o(), true);
      tables.SetClass(0, of_class);
      for (int i = 0; i < 30; ++i) tables.Add(0, -1, 100);
      moment.o().now += 30 * 86400.0;
      tables.Observe(moment.o(), true);
      for (int i = 0; i < 5; ++i) tables.Add(0, -1, 20000);
      if (half_life > 0) {
        EXPECT_GT(MedianOf(tables, 0), 5000) << episode;
      } else {
        EXPECT_LT(MedianOf(tables, 0), 300) << episode;
      }
    }
  }
}

// Short ones of many submitted together end first: those that go on say that more are long.
TEST(SubmitterTablesTest, JobsThatHaveNotEndedTellHowLongTheyLasted) {
  for (const bool unfinished : {true, false}) {
    SubmitterTables tables(1, 1);
    tables.SetOptions({.unfinished = unfinished});
    Moment moment;
    std::vector<double> lasted;
    for (int i = 0; i < 40; ++i) {
      moment.Add("");
      moment.o().user.back() = 0;
      moment.o().job.back() = i;
      lasted.push_back(i < 39 ? 5000 : 0);
    }
    tables.Observe(moment.o(), true);
    tables.SetClass(0, GittinsTable(1, 4, [](double x) { return 1 / (1 + x / 600); }));
    for (int i = 0; i < 20; ++i) tables.Add(0, -1, 60);
    const double before = MedianOf(tables, 0);
    EXPECT_LT(before, 150);
    for (int again = 0; again < 2; ++again) {
      tables.ObserveUnfinished(moment.o(), lasted);
      if (unfinished) {
        EXPECT_GT(MedianOf(tables, 0), 5000);
      } else {
        EXPECT_EQ(MedianOf(tables, 0), before);
      }
    }
    tables.ObserveUnfinished(Observation(), {});
    EXPECT_EQ(MedianOf(tables, 0), before) << "they are gone";
  }
}

TEST(SubmitterTablesTest, GroupsWithFewRunsJoinTheirUser) {
  RunsByName runs;
  for (int i = 0; i < 5; ++i) AddRun("a", "often", 30, &runs);
  AddRun("a", "once", 20, &runs);
  AddRun("a", "", 20, &runs);
  AddRun("", "of nobody", 20, &runs);
  KeepLargestGroups(1, &runs);
  EXPECT_EQ(runs["a"], (RunsByName::mapped_type{{"", {{20, 2}}}, {"often", {{30, 5}}}}));
  EXPECT_TRUE(runs[""].empty());
}

}  // namespace
}  // namespace allot
