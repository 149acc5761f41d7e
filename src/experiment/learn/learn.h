#pragma once
// 'allot learn': from a trace to an accepted policy. The policy begins at the best rule, each part
// of what is learned counts only if it helps on jobs that it was not made from, and so the result
// is never worse than the rule, beyond what validation can tell. The parts, in this order:
//
//   default rule   the policy 'index' with its own numbers
//   tuned          its numbers, by search on the training part
//   + lengths      ordered by the lengths that a length model learned from ended jobs forecasts
//   + network      a network that adds to the numbers of that rule ('offsets'), begun exactly at
//                  the rule, improved by evolution
//
// The tuned numbers count if the objective on validation workloads is lower, the parts after them
// only if the whole 95 % interval of its ratio is below 1. The test workloads are played once, at
// the end.

#include <string>
#include <vector>

#include "experiment/global_options.h"
#include "experiment/world_spec.h"

namespace allot {

struct LearnOptions {
  WorldSpec world;
  std::string command;  // for cards and the report
  std::string out;
  std::string objective = "jct";
  double minutes = 3;  // for everything; the network gets what is left
  int iterations = 0;  // of the network's training, in place of minutes; 0: as many as fit
  bool resume = false;
};

// Writes into `out`: policy/ (a checkpoint), learn.json, evaluate/, report.html and train/. Ctrl-C
// ends the training of the network; what was best so far is then validated and tested. From traces
// that are too short to be divided (learning_periods.h) nothing is learned: the policy is the
// default rule, tested on all jobs. UsageError if `out` holds a run and `resume` is not set, or one
// of other options and it is.
void RunLearning(const LearnOptions& options, const GlobalOptions& globals);

}  // namespace allot
