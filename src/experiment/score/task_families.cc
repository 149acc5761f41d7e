#include "experiment/score/task_families.h"

#include <fmt/format.h>

#include <utility>

namespace allot {
namespace {

// Functions, because tasks register before main.
std::vector<std::string> RulesOfRigidJobs() {
  return {"fifo", "easy", "sjf", "srtf", "las", "tiresias", "gittins", "drf"};
}
std::vector<std::string> RulesOfElasticJobs() {
  return {"optimus", "pollux", "srtf", "las", "tiresias", "gittins", "drf"};
}

// A task in a world of generated jobs: the splits differ in seeds only.
ScoreTask Generated(const std::string& id, const std::string& summary, const std::string& setting,
                    std::vector<std::string> rules) {
  ScoreTask task;
  task.id = id;
  task.summary = summary;
  task.train = task.validation = task.test = setting;
  task.rules = std::move(rules);
  return task;
}

ScoreTask OfTrace(const std::string& id, const std::string& summary, const std::string& workload,
                  const SplitWindows& windows, const std::string& world, const std::string& tuned) {
  const auto setting = [&](const std::string& window) {
    return fmt::format("trace:workload={},{},{}", workload, window, world);
  };
  ScoreTask task;
  task.id = id;
  task.summary = summary;
  task.train = setting(windows.train);
  task.validation = setting(windows.validation);
  task.test = setting(windows.test);
  task.tuned = tuned;
  return task;
}

}  // namespace

ScoreTask Dl2Task(const std::string& id, const std::string& summary, const std::string& size) {
  return Generated(id, summary, "dl2:size=" + size,
                   {"drf", "optimus", "tetris", "srtf", "fifo", "drf-repaired", "optimus-repaired",
                    "tetris-repaired", "srtf-repaired"});
}

ScoreTask GavelTask(const std::string& id, const std::string& summary, const std::string& world) {
  return Generated(id, summary, "gavel:" + world,
                   {"allox", "max_sum_throughput_perf-repaired", "max_min_fairness_perf-repaired",
                    "max_min_fairness_water_filling_perf-repaired", "fifo_perf-repaired"});
}

ScoreTask PolluxTask(const std::string& id, const std::string& summary, const std::string& load) {
  return Generated(id, summary, "pollux:load=" + load, {"pollux", "tiresias", "optimus"});
}

SplitWindows PhillyWindows() {
  return {"from=2017-10-30,to=2017-11-09,random-start=true,span=7d",
          "from=2017-11-09,to=2017-11-13,span=4d", "from=2017-11-13,span=7d"};
}

ScoreTask RigidTask(const std::string& id, const std::string& summary, const std::string& workload,
                    const SplitWindows& windows, const std::string& world,
                    const std::string& tuned) {
  ScoreTask task = OfTrace(id, summary, workload, windows, "rigid=true," + world, tuned);
  task.rules = RulesOfRigidJobs();
  return task;
}

ScoreTask ElasticPhillyTask(const std::string& id, const std::string& summary,
                            const std::string& world, const std::string& tuned) {
  ScoreTask task = OfTrace(id, summary, "embedded", PhillyWindows(),
                           "rigid=false,speedups=power," + world, tuned);
  task.rules = RulesOfElasticJobs();
  return task;
}

ScoreTask GangTask(const std::string& id, const std::string& summary, const std::string& world,
                   bool elastic) {
  return Generated(id, summary, world, elastic ? RulesOfElasticJobs() : RulesOfRigidJobs());
}

}  // namespace allot
