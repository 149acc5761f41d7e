#pragma once
// The best fixed index for given episodes: the heuristic that a learned policy has to beat.
// Coordinate search over the parameters of the policy 'index', each basis from its own start; every
// candidate plays all episodes. Deterministic.

#include <memory>
#include <string>
#include <vector>

#include "agents/training/objective.h"
#include "agents/training/trainer.h"
#include "core/params.h"

namespace allot {

struct TuneOptions {
  std::vector<std::string> bases = {"remaining"};  // of 'index' that are tried
  // Where the search begins; its parameters that are not searched are those of every candidate.
  std::string start = "index";
  std::string history;   // the parameter of 'index', for basis gittins
  ParamLoader loader{};  // of histories; empty: from files
  bool ranked = false;   // also search with heSRPT's weight, `rank`
  Objective objective;
  std::int64_t max_decisions = 2000;
  int passes = 2;  // over the parameters
  int threads = 0;
};

struct TunedIndex {
  std::string spec;      // "index:basis=gittins,alpha=0.25,..."
  double log_value = 0;  // mean over the episodes of ln(objective)
  // With any weight of the rank, searched from there; as above unless `ranked` is set.
  std::string ranked_spec;
  double ranked_log_value = 0;
  std::int64_t played = 0;  // episodes
};

TunedIndex TuneIndex(const std::vector<std::shared_ptr<const Scenario>>& scenarios,
                     const TuneOptions& options);

}  // namespace allot
