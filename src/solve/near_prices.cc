// The first half of TypeAssigner begun from the prices of the problem before: most jobs are far
// from indifferent at them and are placed at once; those that are not are inserted. Whether that is
// the answer is then proved, so that it does not matter where the prices came from.

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/index.h"
#include "solve/type_assignment.h"

namespace allot {
namespace {

constexpr std::size_t kFewJobs = 64;  // of fewer, all are inserted
constexpr std::int32_t kMostFailures = 6;
constexpr double kNearest = 1e-3;
constexpr double kFarthest = 4;
constexpr double kNearlyAll = 0.02;  // of the GPUs: prices ask for so many more or fewer

}  // namespace

bool TypeAssigner::InsertNearPrices() {
  const std::size_t jobs = problem_.gpus.size();
  if (problem_.by_order > 0 || price_.size() != types_count() || jobs < kFewJobs) return false;
  if (waits_ > 0) {
    --waits_;
    return false;
  }
  Clear();
  bool found = PlaceCertain(PriceFactor());
  if (found) {
    for (const std::int32_t job : uncertain_) Insert(At(job));
    FindPrices();
    found = IsOnlySolution();
    near_ = std::clamp(near_ * (uncertain_.size() > jobs / 8 ? 0.9 : 1.0), kNearest, kFarthest);
  }
  if (found) {
    failures_ = 0;
    return true;
  }
  near_ = std::clamp(near_ * 1.5, kNearest, kFarthest);
  waits_ = (1 << failures_) - 1;
  failures_ = std::min(failures_ + 1, kMostFailures);
  return false;
}

// Values of one problem may be a multiple of those of the one before: what the last prices are to
// be multiplied by so that jobs ask for as many GPUs as there are.
double TypeAssigner::PriceFactor() {
  const std::size_t types = types_count();
  std::int64_t capacity = 0;
  for (const std::int32_t gpus : problem_.capacity) capacity += gpus;
  wants_.clear();
  std::int64_t asked = 0;
  for (std::size_t job = 0; job < problem_.gpus.size(); ++job) {
    double most = 0;
    for (std::size_t type = 0; type < types; ++type) {
      // Where a GPU costs nothing, everybody wants it.
      const double want = price_[type] > 0 ? ValuePerGpu(job, type) / price_[type] : 1e300;
      if (Allowed(job, type)) most = std::max(most, want);
    }
    wants_.emplace_back(most, problem_.gpus[job]);
    if (most > 1) asked += problem_.gpus[job];
  }
  const double off = static_cast<double>(asked - capacity);
  if (std::abs(off) <= kNearlyAll * static_cast<double>(capacity)) return 1;
  // The price at which the last GPU is asked for.
  std::sort(wants_.begin(), wants_.end(), std::greater<>());
  for (const auto& [want, gpus] : wants_) {
    capacity -= gpus;
    if (capacity < 0) return want < 1e299 ? want : 1;
  }
  return 1;
}

// Those who lose much by any other choice go where the prices say; the others into uncertain_.
// False: that cannot be.
bool TypeAssigner::PlaceCertain(double factor) {
  const std::size_t types = types_count();
  double most = 0;
  for (double& price : price_) {
    price *= factor;
    most = std::max(most, price);
  }
  const double near = near_ * std::min(most, scale_);
  uncertain_.clear();
  for (std::size_t job = 0; job < problem_.gpus.size(); ++job) {
    double best = 0;
    double second = kNone;
    std::int32_t where = kWaits;
    for (std::size_t type = 0; type < types; ++type) {
      if (!Allowed(job, type)) continue;
      const double surplus = ValuePerGpu(job, type) - price_[type];
      if (surplus > best) {
        second = best;
        best = surplus;
        where = static_cast<std::int32_t>(type);
      } else {
        second = std::max(second, surplus);
      }
    }
    if (best - second <= near) {
      uncertain_.push_back(static_cast<std::int32_t>(job));
    } else if (where >= 0) {
      Flow(job, At(where)) = problem_.gpus[job];
      room_[At(where)] -= problem_.gpus[job];
    }
  }
  return std::all_of(room_.begin(), room_.end(), [](std::int32_t room) { return room >= 0; });
}

// By complementary slackness (Ahuja, Magnanti, Orlin, section 9.3): at the prices each job has only
// what is best for it. No other solution is as good if the choices between which jobs are
// indifferent form a forest over types and waiting, as GPUs could only be exchanged along a cycle.
// Choices that differ by less than the insertions could have overlooked count as equal.
bool TypeAssigner::IsOnlySolution() {
  const std::size_t types = types_count();
  const double equal = 8 * kEqual * scale_ * static_cast<double>(problem_.gpus.size());
  const std::size_t waiting = types;
  parent_.resize(types + 1);
  for (std::size_t node = 0; node <= types; ++node) parent_[node] = node;
  for (std::size_t type = 0; type < types; ++type) {
    // To leave a GPU free costs nothing.
    if (price_[type] <= equal) Join(type, waiting);
  }
  for (std::size_t job = 0; job < problem_.gpus.size(); ++job) {
    double best = 0;
    for (std::size_t type = 0; type < types; ++type) {
      if (Allowed(job, type)) best = std::max(best, ValuePerGpu(job, type) - price_[type]);
    }
    std::int32_t left = problem_.gpus[job];
    std::size_t first = best <= equal ? waiting : types + 1;
    for (std::size_t type = 0; type < types; ++type) {
      if (!Allowed(job, type) || problem_.capacity[type] == 0) continue;
      const std::int32_t gpus = Flow(job, type);
      left -= gpus;
      if (best - (ValuePerGpu(job, type) - price_[type]) > equal) {
        if (gpus > 0) return false;
      } else if (first > types) {
        first = type;
      } else if (!Join(first, type)) {
        return false;
      }
    }
    if (left > 0 && best > equal) return false;
  }
  return true;
}

// False: they were joined before.
bool TypeAssigner::Join(std::size_t a, std::size_t b) {
  while (parent_[a] != a) a = parent_[a];
  while (parent_[b] != b) b = parent_[b];
  parent_[a] = b;
  return a != b;
}

}  // namespace allot
