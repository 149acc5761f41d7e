#pragma once
// What the tasks of one world have in common: its published rules and, for traces, the windows of
// the splits. Rules are those that the world's paper proposes or compares with, by their names
// under the setting's profile, and our repaired form of a rule where that is faster.

#include <string>

#include "experiment/score/score_task.h"

namespace allot {

// DL2 (Peng et al., TPDS 2021); `size` is one of the setting's.
ScoreTask Dl2Task(const std::string& id, const std::string& summary, const std::string& size);

// Gavel (Narayanan et al., OSDI 2020); `world` holds parameters of the setting.
ScoreTask GavelTask(const std::string& id, const std::string& summary, const std::string& world);

// Pollux (Qiao et al., OSDI 2021).
ScoreTask PolluxTask(const std::string& id, const std::string& summary, const std::string& load);

// The windows of a trace in which the splits draw their episodes, as parameters of the setting.
struct SplitWindows {
  std::string train;
  std::string validation;
  std::string test;  // later than the others
};

// Jobs of a trace that keep their requested size, or of Philly whose size policies choose; `world`
// holds the other parameters of the setting, `tuned` the index that `allot tune` finds before the
// test window.
ScoreTask RigidTask(const std::string& id, const std::string& summary, const std::string& workload,
                    const SplitWindows& windows, const std::string& world,
                    const std::string& tuned);
ScoreTask ElasticPhillyTask(const std::string& id, const std::string& summary,
                            const std::string& world, const std::string& tuned);

// Gangs on nodes that go, elastic or not; `world` is a setting.
ScoreTask GangTask(const std::string& id, const std::string& summary, const std::string& world,
                   bool elastic);

// Microsoft's Philly (Jeon et al., ATC 2019): two weeks before the test, two in it.
SplitWindows PhillyWindows();

}  // namespace allot
