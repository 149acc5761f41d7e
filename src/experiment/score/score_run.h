#pragma once
// Plays the tasks of a suite: what `allot score` and allot.score() in Python run.

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiment/experiment.h"
#include "experiment/score/score_result.h"
#include "experiment/score/score_task.h"

namespace allot {

// A policy that takes part.
struct Entrant {
  std::string name;  // on the scoreboard
  // Its contender in a task's world. Throws Error if it cannot play there.
  std::function<Contender(World& world)> in;
  // Configurations of the checkpoints that it is made from (SourcesOfCheckpoint).
  std::vector<nlohmann::json> lineage{};
};

// "fifo,mine=learned:checkpoint=DIR": names and specs as of ParseContenders.
std::vector<Entrant> ParseEntrants(const std::string& text);

struct ScoreOptions {
  std::string suite = "v1";
  std::string salt = kPublicSalt;
  std::string command{};  // stored with the result
  int threads = 0;        // 0: one per core; results do not depend on it
  bool show_progress = false;
};

// Every entrant plays every task beside the task's rules and its tuned rule, on the same workloads.
// An entrant that cannot play a task, that breaks a rule there or leaves jobs without progress for
// ever is absent from it, with the reason; one that can play none is an error.
ScoreResult PlaySuite(const std::vector<Entrant>& entrants, const ScoreOptions& options);

}  // namespace allot
