#pragma once
// Supervised warm-up of a sequence network (DL2, TPDS'21, section 4.2): cross-entropy over a
// teacher's increments. A teacher's allocation says which units every job gets, not in which order.
// All legal increments that lead there are equally right; "done" is right when none is left. Works
// with any teacher's allocations, computed or logged.

#include <functional>
#include <memory>
#include <vector>

#include "agents/training/sequence_rollout.h"
#include "agents/training/trainer.h"
#include "sim/scenario.h"

namespace allot {

// One episode and the policy that decides in it. A teacher that only knows its own history (a log)
// must be followed.
struct Lesson {
  std::shared_ptr<const Scenario> scenario;
  PolicyMaker teacher;
  bool must_follow = false;
};

struct SequenceImitationOptions {
  std::uint64_t seed = 1;
  int epochs = 12;  // over all lessons, after each pass
  int passes = 1;   // further ones roll in with the student (DAgger; Ross et al., AISTATS 2011)
  int minibatch = 256;
  double smoothing = 0.1;  // of the labels, over the legal actions
  double entropy = 0;      // weight of the policy's entropy
  double learning_rate = 0.005;
  double final_learning_rate = 0.001;
  LengthModel lengths{};
  int threads = 0;
};

struct SequenceImitationReport {
  int epoch = 0;  // over all passes
  double loss = 0;
  NetWeights weights;
};

// What a student would have to learn: at each choice the share of the label of every action.
struct TaughtSamples {
  SequenceSamples samples;
  std::vector<float> labels;  // as samples.mask
};

// Plays the episode; where the student rolls in, its own increments are taken and, unless the
// teacher must be followed, its own allocations applied.
void Teach(const Lesson& lesson, const Agent& student, bool student_rolls_in, double smoothing,
           Rng rng, TaughtSamples* taught);

// Minimises the loss from `start`. DataError when there is nothing to learn from.
NetWeights ImitateIncrements(const std::vector<Lesson>& lessons,
                             const SequenceImitationOptions& options, const NetWeights& start,
                             const std::function<void(const SequenceImitationReport&)>& on_epoch);

// Sum of min(own cost, teacher's) / sum of the teacher's, over jobs and decisions of the teacher's
// course. NaN when the teacher gave nothing.
double IncrementAgreement(const std::vector<Lesson>& lessons, const Agent& student, int threads);

}  // namespace allot
