#pragma once
// The batch of a job whose batch follows its workers: what the program allows, and what each worker
// computes in a step. The daemon chooses (docs/formats/worker_protocol.md, "batch"); until it has
// chosen for the present number of workers, the total batch stays what it was.

#include <cstdint>

namespace allot {

// Samples. What a program says of itself.
struct BatchRange {
  std::int64_t initial = 0;      // M0: what the learning rate is written for; the least of all
  std::int64_t most = 0;         // of all workers together
  std::int64_t least_local = 1;  // of one pass on one worker
  std::int64_t most_local = 0;   // likewise: what its memory holds

  // UsageError naming the rule: 1 <= initial <= most, 1 <= least_local <= most_local, all at most
  // kMost.
  void Check() const;
  static constexpr std::int64_t kMost = 1 << 24;  // floats count so far
};

struct WorkerBatch {
  std::int32_t workers = 0;       // that it is for
  std::int64_t local = 0;         // samples of one pass on each; 0: none is chosen
  std::int32_t accumulation = 0;  // passes before the last one, after which gradients are averaged

  int passes() const { return accumulation + 1; }
  std::int64_t total() const { return workers * local * passes(); }
  friend bool operator==(const WorkerBatch&, const WorkerBatch&) = default;
};

// About `total` samples on so many workers: whole samples, rounded up, as few passes as most_local
// allows, at least least_local.
WorkerBatch SplitOver(const BatchRange& range, std::int32_t workers, std::int64_t total);

// Whether a program can do what it was told: within its limits for one worker, and not above
// kMost in all. (A few samples above `most` come from rounding.)
bool Feasible(const BatchRange& range, const WorkerBatch& batch);

}  // namespace allot
