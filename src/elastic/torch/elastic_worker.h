#pragma once
// A worker of a data-parallel training job whose size changes while it trains. What a training
// program (examples/), or the C interface, calls; from one thread.
//
//   ElasticWorker worker(WorkerEnvironment::OfThisProcess());
//   while (worker.Join(state, &step)) {          // false: leave the program
//     while (step < last) {
//       ... gradient of this rank's share of the batch ...
//       const Turn turn = worker.Reduce(gradient, {...});
//       if (!turn.apply) break;                  // a peer is gone: join again
//       ... apply the averaged gradient ...; ++step;
//       worker.AfterStep(step, state);           // progress, and a checkpoint when one is wanted
//       if (turn.regroup) break;
//     }
//     if (step >= last) return worker.Finish(step, state);
//   }
//
// The word that a later epoch is known travels in the reduction of the gradients, so that all
// members leave an epoch after the same step. Workers that stay keep their state; those that come
// get it from rank 0, which has been a member before, if any has.
//
// A program whose batch follows its workers says so by AdaptBatch, and asks what to compute:
//
//     for (int pass = 1; pass < worker.batch().passes(); ++pass) {
//       ... gradient of worker.batch().local samples ...
//       worker.Accumulate(gradient, {...});
//     }
//     ... gradient of worker.batch().local samples ...; Turn turn = worker.Reduce(gradient, {...});
//     ... apply it with the learning rate of M0 x worker.rate_factor() ...
//
// and ends by work(), not by steps.

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>

#include "core/types.h"
#include "elastic/checkpoint_file.h"
#include "elastic/environment.h"
#include "elastic/learning_rate.h"
#include "elastic/worker_batch.h"

namespace allot {

struct ElasticOptions {
  // A peer without a message for so long within a reduction counts as gone. Longer than the
  // daemon's --worker-timeout, so that the daemon stops the silent worker, not those that wait for
  // it.
  std::chrono::milliseconds peer_timeout = std::chrono::seconds(60);
  std::chrono::milliseconds save_every = std::chrono::seconds(60);
  double total_work = kUnknown;  // of the whole job, in samples
};

struct BatchOptions {
  BatchRange range;
  LearningRateRule rule = LearningRateRule::kAdaScale;
};

// What this worker brings into a reduction beside its gradient.
struct LocalStep {
  double loss = 0;
  double samples = 0;  // of the gradient
  bool done = false;   // this worker has seen that training is done (a loss was reached)
};

struct Turn {
  bool apply = false;    // the gradient is the members' average: finish the step with it
  bool regroup = false;  // join again, after this step
  bool done = false;     // some worker said so: Finish after this step
  double loss = 0;       // the members' average
};

class ElasticWorker {
 public:
  // Joins the job; RunError when the daemon refuses. SIGTERM counts as its "stop" from then on. The
  // others wait for this worker's Join from then on, so the state had better be there before.
  explicit ElasticWorker(const WorkerEnvironment& environment, const ElasticOptions& options = {});
  ~ElasticWorker();
  ElasticWorker(const ElasticWorker&) = delete;
  ElasticWorker& operator=(const ElasticWorker&) = delete;

  // Before the first Join: the batch is chosen for the workers that the job has, from now on. Work
  // then counts what a step is worth: samples of as many steps with `initial` samples.
  void AdaptBatch(const BatchOptions& options);

  // Waits for an epoch with this worker as a member, forms its group and takes over rank 0's step
  // and state; those are the last checkpoint's where rank 0 never trained. False when this worker
  // is to end: it has left the job, or is stopped (rank 0 has saved then). RunError when it is
  // refused.
  bool Join(std::span<const StateBlock> state, std::int64_t* step);
  int rank() const;
  int world_size() const;
  double work() const;  // done, by the job

  // After AdaptBatch: what this worker computes in the step at hand, and by how much the learning
  // rate is larger than at `initial`, of the step that was reduced last.
  const WorkerBatch& batch() const;
  double rate_factor() const;
  // The gradient of a pass that is not the step's last.
  void Accumulate(std::span<const float> gradient, const LocalStep& local);

  // Averages over the members, and over passes that were accumulated. The state must not be touched
  // before, so that a reduction that fails leaves it as of the last finished step.
  Turn Reduce(std::span<float> gradient, const LocalStep& local);

  // After a step was applied: `step` are finished. `state` is read only where a checkpoint is due,
  // which is known since the step's Reduce.
  void AfterStep(std::int64_t step, std::span<const StateBlock> state);
  bool save_due() const;

  // The job's work is done: rank 0 saves, all tell the daemon. The program's exit code.
  int Finish(std::int64_t step, std::span<const StateBlock> state);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace allot
