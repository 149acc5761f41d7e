#pragma once
// The batch of a job whose batch follows its workers: what the program allows, and what each worker
// computes in a step. The daemon chooses (docs/formats/worker_protocol.md, "batch"); until it has
// chosen for the present number of workers, the total batch stays what it was.

#include <cstdint>

namespace allot {

// The batches that a program allows, in samples.
struct BatchRange {
  std::int64_t initial = 0;      // M0: the learning rate is written for it, and no batch is smaller
  std::int64_t most = 0;         // all workers together
  std::int64_t least_local = 1;  // one pass on one worker
  std::int64_t most_local = 0;   // one pass on one worker: what its memory takes

  // UsageError naming the rule: 1 <= initial <= most, 1 <= least_local <= most_local, all at most
  // kMost.
  void Check() const;
  static constexpr std::int64_t kMost = 1 << 24;  // floats are exact up to here
};

struct WorkerBatch {
  std::int32_t workers = 0;       // the number of workers that the batch is for
  std::int64_t local = 0;         // samples of one pass on each; 0 while no batch is chosen
  std::int32_t accumulation = 0;  // passes before the last one, after which gradients are averaged

  int passes() const { return accumulation + 1; }
  std::int64_t total() const { return workers * local * passes(); }
  friend bool operator==(const WorkerBatch&, const WorkerBatch&) = default;
};

// Splits about `total` samples over the workers: whole samples, rounded up, in as few passes as
// most_local allows, at least least_local each.
WorkerBatch SplitOver(const BatchRange& range, std::int32_t workers, std::int64_t total);

// True if a program can compute the batch: it is within the limits of one worker and at most kMost
// in all. (Rounding may exceed `most` by a few samples.)
bool Feasible(const BatchRange& range, const WorkerBatch& batch);

}  // namespace allot
