#include "live/workers/batch_message.h"

#include "cluster/job_columns.h"
#include "core/error.h"
#include "live/workers/message_numbers.h"

namespace allot {
namespace {

constexpr std::int64_t kMostSamples = 1 << 24;  // of a batch; floats count so far
constexpr Seconds kLeastSeconds = 1e-7;         // of a pass
constexpr Seconds kMostSeconds = 1e6;           // of an iteration

std::int64_t Samples(const MessageNumbers& numbers, const char* key, std::int64_t least = 1) {
  const std::int64_t value = numbers.Whole(key, -1, least);
  if (value < least || value > kMostSamples) {
    throw DataError("'batch' must have '{}' from {} to {}, got {}", key, least, kMostSamples,
                    value < least ? std::string("none") : std::to_string(value));
  }
  return value;
}

template <typename Number>
void Ordered(const char* low, Number least, const char* high, Number most) {
  if (least > most) {
    throw DataError("'batch' must have '{}' up to '{}', got {} and {}", low, high, least, most);
  }
}

std::int32_t Workers(const MessageNumbers& numbers) {
  const std::int64_t workers = Samples(numbers, "workers");
  Ordered<std::int64_t>("workers", workers, "the most GPUs of a job", kMaxGpusPerJob);
  return static_cast<std::int32_t>(workers);
}

}  // namespace

void CheckBatchLimits(const BatchLimits& limits) {
  const auto check = [](const char* key, double value) {
    if (value >= 1 && value <= kMostSamples) return;
    throw DataError("'batch' must have '{}' from 1 to {}, got {}", key, kMostSamples, value);
  };
  check("initial", limits.initial);
  check("most", limits.most);
  check("least_local", limits.least_local);
  check("most_local", limits.most_local);
  Ordered("initial", limits.initial, "most", limits.most);
  Ordered("least_local", limits.least_local, "most_local", limits.most_local);
}

BatchReport ReadBatch(const nlohmann::json& batch) {
  if (!batch.is_object()) throw DataError("'batch' must be an object, got {}", batch.type_name());
  const MessageNumbers numbers(batch);
  BatchReport report;
  report.initial = Samples(numbers, "initial");
  report.most = Samples(numbers, "most");
  report.least_local = Samples(numbers, "least_local");
  report.most_local = Samples(numbers, "most_local");
  CheckBatchLimits(report.limits());
  report.present.workers = Workers(numbers);
  report.present.local = Samples(numbers, "local");
  report.present.accumulation = static_cast<std::int32_t>(Samples(numbers, "accumulation", 0));
  Ordered("local", report.present.local, "most_local", report.most_local);

  const auto timed = batch.find("timed");
  if (timed == batch.end() || timed->is_null()) return report;
  if (!timed->is_object()) throw DataError("'timed' must be an object, got {}", timed->type_name());
  const MessageNumbers seconds(*timed);
  report.timed.workers = Workers(seconds);
  report.timed.local = Samples(seconds, "local");
  Ordered("local", report.timed.local, "most_local", report.most_local);
  seconds.Real("gradient", NumberRule::kPositive, &report.gradient);
  seconds.Real("iteration", NumberRule::kPositive, &report.iteration);
  if (!(report.gradient >= kLeastSeconds && report.iteration >= report.gradient &&
        report.iteration <= kMostSeconds)) {
    throw DataError("'timed' must have {} <= 'gradient' <= 'iteration' <= {} s, got {} and {}",
                    kLeastSeconds, kMostSeconds, report.gradient, report.iteration);
  }
  return report;
}

}  // namespace allot
