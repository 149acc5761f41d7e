#include "outlook/past_lengths.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/index.h"
#include "core/rng.h"

namespace allot {
namespace {

// Of GPUs, as the length model has them.
constexpr std::size_t kClasses = 4;
std::size_t ClassOf(GpuCount gpus) { return gpus <= 1 ? 0 : gpus <= 4 ? 1 : gpus <= 8 ? 2 : 3; }

}  // namespace

std::vector<Seconds> PastLengths(const Workload& trace, Seconds until, std::uint64_t seed) {
  std::vector<Seconds> lengths;
  std::array<std::vector<Seconds>, kClasses> ended;  // descending below
  std::vector<std::pair<Seconds, std::size_t>> unfinished;
  for (const Job& job : trace.jobs) {
    if (job.submit >= until) break;
    const Seconds lasted = until - job.submit;
    if (job.duration <= lasted) {
      ended[ClassOf(job.gpus)].push_back(job.duration);
    } else {
      unfinished.emplace_back(lasted, lengths.size());
    }
    lengths.push_back(job.duration);
  }
  for (std::vector<Seconds>& of_class : ended) {
    std::sort(of_class.begin(), of_class.end(), std::greater<>());
  }
  std::stable_sort(unfinished.begin(), unfinished.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  Rng rng(seed, "past-lengths");
  for (const auto& [lasted, job] : unfinished) {
    std::vector<Seconds>& of_class = ended[ClassOf(trace.jobs[job].gpus)];
    const auto longer = static_cast<std::uint64_t>(
        std::partition_point(of_class.begin(), of_class.end(),
                             [from = lasted](Seconds length) { return length > from; }) -
        of_class.begin());
    const Seconds drawn =
        longer > 0 ? of_class[rng.Below(longer)] : lasted / std::sqrt(1 - rng.Uniform());
    lengths[job] = drawn;
    of_class.insert(std::upper_bound(of_class.begin(), of_class.end(), drawn, std::greater<>()),
                    drawn);
  }
  return lengths;
}

Workload KnownPast(const Workload& trace, Seconds until, std::uint64_t seed) {
  Workload past = trace;
  const std::vector<Seconds> lengths = PastLengths(trace, until, seed);
  past.jobs.resize(lengths.size());
  for (std::size_t j = 0; j < lengths.size(); ++j) past.jobs[j].duration = lengths[j];
  return past;
}

}  // namespace allot
