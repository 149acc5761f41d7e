#pragma once
// A training run in its folder: latest/ to resume from, best/ to serve, curve.csv, TensorBoard
// events. Used by 'allot train' and 'allot learn'.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agents/training/trainer.h"
#include "experiment/global_options.h"
#include "experiment/world_spec.h"
#include "workload/trace_reader.h"

namespace allot {

struct TrainOptions {
  WorldSpec world;
  std::string command;  // for cards
  std::string network;  // "ID:KEY=VALUE,..." for fresh weights; empty: index, or the start's
  std::string start;    // checkpoint folder, or "index:..."; empty: fresh weights
  std::string teacher;  // kTunedIndex stands for that of each world; empty: kTunedIndex for
                        // networks that add to it, otherwise optimus
  std::string index;    // what kTunedIndex stands for, and where networks that add to an index
                        // begin; empty: the index of each world
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

// Ratios are of the objective to the teacher's, on the validation workloads.
struct TrainingResult {
  std::int64_t iterations = 0;
  std::int64_t episodes = 0;
  double validation_ratio = 0;  // of the last weights
  double best_ratio = 0;        // of best/
  std::map<std::string, double> best_by_setting{};
  std::int64_t best_iteration = 0;   // 0: the start
  int later_validations = 0;         // since then
  bool stopped_early = false;        // by `patience`
  std::optional<ReadReport> read{};  // of the trace, where one is read
};

// Throws Error with kInterrupted, after writing a checkpoint, if the user stops it.
TrainingResult RunTraining(TrainOptions& options, const GlobalOptions& globals);

}  // namespace allot
