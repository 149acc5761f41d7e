#include "length_model/work_of_profiles.h"

#include <gtest/gtest.h>

namespace allot {
namespace {

ConfigurationTable TableNamed(const std::string& name) {
  Configuration one;
  one.units = {1};
  one.demand = {1, 0};
  one.cost = 1;
  one.rate = 1;
  return ConfigurationTable(name, {{"gpu", {1, 0}}}, {one});
}

// Rows of jobs, each with its table and what it has done.
struct Row {
  JobIndex job;
  const ConfigurationTable* table;
  double done;
};
Observation Showing(const std::vector<Row>& rows, std::int64_t number,
                    const std::vector<std::pair<JobIndex, double>>& ended = {}) {
  Observation o;
  o.interval = 2;
  for (const Row& row : rows) {
    o.Append({.job = row.job, .table = row.table});
    o.done_work.back() = row.done;
  }
  o.events.number = number;
  for (const auto& [job, work] : ended) {
    EndedJob gone;
    gone.job = job;
    gone.work = work;
    o.events.ended.push_back(gone);
  }
  return o;
}

TEST(WorkOfProfilesTest, JobsOfAProfileNeedWhatTheOthersNeeded) {
  const ConfigurationTable bert = TableNamed("bert");
  const ConfigurationTable yolo = TableNamed("yolo");
  WorkOfProfiles works;
  works.Observe(Showing({{0, &bert, 0}, {1, &bert, 0}, {2, &yolo, 0}, {3, &bert, 0}}, 1));
  const Observation o = Showing({{2, &yolo, 5}, {3, &bert, 40}}, 2, {{0, 100}, {1, 60}});
  works.Observe(o);
  EXPECT_EQ(works.Remaining(o, 0), 5) << "none of its profile has ended: as much again";
  EXPECT_EQ(works.Remaining(o, 1), (60.0 + 20.0) / 2);
  const Observation later = Showing({{3, &bert, 80}}, 3);
  works.Observe(later);
  EXPECT_EQ(works.Remaining(later, 0), 20) << "only those that had done more count";
  const Observation last = Showing({{3, &bert, 120}}, 4);
  works.Observe(last);
  EXPECT_EQ(works.Remaining(last, 0), 120) << "it is the longest";
}

TEST(WorkOfProfilesTest, AnObservationThatComesAgainTellsNothingNew) {
  const ConfigurationTable bert = TableNamed("bert");
  WorkOfProfiles works;
  works.Observe(Showing({{0, &bert, 0}, {1, &bert, 0}, {2, &bert, 0}}, 1));
  for (int i = 0; i < 3; ++i) works.Observe(Showing({{1, &bert, 0}, {2, &bert, 0}}, 2, {{0, 90}}));
  const Observation o = Showing({{2, &bert, 0}}, 3, {{1, 30}});
  works.Observe(o);
  EXPECT_EQ(works.Remaining(o, 0), 60) << "90 once and 30 once";
  works.OnEpisodeStart();
  works.Observe(o);
  EXPECT_EQ(works.Remaining(o, 0), 2) << "one interval";
}

TEST(WorkOfProfilesTest, WhatTheLongestHasDoneCountsForAllOfItsProfile) {
  const ConfigurationTable bert = TableNamed("bert");
  WorkOfProfiles works;
  const Observation o = Showing({{0, &bert, 500}, {1, &bert, 10}}, 1);
  works.Observe(o);
  EXPECT_EQ(works.Remaining(o, 0), 500);
  EXPECT_EQ(works.Remaining(o, 1), 990);
}

}  // namespace
}  // namespace allot
