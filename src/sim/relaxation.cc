#include "sim/relaxation.h"

#include <algorithm>
#include <numeric>
#include <queue>

namespace allot {
namespace {

constexpr int kRefinements = 8;

struct Pending {
  double area;  // left
  std::size_t job;
  bool operator>(const Pending& other) const {
    return area != other.area ? area > other.area : job > other.job;
  }
};

double SumOfEarliest(std::span<const RelaxedJob> jobs) {
  double sum = 0;
  for (const RelaxedJob& job : jobs) sum += job.earliest;
  return sum;
}

}  // namespace

std::vector<Seconds> FluidEnds(std::span<const RelaxedJob> jobs, double capacity) {
  std::vector<std::size_t> by_release(jobs.size());
  std::iota(by_release.begin(), by_release.end(), std::size_t{0});
  std::stable_sort(by_release.begin(), by_release.end(),
                   [&](std::size_t a, std::size_t b) { return jobs[a].release < jobs[b].release; });
  std::vector<Seconds> ends(jobs.size());
  std::priority_queue<Pending, std::vector<Pending>, std::greater<>> pending;
  std::size_t next = 0;
  Seconds now = 0;
  while (next < by_release.size() || !pending.empty()) {
    if (pending.empty()) now = std::max(now, jobs[by_release[next]].release);
    for (; next < by_release.size() && jobs[by_release[next]].release <= now; ++next) {
      pending.push({jobs[by_release[next]].area, by_release[next]});
    }
    Pending least = pending.top();
    pending.pop();
    const Seconds end = now + least.area / capacity;
    const Seconds arrival = next < by_release.size() ? jobs[by_release[next]].release : kNever;
    if (end <= arrival) {
      now = ends[least.job] = end;
    } else {
      least.area -= (arrival - now) * capacity;
      now = arrival;
      pending.push(least);
    }
  }
  return ends;
}

double EndSumBound(std::span<const RelaxedJob> jobs, double capacity) {
  double bound = SumOfEarliest(jobs);
  if (!(capacity > 0)) return bound;
  std::vector<RelaxedJob> fluid(jobs.begin(), jobs.end());
  double outside = 0;
  for (int i = 0; i < kRefinements && !fluid.empty(); ++i) {
    const std::vector<Seconds> ends = FluidEnds(fluid, capacity);
    bound = std::max(bound, outside + std::accumulate(ends.begin(), ends.end(), 0.0));
    std::vector<Seconds> sorted = ends;
    std::sort(sorted.begin(), sorted.end());
    std::size_t kept = 0;
    for (std::size_t job = 0; job < fluid.size(); ++job) {
      const auto later = sorted.end() - std::upper_bound(sorted.begin(), sorted.end(), ends[job]);
      const Seconds gain = fluid[job].earliest - ends[job];
      if (gain > fluid[job].area / capacity * static_cast<double>(later)) {
        outside += fluid[job].earliest;
      } else {
        fluid[kept++] = fluid[job];
      }
    }
    if (kept == fluid.size()) break;
    fluid.resize(kept);
  }
  return bound;
}

}  // namespace allot
