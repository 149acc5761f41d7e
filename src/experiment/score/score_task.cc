#include "experiment/score/score_task.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/error.h"
#include "core/rng.h"
#include "core/strings.h"

namespace allot {
namespace {

constexpr std::uint64_t kSeedsOfSplit = std::uint64_t{1} << 48;
constexpr std::uint64_t kFirstOfValidation = kSeedsOfSplit;
constexpr std::uint64_t kFirstOfTest = std::uint64_t{1} << 62;

constexpr const char* kSmallSuite = "small";
constexpr int kWorkloadsOfSmall = 2;

// Of every task its newest version up to `version`, by id.
std::vector<ScoreTask> NewestUpTo(int version) {
  std::map<std::string, ScoreTask> newest;
  for (const ScoreTask& task : Registry<ScoreTask>::Global().entries()) {
    if (task.version() > version) continue;
    const auto [known, is_new] = newest.emplace(task.name(), task);
    if (!is_new && known->second.version() < task.version()) known->second = task;
  }
  std::vector<ScoreTask> tasks;
  tasks.reserve(newest.size());
  for (auto& [name, task] : newest) tasks.push_back(std::move(task));
  return tasks;
}

}  // namespace

ScoreSplit ScoreSplitNamed(std::string_view name) {
  if (name == "train") return ScoreSplit::kTrain;
  if (name == "validation") return ScoreSplit::kValidation;
  if (name == "test") return ScoreSplit::kTest;
  throw UsageError("split must be train, validation or test, got '{}'{}", name,
                   DidYouMean(std::string(name), {"train", "validation", "test"}));
}

const std::string& ScoreTask::setting(ScoreSplit split) const {
  switch (split) {
    case ScoreSplit::kTrain:
      return train;
    case ScoreSplit::kValidation:
      return validation;
    case ScoreSplit::kTest:
      break;
  }
  return test;
}

Suite SuiteNamed(const std::string& id) {
  int newest = 0;
  for (const ScoreTask& task : Registry<ScoreTask>::Global().entries()) {
    newest = std::max(newest, task.version());
  }
  if (id == kSmallSuite) {
    Suite suite{id, NewestUpTo(newest)};
    std::erase_if(suite.tasks, [](const ScoreTask& task) { return !task.small; });
    for (ScoreTask& task : suite.tasks) task.workloads = kWorkloadsOfSmall;
    return suite;
  }
  std::vector<std::string> known = {kSmallSuite};
  for (int version = 1; version <= newest; ++version) {
    if (id == fmt::format("v{}", version)) return {id, NewestUpTo(version)};
    known.push_back(fmt::format("v{}", version));
  }
  throw UsageError("suite must be one of {}, got '{}'", Join(known, ", "), id);
}

std::uint64_t FirstSeed(const ScoreTask& task, ScoreSplit split, std::string_view salt) {
  switch (split) {
    case ScoreSplit::kTrain:
      return 0;
    case ScoreSplit::kValidation:
      return kFirstOfValidation;
    case ScoreSplit::kTest:
      break;
  }
  // Mixed once more, because texts that differ in their end have FNV hashes that are close.
  const std::uint64_t mixed = Rng(StableHash(salt, StableHash(task.id + "/")), "score").NextU64();
  return kFirstOfTest + mixed % kSeedsOfSplit;
}

EpisodeSource EpisodesOf(const ScoreTask& task, ScoreSplit split, const std::string& salt) {
  const Setting setting = MakeSetting(task.setting(split));
  const std::uint64_t first = FirstSeed(task, split, salt);
  return [episodes = setting.episodes, first](std::uint64_t number) {
    return episodes(first + number % kSeedsOfSplit);
  };
}

WorldSpec TestWorld(const ScoreTask& task, const std::string& salt) {
  WorldSpec spec;
  spec.setting = task.test;
  spec.workloads = task.workloads;
  spec.seed = FirstSeed(task, ScoreSplit::kTest, salt);
  return spec;
}

}  // namespace allot
