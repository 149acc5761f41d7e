#pragma once
// A training run in its folder: latest/ to resume from, best/ to serve, curve.csv, TensorBoard
// events. Used by 'allot train' and 'allot reproduce claims'.

#include <string>
#include <vector>

#include "agents/training/trainer.h"
#include "experiment/global_options.h"
#include "experiment/world_spec.h"

namespace allot {

struct TrainOptions {
  WorldSpec world;
  std::string command;  // for cards
  std::string network;  // "ID:KEY=VALUE,..." for fresh weights; empty: index, or the start's
  std::string start;    // checkpoint folder, or "index:..."; empty: fresh weights
  std::string teacher;  // kTunedIndex stands for that of each world; empty: kTunedIndex for
                        // networks that add to it, otherwise optimus
  std::string out;
  bool resume = false;
  std::string how_to_continue;  // printed after an interruption; empty: allot train --resume
  std::string episode_span = "3d";
  std::string training_cluster;
  std::vector<double> training_loads{};  // empty: see SetTrainingLoads
  int validate_every = 10;
  int validation_workloads = 6;
  int stop_after = 0;
  int patience = 0;  // the run ends after so many validations without a better one; 0: never
  std::string method = "policy-gradient";
  std::string objective = "jct";
  std::string history;
  std::vector<std::string> from_logs;  // episode logs that replace the world
  TrainerOptions trainer;
};

// Throws Error with kInterrupted, after writing a checkpoint, if the user stops it.
int RunTraining(TrainOptions& options, const GlobalOptions& globals);

}  // namespace allot
