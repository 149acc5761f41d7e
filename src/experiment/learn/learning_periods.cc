#include "experiment/learn/learning_periods.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace allot {
namespace {

constexpr double kTuningFrom = 0.25;
constexpr double kValidationFrom = 0.5;
constexpr double kTestFrom = 0.7;

std::vector<Seconds> SubmissionsIn(const Workload& trace, Seconds from, Seconds to) {
  std::vector<Seconds> times;
  for (const Job& job : trace.jobs) {
    if (job.submit >= from && job.submit < to) times.push_back(job.submit);
  }
  return times;
}

Seconds AtShare(const std::vector<Seconds>& times, double share) {
  return times[static_cast<std::size_t>(share * static_cast<double>(times.size()))];
}

}  // namespace

LearningPeriods DivideForLearning(const Workload& trace, Seconds from, Seconds to) {
  const std::vector<Seconds> times = SubmissionsIn(trace, from, to);
  if (times.empty()) {
    throw DataError("learning needs jobs, '{}' has none in its window", trace.name);
  }
  const LearningPeriods periods = {.begin = times.front(),
                                   .tuning = AtShare(times, kTuningFrom),
                                   .validation = AtShare(times, kValidationFrom),
                                   .test = AtShare(times, kTestFrom),
                                   .end = times.back() + 1};
  if (times.size() >= kFewestToLearn && periods.tuning > periods.begin &&
      periods.validation > periods.tuning && periods.test > periods.validation) {
    return periods;
  }
  return {.begin = periods.begin,
          .tuning = periods.begin,
          .validation = periods.begin,
          .test = periods.begin,
          .end = periods.end};
}

std::vector<Seconds> WindowBounds(const Workload& trace, Seconds from, Seconds to, int windows) {
  const std::vector<Seconds> times = SubmissionsIn(trace, from, to);
  std::vector<Seconds> bounds = {from};
  for (int k = 1; k < windows; ++k) {
    const Seconds bound = AtShare(times, static_cast<double>(k) / windows);
    if (bound > bounds.back() && bound < to) bounds.push_back(bound);
  }
  bounds.push_back(to);
  return bounds;
}

}  // namespace allot
