#pragma once
// The tasks of the contest `allot score`. A task is a world with three splits: episodes to train
// in, to choose by, and to be tested in. The worlds of generated jobs are the same in all three and
// differ in seeds; those of a trace also differ in time.
//
// A new task is one file in src/experiment/score/tasks/ that registers a ScoreTask. A task that was
// published never changes: a changed one is registered beside it with the next version.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/world.h"

namespace allot {

enum class ScoreSplit { kTrain, kValidation, kTest };

ScoreSplit ScoreSplitNamed(
    std::string_view name);  // "train", "validation", "test"; UsageError for others

struct ScoreTask {
  std::string id;  // name and version: "GavelBatch-v1"
  std::string summary;
  // Settings (envs/setting.h).
  std::string train;
  std::string validation;
  std::string test;
  // Published rules of this world, under the setting's profile (task_families.h).
  std::vector<std::string> rules;
  // The index tuned on the train and validation splits; kTunedIndex stands for that of the setting.
  std::string tuned = kTunedIndex;
  int workloads = 16;  // of the test split
  bool small = false;  // also of the suite "small"

  std::string name() const { return id.substr(0, id.rfind("-v")); }
  int version() const { return std::stoi(id.substr(id.rfind("-v") + 2)); }
  const std::string& setting(ScoreSplit split) const;
};

// Suite "vN" holds the newest version up to N of every task; "small" holds the tasks that run in
// seconds, on two workloads each.
struct Suite {
  std::string id;
  std::vector<ScoreTask> tasks;
};
// UsageError that lists the suites if `id` is none.
Suite SuiteNamed(const std::string& id);

// The salt that everybody knows. With another one nobody can have chosen a policy by the test
// split.
inline constexpr const char* kPublicSalt = "public";

// The seed of the first episode of a split; episode k has the seed first + k. The splits' seeds are
// disjoint. Those of the test split follow from the task's id and the salt, which the other splits
// ignore.
std::uint64_t FirstSeed(const ScoreTask& task, ScoreSplit split, std::string_view salt);

// Episodes of a split by number.
EpisodeSource EpisodesOf(const ScoreTask& task, ScoreSplit split, const std::string& salt);

// The world that plays the test split.
WorldSpec TestWorld(const ScoreTask& task, const std::string& salt);

}  // namespace allot
