// Deadlines that somebody promised (sim/objectives.h).

#include "sim/objectives.h"

#include <gtest/gtest.h>

#include "tests/unit/core/expect_error.h"
#include "tests/unit/sim/small_world.h"

namespace allot {
namespace {

Scenario WithDeadline(Seconds submit, Seconds duration, Seconds deadline) {
  Workload workload = testing_support::WorkloadOf({{.submit = submit, .duration = duration}});
  workload.source = "t.trace";
  workload.jobs.front().line = 7;
  workload.jobs.front().deadline = deadline;
  return Scenario(std::move(workload), ClusterSpec::Parse("1x1"), {});
}

TEST(Objectives, ADeadlineBeforeTheShortestRunTimeIsAnError) {
  ExpectError(ExitCode::kBadData,
              {"a deadline must leave a job its shortest run time", "'job0' has 99 s",
               "takes 100 s", "(t.trace:7)", "--late-deadlines"},
              [] { RequireMeetableDeadlines(WithDeadline(50, 100, 149)); });
}

TEST(Objectives, ExactlyTheRunTimeIsEnough) {
  EXPECT_NO_THROW(RequireMeetableDeadlines(WithDeadline(50, 100, 150)));
  EXPECT_NO_THROW(RequireMeetableDeadlines(WithDeadline(50, 100, kNever)));
}

TEST(Objectives, TheFastestOfTheJobsTypesCounts) {
  // 100 s on the slow type, 25 s on the fast one.
  const auto scenario = [](Seconds deadline) {
    Workload workload = testing_support::WorkloadOf({{.duration = 100}});
    workload.jobs.front().deadline = deadline;
    std::vector<Configuration> two = {
        {.units = {1}, .gpu_type = 0, .demand = {1, 0}, .cost = 1, .rate = 1},
        {.units = {1}, .gpu_type = 1, .demand = {1, 0}, .cost = 1, .rate = 4}};
    Scenario::JobFacts facts;
    facts.table = std::make_shared<ConfigurationTable>("t", std::vector<UnitKind>{{"gpu", {1, 0}}},
                                                       std::move(two));
    facts.work = 100;
    return Scenario(std::move(workload), ClusterSpec::Parse("1x1:slow,1x1:fast"), {}, {facts});
  };
  EXPECT_NO_THROW(RequireMeetableDeadlines(scenario(25)));
  ExpectError(ExitCode::kBadData, {"takes 25 s on its fastest GPUs (fast)"},
              [&] { RequireMeetableDeadlines(scenario(24)); });
}

}  // namespace
}  // namespace allot
