#include "elastic/worker_batch.h"

#include <algorithm>

#include "core/error.h"

namespace allot {
namespace {

std::int64_t Ceiling(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace

void BatchRange::Check() const {
  if (initial < 1 || most < initial || most > kMost) {
    throw UsageError(
        "a batch that follows the workers has 1 <= initial <= most <= {}, got initial {}, most {}",
        kMost, initial, most);
  }
  if (least_local < 1 || most_local < least_local || most_local > kMost) {
    throw UsageError("samples of one pass have 1 <= least_local <= most_local <= {}, got {} and {}",
                     kMost, least_local, most_local);
  }
}

WorkerBatch SplitOver(const BatchRange& range, std::int32_t workers, std::int64_t total) {
  const std::int64_t local = Ceiling(total, workers);
  const std::int64_t passes = Ceiling(local, range.most_local);
  return {workers, std::max(Ceiling(local, passes), range.least_local),
          static_cast<std::int32_t>(passes - 1)};
}

bool Feasible(const BatchRange& range, const WorkerBatch& batch) {
  return batch.workers >= 1 && batch.local >= 1 && batch.local <= range.most_local &&
         batch.accumulation >= 0 && batch.accumulation < BatchRange::kMost / batch.local &&
         batch.total() <= BatchRange::kMost;
}

}  // namespace allot
