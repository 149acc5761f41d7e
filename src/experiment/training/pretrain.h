#pragma once
// Networks learn from the decisions of any scheduler, in one of two ways: index networks from
// margins, sequence networks from increments.

#include <functional>
#include <string>
#include <vector>

#include "agents/training/imitation.h"
#include "experiment/global_options.h"
#include "models/checkpoint.h"

namespace allot {

struct PretrainOptions {
  std::vector<std::string> logs;
  std::string setting;  // with a teacher, instead of logs
  std::string teacher = "optimus";
  int episodes = 60;
  std::string network = "index:alpha=0,beta=0,kappa=0";
  std::string command;  // for the card
  std::string out;
  double hold_out = 0.2;
  int stride = 1;
  int hidden = 0;  // 0: the network's own
  int passes = 1;
  double entropy = 0;
  double smoothing = 0.1;
  ImitationOptions imitation{.epochs = 0, .learning_rate = 0};  // 0: the method's default
};

struct PretrainedCheckpoint {
  Checkpoint checkpoint;
  std::string curve;     // CSV
  std::string measured;  // a sentence
};

// Trains the network of the options by its method; the checkpoint records the sources. UsageError
// without logs or a setting.
PretrainedCheckpoint Pretrain(const PretrainOptions& o, const GlobalOptions& globals);

}  // namespace allot
