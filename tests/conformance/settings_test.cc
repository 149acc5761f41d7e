// Every registered setting with its defaults: equal seeds give equal episodes, others give others,
// and a well-known policy plays them to the end.

#include <gtest/gtest.h>

#include <algorithm>

#include "envs/setting.h"
#include "sim/run.h"

namespace allot {
namespace {

class SettingConformance : public testing::TestWithParam<std::string> {};

std::vector<std::pair<Seconds, double>> Arrivals(const Scenario& scenario) {
  std::vector<std::pair<Seconds, double>> arrivals;
  for (std::size_t i = 0; i < scenario.workload().jobs.size(); ++i) {
    arrivals.emplace_back(scenario.workload().jobs[i].submit,
                          scenario.facts(static_cast<JobIndex>(i)).work);
  }
  return arrivals;
}

TEST_P(SettingConformance, EpisodesAreAFunctionOfTheSeed) {
  const Setting one = MakeSetting(GetParam());
  const Setting other = MakeSetting(GetParam());
  other.episodes(8);  // whatever was drawn before
  EXPECT_EQ(Arrivals(*one.episodes(7)), Arrivals(*other.episodes(7)));
  EXPECT_NE(Arrivals(*one.episodes(7)), Arrivals(*one.episodes(8)));
}

TEST_P(SettingConformance, APolicyPlaysItToTheEnd) {
  const Setting setting = MakeSetting(GetParam());
  const auto scenario = setting.episodes(1);
  const auto policy = MakePolicy("index");
  const RunOutcome run = RunPolicy(*scenario, *policy);
  const auto unfinished = std::ranges::count(run.records, kNever, &JobRecord::finish);
  EXPECT_EQ(unfinished, run.starts ? run.starts->given_up : 0) << setting.name;
}

INSTANTIATE_TEST_SUITE_P(All, SettingConformance,
                         testing::ValuesIn(Registry<SettingInfo>::Global().ids()));

}  // namespace
}  // namespace allot
