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

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>

#include "core/types.h"
#include "elastic/checkpoint_file.h"
#include "elastic/environment.h"

namespace allot {

struct ElasticOptions {
  // A peer without a message for so long within a reduction counts as gone. Longer than the
  // daemon's --worker-timeout, so that the daemon stops the silent worker, not those that wait for
  // it.
  std::chrono::milliseconds peer_timeout = std::chrono::seconds(60);
  std::chrono::milliseconds save_every = std::chrono::seconds(60);
  double total_work = kUnknown;  // of the whole job, in samples
};

// What this worker brings into a reduction beside its gradient.
struct LocalStep {
  double loss = 0;
  double samples = 0;  // of the gradient
};

struct Turn {
  bool apply = false;    // the gradient is the members' average: finish the step with it
  bool regroup = false;  // join again, after this step
  double loss = 0;       // the members' average
};

class ElasticWorker {
 public:
  // Joins the job; RunError when the daemon refuses. SIGTERM counts as its "stop" from then on.
  explicit ElasticWorker(const WorkerEnvironment& environment, const ElasticOptions& options = {});
  ~ElasticWorker();
  ElasticWorker(const ElasticWorker&) = delete;
  ElasticWorker& operator=(const ElasticWorker&) = delete;

  // Waits for an epoch with this worker as a member, forms its group and takes over rank 0's step
  // and state; those are the last checkpoint's where rank 0 never trained. False when this worker
  // is to end: it has left the job, or is stopped (rank 0 has saved then). RunError when it is
  // refused.
  bool Join(std::span<const StateBlock> state, std::int64_t* step);
  int rank() const;
  int world_size() const;

  // Averages over the members. The state must not be touched before, so that a reduction that fails
  // leaves it as of the last finished step.
  Turn Reduce(std::span<float> gradient, const LocalStep& local);

  // After a step was applied: `step` are finished.
  void AfterStep(std::int64_t step, std::span<const StateBlock> state);

  // The job's work is done: rank 0 saves, all tell the daemon. The program's exit code.
  int Finish(std::int64_t step, std::span<const StateBlock> state);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace allot
