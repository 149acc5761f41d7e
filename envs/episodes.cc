#include "envs/episodes.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "core/check.h"
#include "core/error.h"
#include "core/rng.h"
#include "workload/sample.h"

namespace allot {
namespace {

// Of a weekly episode, which of the loads.
std::size_t LoadInTurn(const WindowOptions& options, std::uint64_t seed, std::uint64_t windows) {
  const std::uint64_t loads = options.loads.size();
  if (!options.first_seed) return (seed / windows) % loads;
  const std::uint64_t turn = seed - *options.first_seed;
  // Once windows and loads have come round together, all loads move on by a window.
  return (turn + turn / std::lcm(windows, loads)) % loads;
}

// Of `room` seconds; a window shorter than one span is one episode.
std::uint64_t WindowsIn(Seconds room, Seconds span) {
  return static_cast<std::uint64_t>(std::max(1.0, std::floor(room / span + 0.01)));
}

GpuCount LargestType(const ClusterSpec& cluster) {
  const std::vector<GpuCount> capacity = cluster.type_capacity();
  return *std::max_element(capacity.begin(), capacity.end());
}

// Ends the window with the trace; returns how many episodes it has.
std::uint64_t CloseWindow(const Workload& trace, WindowOptions* options) {
  if (trace.jobs.empty()) throw DataError("workload '{}' has no job", trace.name);
  const Seconds last = trace.jobs.back().submit;
  options->to = std::min(options->to, last + 1.0);
  if (options->to <= options->from) {
    throw UsageError(
        "the window must end after it begins, and begin before the last submission of '{}' at "
        "{} s, got [{}, {}) s",
        trace.name, last, options->from, options->to);
  }
  if (!(options->span > 0))
    throw UsageError("the span of an episode must be > 0 s, got {}", options->span);
  if (options->loads.empty()) throw UsageError("at least one load is needed, got none");
  return WindowsIn(options->to - options->from, options->span);
}

SampleOptions SampleAt(Seconds from, double load, const ClusterSpec& cluster,
                       const WindowOptions& options, std::uint64_t seed) {
  SampleOptions sample;
  sample.from = from;
  sample.to = std::min(options.to, from + options.span);
  sample.load = load;
  sample.gpus_capacity = cluster.total().gpus;
  sample.seed = seed;
  // A sub-sample leaves out what the cluster cannot hold; a whole window must fit (Scenario
  // checks).
  sample.max_gpus = load > 0 ? LargestType(cluster) : 0;
  return sample;
}

SampleOptions WeeklySample(const ClusterSpec& cluster, const WindowOptions& options,
                           std::uint64_t windows, std::uint64_t seed) {
  return SampleAt(options.from + static_cast<double>(seed % windows) * options.span,
                  options.loads[LoadInTurn(options, seed, windows)], cluster, options, seed);
}

SampleOptions RandomSample(const ClusterSpec& cluster, const WindowOptions& options,
                           std::uint64_t seed, Rng* rng) {
  const Seconds room = options.to - options.from;
  const Seconds from = options.from + rng->Uniform(0.0, std::max(0.0, room - options.span));
  return SampleAt(from, options.loads[rng->Below(options.loads.size())], cluster, options, seed);
}

std::shared_ptr<const Scenario> EpisodeOf(Workload workload, const SampleOptions& sample,
                                          const ClusterSpec& cluster,
                                          const WindowOptions& options) {
  if (sample.load > 0) workload.name += fmt::format("-load{}-seed{}", sample.load, sample.seed);
  if (options.elastic) MakeElastic(options.elasticity, *options.catalogue, &workload);
  SimOptions sim = options.sim;
  sim.seed = Rng(options.sim.seed, "episode-estimates", sample.seed).NextU64();
  return std::make_shared<const Scenario>(std::move(workload), cluster, sim, *options.catalogue);
}

}  // namespace

std::vector<double> LoadsOfSpans(const Workload& trace, const ClusterSpec& cluster,
                                 const WindowOptions& options) {
  const Seconds end = std::min(options.to, trace.jobs.back().submit + 1.0);
  const double room = end - options.from;
  const std::uint64_t half_spans = room > options.span ? WindowsIn(2 * room, options.span) - 1 : 1;
  std::vector<double> loads;
  for (std::uint64_t k = 0; k < half_spans; ++k) {
    const Seconds from = options.from + static_cast<double>(k) * options.span / 2;
    SampleReport report;
    try {
      Sample(trace,
             {.from = from,
              .to = std::min(end, from + options.span),
              .gpus_capacity = static_cast<double>(cluster.total().gpus),
              .max_gpus = LargestType(cluster)},
             &report);
    } catch (const Error&) {  // no job comes
      report.window_load = 0;
    }
    loads.push_back(report.window_load);
  }
  std::sort(loads.begin(), loads.end());
  return loads;
}

std::int32_t WindowOfSeed(const Workload& trace, const WindowOptions& options, std::uint64_t seed) {
  const Seconds end = std::min(options.to, trace.jobs.back().submit + 1.0);
  return static_cast<std::int32_t>(seed % WindowsIn(end - options.from, options.span));
}

EpisodeSource WindowEpisodes(const Workload& trace, const ClusterSpec& cluster,
                             WindowOptions options) {
  const std::uint64_t windows = CloseWindow(trace, &options);
  return [&trace, cluster, options, windows](std::uint64_t seed) {
    Rng rng(seed, "episode");
    SampleOptions sample;
    const auto draw = [&](bool last_try) -> std::optional<Workload> {
      sample = options.weekly ? WeeklySample(cluster, options, windows, seed)
                              : RandomSample(cluster, options, seed, &rng);
      try {
        return Sample(trace, sample);
      } catch (const Error&) {
        if (last_try) throw;
        return std::nullopt;
      }
    };
    // A random window may be too quiet for the load: draw again, by the same generator.
    std::optional<Workload> drawn;
    for (int tries = options.weekly ? 1 : 32; !drawn; --tries) drawn = draw(tries == 1);
    return EpisodeOf(std::move(*drawn), sample, cluster, options);
  };
}

std::shared_ptr<const Scenario> WeeklyEpisode(Workload&& trace, const ClusterSpec& cluster,
                                              WindowOptions options, std::uint64_t seed) {
  ALLOT_CHECK(options.weekly);
  const std::uint64_t windows = CloseWindow(trace, &options);
  const SampleOptions sample = WeeklySample(cluster, options, windows, seed);
  return EpisodeOf(Sample(std::move(trace), sample), sample, cluster, options);
}

}  // namespace allot
