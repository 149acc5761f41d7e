#pragma once
// A training run in its folder: latest/ to resume from, best/ to serve, curve.csv, TensorBoard
// events. What 'allot train' and 'allot reproduce claims' share.

#include <string>
#include <vector>

#include "agents/training/trainer.h"
#include "experiment/global_options.h"
#include "experiment/world_spec.h"

namespace allot {

struct TrainOptions {
  WorldSpec world;
  std::string command;  // that cards say
  std::string network;  // of fresh weights, "ID:KEY=VALUE,..."; empty: index, or the start's
  std::string start;    // checkpoint folder, or "index:..."; empty: fresh weights
  std::string teacher;  // kTunedIndex: of each world; empty: that for networks that add to it,
                        // else optimus
  std::string out;
  bool resume = false;
  std::string how_to_continue;  // said after an interruption; empty: allot train --resume
  std::string episode_span = "3d";
  std::string training_cluster;
  std::vector<double> training_loads{};  // empty: those of the world, else as many as it offers
  int validate_every = 10;
  int validation_workloads = 6;
  int stop_after = 0;
  int patience = 0;  // validations in turn without a better one that end the run; 0: never
  std::string method = "policy-gradient";
  std::string objective = "jct";
  std::string history;
  std::vector<std::string> from_logs;  // episode logs that stand in for the world
  TrainerOptions trainer;
};

// Throws Error with kInterrupted, after a checkpoint, when the user stops it.
int RunTraining(TrainOptions& options, const GlobalOptions& globals);

}  // namespace allot
