// Runs as files and back: what was decided and when jobs ended must come back as it was.

#include "episode_log/episode_log.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "sim/run.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/core/temp_folder.h"
#include "tests/unit/sim/small_world.h"

namespace allot {
namespace {

using testing_support::TempFolder;

namespace fs = std::filesystem;
using testing_support::Las;
using testing_support::ScenarioOf;

class LoggedRun : public testing::Test {
 protected:
  LoggedRun()
      : scenario_(ScenarioOf({{0, 2, 900}, {100, 1, 400}, {250, 4, 700}}, "2x2",
                             {.interval = 50, .seed = 3})) {
    EpisodeLog log({.root = folder_.path().string(), .policy = "las", .command = "a test"});
    const auto policy = Las();
    DecisionListener* const listeners[] = {log.BeginEpisode(scenario_, 3)};
    outcome_ = RunPolicy(scenario_, *policy, listeners,
                         [&](const SimulatedCluster& cluster) { log.Attach(cluster); });
    log.EndEpisode(outcome_.records);
    log.Close();
    path_ = log.directory().string();
  }

  TempFolder folder_;
  Scenario scenario_;
  RunOutcome outcome_;
  std::string path_;
};

TEST_F(LoggedRun, ComesBackAsItWas) {
  const std::vector<LoggedEpisode> episodes = ReadEpisodeLog(path_);
  ASSERT_EQ(episodes.size(), 1U);
  const LoggedEpisode& episode = episodes[0];
  EXPECT_EQ(episode.policy, "las");
  EXPECT_EQ(episode.seed, 3U);
  EXPECT_EQ(episode.seen, nullptr) << "a simulated run is simulated again";
  EXPECT_EQ(episode.decisions.times.size(), static_cast<std::size_t>(outcome_.drive.decisions));
  EXPECT_EQ(episode.scenario->cluster().ToString(), scenario_.cluster().ToString());
  EXPECT_EQ(episode.scenario->options().interval, 50);
  ASSERT_EQ(episode.finish.size(), outcome_.records.size());
  for (std::size_t j = 0; j < episode.finish.size(); ++j) {
    EXPECT_EQ(episode.finish[j], outcome_.records[j].finish) << "job " << j;
  }
}

TEST_F(LoggedRun, PlayedBackItEndsAtTheSameTimes) {
  const LoggedEpisode episode = std::move(ReadEpisodeLog(path_).front());
  RecordedPolicy recorded(episode.decisions);
  const RunOutcome again = RunPolicy(*episode.scenario, recorded);
  for (std::size_t j = 0; j < again.records.size(); ++j) {
    EXPECT_EQ(again.records[j].finish, outcome_.records[j].finish) << "job " << j;
  }
}

TEST_F(LoggedRun, PlaybackTellsListenersEveryDecision) {
  class Counter : public DecisionListener {
   public:
    void OnDecision(const Observation& observation, const Allocation&) override {
      times.push_back(observation.now);
    }
    std::vector<Seconds> times;
  };
  const LoggedEpisode episode = std::move(ReadEpisodeLog(path_).front());
  Counter counter;
  PlaybackOf(episode)(&counter);
  EXPECT_EQ(counter.times, episode.decisions.times);
}

TEST_F(LoggedRun, ACutFileIsDamagedData) {
  const fs::path file = fs::path(path_) / "main_data.hdf5";
  const fs::path found = fs::exists(file) ? file : fs::path(path_) / "data" / "main_data.hdf5";
  ASSERT_TRUE(fs::exists(found));
  fs::resize_file(found, fs::file_size(found) / 2);
  ExpectError(ExitCode::kBadData, {"main_data.hdf5"}, [&] { ReadEpisodeLog(path_); });
}

TEST(EpisodeLog, NamesDataSetsByPolicy) {
  EXPECT_EQ(EpisodeLog::DatasetId("las:queues=3600"), "cluster/las-queues-3600-v0");
}

}  // namespace
}  // namespace allot
