#pragma once
// The job lengths that a policy gets: none, the user's estimate (the job's time limit), a seeded
// noisy estimate, or the truth (oracle).
// Every policy of a comparison gets the same estimates.

#include <cstdint>
#include <string>
#include <string_view>

#include "workload/job.h"

namespace allot {

struct LengthEstimates {
  enum class Kind { kNone, kUser, kNoisy, kTrue };
  Kind kind = Kind::kNoisy;
  double sigma = 0.5;  // of the estimate's log error

  // "none", "user", "true", "noisy:0.5". UsageError otherwise.
  static LengthEstimates Parse(std::string_view text);
  std::string ToString() const;

  // Estimated total work: NaN, work, work x time limit / duration (kUser; kWithoutLimit of
  // length_model/remaining.h for a job without a time limit), or work x exp(sigma x N(0,1))
  // drawn from (seed, job id), so that a job keeps its estimate in every sub-sample of its trace.
  double Of(const Job& job, double work, std::uint64_t seed) const;
};

}  // namespace allot
