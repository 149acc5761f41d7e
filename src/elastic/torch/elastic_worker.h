#pragma once
// A worker of a data-parallel training job whose size changes while it trains. Training programs
// (examples/) and the C interface call it from one thread.
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
// The reduction of the gradients also carries the notice of a later epoch, so that all members
// leave an epoch after the same step. Workers that stay keep their state; new ones get it from
// rank 0, which is an earlier member if there is one.
//
// A program whose batch follows its workers calls AdaptBatch, and reads its batch for each step:
//
//     for (int pass = 1; pass < worker.batch().passes(); ++pass) {
//       ... gradient of worker.batch().local samples ...
//       worker.Accumulate(gradient, {...});
//     }
//     ... gradient of worker.batch().local samples ...; Turn turn = worker.Reduce(gradient, {...});
//     ... apply it with the learning rate of M0 x worker.rate_factor() ...
//
// and ends after an amount of work(), not of steps.

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "core/types.h"
#include "elastic/checkpoint_file.h"
#include "elastic/environment.h"
#include "elastic/learning_rate.h"
#include "elastic/worker_batch.h"

namespace allot {

struct ElasticOptions {
  // A peer that is silent for so long within a reduction counts as gone. Must exceed the daemon's
  // --worker-timeout, so that the daemon stops the silent worker and not those that wait for it.
  std::chrono::milliseconds peer_timeout = std::chrono::seconds(60);
  // Unset: as the daemon advises, by what a checkpoint costs and how often nodes fail; 60 s before
  // it does.
  std::optional<std::chrono::milliseconds> save_every{};
  double total_work = kUnknown;  // the whole job, in samples
};

struct BatchOptions {
  BatchRange range;
  LearningRateRule rule = LearningRateRule::kAdaScale;
};

// What a worker passes to a reduction beside its gradient.
struct LocalStep {
  double loss = 0;
  double samples = 0;
  bool done = false;  // this worker has seen that training is done (a loss was reached)
};

struct Turn {
  bool apply = false;    // the gradient is the members' average: finish the step with it
  bool regroup = false;  // join again, after this step
  bool done = false;     // some worker announced it: call Finish after this step
  double loss = 0;       // the members' average
};

class ElasticWorker {
 public:
  // Joins the job; RunError if the daemon refuses. From then on SIGTERM counts as its "stop", and
  // the other workers wait for this worker's Join, so load the state before.
  explicit ElasticWorker(const WorkerEnvironment& environment, const ElasticOptions& options = {});
  ~ElasticWorker();
  ElasticWorker(const ElasticWorker&) = delete;
  ElasticWorker& operator=(const ElasticWorker&) = delete;

  // Call before the first Join: the daemon then chooses the batch for the number of workers, and
  // work counts what a step is worth in samples at `initial`.
  void AdaptBatch(const BatchOptions& options);

  // Waits for an epoch with this worker as a member, forms its group and takes over rank 0's step
  // and state (the last checkpoint's if rank 0 never trained). False if this worker is to end: it
  // has left the job, or is stopped (rank 0 has saved then). RunError if the daemon refuses it.
  bool Join(std::span<const StateBlock> state, std::int64_t* step);
  int rank() const;
  int world_size() const;
  double work() const;  // done by the job

  // After AdaptBatch: the batch of the present step, and the factor of the learning rate relative
  // to `initial` in the step that was reduced last.
  const WorkerBatch& batch() const;
  double rate_factor() const;
  // Adds the gradient of a pass that is not the step's last.
  void Accumulate(std::span<const float> gradient, const LocalStep& local);

  // Averages over the members and the accumulated passes. The program must not change the state
  // before, so that a failed reduction leaves it at the last finished step.
  Turn Reduce(std::span<float> gradient, const LocalStep& local);

  // Call after a step was applied: `step` are finished. `state` is read only if save_due(), which
  // is known since the step's Reduce.
  void AfterStep(std::int64_t step, std::span<const StateBlock> state);
  bool save_due() const;

  // Ends the job: rank 0 saves, all report to the daemon. Returns the program's exit code.
  int Finish(std::int64_t step, std::span<const StateBlock> state);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace allot
