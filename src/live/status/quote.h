#pragma once
// A quote: when a job that nobody has submitted yet would start, the same for similar jobs, and
// what is in its way. Made by wait_forecast/quote.h from simulated futures; a daemon sends it as
// JSON (live/status/status_json.h). Durations are seconds.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "live/status/status.h"

namespace allot {

struct QuoteRequest {
  GpuCount gpus = 0;
  std::optional<std::string> type{};  // that it accepts, "a100|v100"; unset: any
  std::optional<Seconds> limit{};     // of its run time
};

enum class QuoteVariant : std::uint8_t { kAsked, kHalf, kDouble, kElastic, kShorter, kOtherType };

// The job as asked for, or one that differs from it in one point.
struct QuotedJob {
  QuoteVariant variant = QuoteVariant::kAsked;
  GpuCount gpus = 0;                  // of an elastic job, the least
  GpuCount max_gpus = 0;              // as `gpus`, unless it is elastic
  std::optional<std::string> type{};  // as in QuoteRequest
  std::optional<Seconds> limit{};
  // From now to its start; kNever: after Quote::ahead_for. Unset if it gets nothing even of an idle
  // cluster.
  std::optional<ForecastTimes> start{};
};

struct JobsInTheWay {
  std::string user{};  // empty: not known
  std::int64_t jobs = 0;
  std::int64_t gpus = 0;  // that they have, or ask for
};

struct Quote {
  Seconds made = 0;       // time of the run of which the futures begin
  Seconds ahead_for = 0;  // all futures were simulated so far
  std::vector<QuotedJob> jobs{};
  // Of the GPU types that the job accepts, those that can be allocated.
  GpuCount gpus = 0;
  GpuCount free_gpus = 0;
  std::vector<JobsInTheWay> running{};  // on these types, by user, most GPUs first
  // That wait and start no later than the job in at least half of the futures, likewise.
  std::vector<JobsInTheWay> waiting{};
  std::vector<std::string> notes{};  // limits, nodes that are away, maintenance
};

}  // namespace allot
