#pragma once
// The greedy policy of some weights against a reference on fixed workloads.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agents/learned/agent.h"
#include "agents/training/objective.h"
#include "agents/training/trainer.h"

namespace allot {

struct ValidationEpisode {
  std::shared_ptr<const Scenario> scenario;
  EpisodeWorld world;  // its teacher is the reference
  std::string group;   // label of its ratio
};

class Validation {
 public:
  // Runs the reference once per scenario. Episodes are cut after `max_decisions`. All of the team
  // call everything together.
  Validation(std::vector<ValidationEpisode> episodes, Objective objective,
             std::int64_t max_decisions, int threads, std::shared_ptr<Team> team = TeamOfOne());

  struct Ratios {
    double mean = 0;                         // over all episodes
    std::map<std::string, double> by_group;  // over those of one group
  };
  // Of own value / the reference's. Deterministic.
  Ratios Of(const Agent& agent) const;

 private:
  std::vector<ValidationEpisode> episodes_;
  Objective objective_;
  std::int64_t max_decisions_;
  int threads_;
  std::shared_ptr<Team> team_;
  std::vector<std::vector<double>> reference_;  // one value each
};

}  // namespace allot
