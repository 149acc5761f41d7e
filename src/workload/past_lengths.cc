#include "workload/past_lengths.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/index.h"
#include "core/rng.h"

namespace allot {
namespace {

// Of GPUs, as the length model has them.
constexpr std::size_t kLengthClasses = 4;
std::size_t LengthClassOf(GpuCount gpus) {
  return gpus <= 1 ? 0 : gpus <= 4 ? 1 : gpus <= 8 ? 2 : 3;
}

// Where nothing at all is known of the lengths of jobs.
constexpr Seconds kAnyLength = 3600;

// Of lengths in descending order, how many are longer.
std::uint64_t CountLonger(const std::vector<Seconds>& lengths, Seconds lasted) {
  const auto end = std::partition_point(lengths.begin(), lengths.end(),
                                        [lasted](Seconds length) { return length > lasted; });
  return static_cast<std::uint64_t>(end - lengths.begin());
}

// How long an unfinished job has lasted at `until`, within the record.
Seconds LastedAt(const Workload& trace, const Job& job, Seconds until) {
  if (job.ended()) return until - job.submit;
  const Seconds ran = trace.RecordedRunTime(job);
  return job.outcome == Outcome::kPending ? 0 : std::clamp(until - job.recorded_start(), 0.0, ran);
}

}  // namespace

void DrawLengths(std::span<const Job> jobs, std::vector<UnfinishedJob> unfinished,
                 std::uint64_t seed, std::vector<Seconds>* lengths) {
  if (unfinished.empty()) return;
  std::array<std::vector<Seconds>, kLengthClasses> of_size;
  std::vector<Seconds> of_all;
  std::vector<char> known(lengths->size(), 1);
  for (const UnfinishedJob& one : unfinished) known[one.job] = 0;
  for (std::size_t j = 0; j < lengths->size(); ++j) {
    if (known[j] == 0) continue;
    of_size[LengthClassOf(jobs[j].gpus)].push_back((*lengths)[j]);
    of_all.push_back((*lengths)[j]);
  }
  for (std::vector<Seconds>& lengths_of : of_size) {
    std::sort(lengths_of.begin(), lengths_of.end(), std::greater<>());
  }
  std::stable_sort(
      unfinished.begin(), unfinished.end(),
      [](const UnfinishedJob& a, const UnfinishedJob& b) { return a.lasted > b.lasted; });
  Rng rng(seed, "past-lengths");
  for (const auto& [job, lasted] : unfinished) {
    const Seconds limit = jobs[job].user_estimate;
    std::vector<Seconds>& alike = of_size[LengthClassOf(jobs[job].gpus)];
    const std::uint64_t longer = CountLonger(alike, lasted);
    Seconds drawn = limit > 0 ? limit : kAnyLength;
    if (longer > 0) {
      drawn = alike[rng.Below(longer)];
    } else if (lasted > 0) {
      drawn = lasted / std::sqrt(1 - rng.Uniform());
    } else if (!of_all.empty()) {
      drawn = of_all[rng.Below(of_all.size())];
    }
    if (limit > lasted) drawn = std::min(drawn, limit);
    (*lengths)[job] = drawn;
    alike.insert(std::upper_bound(alike.begin(), alike.end(), drawn, std::greater<>()), drawn);
  }
}

std::vector<Seconds> PastLengths(const Workload& trace, Seconds until, std::uint64_t seed) {
  std::vector<Seconds> lengths;
  std::vector<UnfinishedJob> unfinished;
  for (const Job& job : trace.jobs) {
    if (job.submit >= until) break;
    if (!job.ended() || job.duration > until - job.submit) {
      unfinished.push_back({lengths.size(), LastedAt(trace, job, until)});
    }
    lengths.push_back(job.duration);
  }
  DrawLengths(trace.jobs, std::move(unfinished), seed, &lengths);
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
