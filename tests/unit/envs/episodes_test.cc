#include "envs/episodes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/error.h"
#include "small_world.h"
#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

std::vector<std::string> Ids(const Scenario& scenario) {
  std::vector<std::string> ids;
  for (const Job& job : scenario.workload().jobs) ids.push_back(job.id);
  return ids;
}

WindowOptions OneDay() {
  WindowOptions window;
  window.span = kDay;
  window.loads = {0};
  return window;
}

EpisodeSource Source(const WindowOptions& window) {
  return WindowEpisodes(FourDays(), ClusterSpec::Parse("2x4"), window);
}

TEST(LoadsOfSpans, SayWhatEverySecondHalfOffers) {
  // One job of 2 GPUs for half an hour at each full hour of eight: 1 GPU of 4.
  Workload workload;
  workload.name = "hours";
  for (int hour = 0; hour < 8; ++hour) {
    Job& job = workload.jobs.emplace_back();
    job.id = std::to_string(hour);
    job.submit = hour * 3600.0;
    job.gpus = 2;
    job.duration = 1800;
  }
  WindowOptions window;
  window.span = 7200;
  EXPECT_EQ(LoadsOfSpans(workload, ClusterSpec::Parse("1x4"), window),
            std::vector<double>(6, 0.25));
  window.span = kDay;  // longer than the trace: all of it, over the span
  EXPECT_EQ(LoadsOfSpans(workload, ClusterSpec::Parse("1x4"), window).size(), 1U);
}

TEST(WindowEpisodes, EqualSeedsGiveEqualJobsAndEstimates) {
  const EpisodeSource source = Source(OneDay());
  const auto a = source(5);
  const auto b = source(5);
  ASSERT_EQ(Ids(*a), Ids(*b));
  for (std::size_t i = 0; i < a->workload().jobs.size(); ++i) {
    const auto job = static_cast<JobIndex>(i);
    EXPECT_EQ(a->workload().jobs[i].submit, b->workload().jobs[i].submit);
    EXPECT_EQ(a->facts(job).estimate, b->facts(job).estimate);
  }
}

TEST(WeeklyEpisode, IsThatOfTheSourceThoughTheTraceIsGivenAway) {
  WindowOptions window = OneDay();
  window.weekly = true;
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    Workload trace = FourDays();
    const auto moved = WeeklyEpisode(std::move(trace), ClusterSpec::Parse("2x4"), window, seed);
    const auto copied = Source(window)(seed);
    ASSERT_EQ(Ids(*moved), Ids(*copied));
    EXPECT_EQ(moved->workload().name, copied->workload().name);
    for (std::size_t i = 0; i < copied->workload().jobs.size(); ++i) {
      const auto job = static_cast<JobIndex>(i);
      EXPECT_EQ(moved->workload().jobs[i].submit, copied->workload().jobs[i].submit);
      EXPECT_EQ(moved->facts(job).estimate, copied->facts(job).estimate);
    }
  }
}

TEST(WindowEpisodes, WeeklyWindowsAreDisjointCoverTheTraceAndComeRound) {
  const EpisodeSource source = Days();
  std::set<std::string> seen;
  std::size_t jobs = 0;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const std::vector<std::string> ids = Ids(*source(seed));
    seen.insert(ids.begin(), ids.end());
    jobs += ids.size();
  }
  EXPECT_EQ(jobs, seen.size()) << "a job is in two windows";
  const std::vector<Job>& all = FourDays().jobs;
  const auto whole_days =
      std::count_if(all.begin(), all.end(), [](const Job& job) { return job.submit < 4 * kDay; });
  EXPECT_EQ(static_cast<std::ptrdiff_t>(seen.size()), whole_days) << "a job is in no window";
  EXPECT_EQ(Ids(*source(0)), Ids(*source(4)));
}

TEST(WindowEpisodes, RandomWindowsStartAnywhere) {
  const EpisodeSource source = Source(OneDay());
  std::set<std::vector<std::string>> windows;
  for (std::uint64_t seed = 0; seed < 8; ++seed) windows.insert(Ids(*source(seed)));
  EXPECT_EQ(windows.size(), 8u);
}

TEST(WindowEpisodes, WindowStaysInsideItsPartOfTheTrace) {
  WindowOptions window = OneDay();
  window.from = kDay;
  window.to = 2 * kDay;
  std::set<std::string> allowed;
  for (const Job& job : FourDays().jobs) {
    if (job.submit >= kDay && job.submit < 2 * kDay) allowed.insert(job.id);
  }
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    for (const std::string& id : Ids(*Source(window)(seed)))
      EXPECT_TRUE(allowed.contains(id)) << id;
  }
}

TEST(WindowEpisodes, WeeklyLoadsChangeWithEveryPass) {
  WindowOptions window = OneDay();
  window.weekly = true;
  window.loads = {0, 0.2};
  const EpisodeSource source = Source(window);
  const std::vector<std::string> all = Ids(*source(1));
  const std::vector<std::string> sampled = Ids(*source(1 + 4));
  EXPECT_LT(sampled.size(), all.size());
  EXPECT_EQ(Ids(*source(1 + 8)), all);
}

TEST(WindowEpisodes, LoadsInTurnMeetEveryWindow) {
  WindowOptions window = OneDay();  // four windows
  window.weekly = true;
  window.loads = {0, 0.2};
  window.first_seed = 7;
  const EpisodeSource source = Source(window);
  const auto sampled = [&](std::uint64_t seed) {
    return source(seed)->workload().name.find("-load") != std::string::npos;
  };
  for (const std::uint64_t seed : {7U, 9U, 12U, 14U}) EXPECT_FALSE(sampled(seed)) << seed;
  for (const std::uint64_t seed : {8U, 10U, 11U, 13U}) EXPECT_TRUE(sampled(seed)) << seed;
}

TEST(WindowEpisodes, RandomEpisodesDrawEveryLoad) {
  WindowOptions window = OneDay();
  window.loads = {0, 0.2};
  const EpisodeSource source = Source(window);
  bool whole = false;
  bool sampled = false;
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    (source(seed)->workload().name.find("-load") == std::string::npos ? whole : sampled) = true;
  }
  EXPECT_TRUE(whole);
  EXPECT_TRUE(sampled);
}

TEST(WindowEpisodes, UnreachableLoadIsADataError) {
  WindowOptions window = OneDay();
  window.loads = {50};
  const EpisodeSource source = Source(window);
  ExpectError(ExitCode::kBadData, {}, [&] { source(0); });
}

TEST(WindowEpisodes, EmptyPartOfTheTraceIsAUsageError) {
  WindowOptions window = OneDay();
  window.from = 2 * kDay;
  window.to = kDay;
  EXPECT_THROW(Source(window), Error);
}

TEST(WindowEpisodes, AWindowAfterTheLastSubmissionIsRefusedByIt) {
  WindowOptions window = OneDay();
  window.from = 100 * kDay;
  window.span = -1;  // of no interest then
  ExpectError(ExitCode::kUsage, {"last submission", "[8640000, "}, [&] { Source(window); });
}

TEST(WindowEpisodes, RigidJobsKeepTheirSize) {
  WindowOptions window = OneDay();
  window.elastic = false;
  const auto scenario = Source(window)(0);
  for (const Job& job : scenario->workload().jobs) EXPECT_TRUE(job.rigid()) << job.id;
}

}  // namespace
}  // namespace allot
