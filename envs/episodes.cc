#include "envs/episodes.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

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

}  // namespace

std::int32_t WindowOfSeed(const Workload& trace, const WindowOptions& options, std::uint64_t seed) {
  const Seconds end = std::min(options.to, trace.jobs.back().submit + 1.0);
  return static_cast<std::int32_t>(seed % WindowsIn(end - options.from, options.span));
}

EpisodeSource WindowEpisodes(const Workload& trace, const ClusterSpec& cluster,
                             WindowOptions options) {
  if (trace.jobs.empty()) throw DataError("workload '{}' has no job", trace.name);
  const Seconds last = trace.jobs.back().submit;
  const Seconds end = std::min(options.to, last + 1.0);
  const double room = end - options.from;
  if (room <= 0) {
    throw UsageError(
        "the window must end after it begins, and begin before the last submission of '{}' at "
        "{} s, got [{}, {}) s",
        trace.name, last, options.from, options.to);
  }
  options.to = end;
  if (!(options.span > 0))
    throw UsageError("the span of an episode must be > 0 s, got {}", options.span);
  if (options.loads.empty()) throw UsageError("at least one load is needed, got none");
  const std::uint64_t windows = WindowsIn(room, options.span);
  return [&trace, cluster, options, windows, room](std::uint64_t seed) {
    Rng rng(seed, "episode");
    SampleOptions sample;
    sample.gpus_capacity = cluster.total().gpus;
    sample.seed = seed;
    const auto draw = [&](bool last_try) -> std::optional<Workload> {
      if (options.weekly) {
        sample.from = options.from + static_cast<double>(seed % windows) * options.span;
        sample.load = options.loads[LoadInTurn(options, seed, windows)];
      } else {
        sample.from = options.from + rng.Uniform(0.0, std::max(0.0, room - options.span));
        sample.load = options.loads[rng.Below(options.loads.size())];
      }
      sample.to = std::min(options.to, sample.from + options.span);
      // A sub-sample leaves out what the cluster cannot hold; a whole window must fit (Scenario
      // checks).
      const std::vector<GpuCount> capacity = cluster.type_capacity();
      sample.max_gpus = sample.load > 0 ? *std::max_element(capacity.begin(), capacity.end()) : 0;
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
    Workload workload = std::move(*drawn);
    if (sample.load > 0) workload.name += fmt::format("-load{}-seed{}", sample.load, seed);
    if (options.elastic) MakeElastic(options.elasticity, *options.catalogue, &workload);
    SimOptions sim = options.sim;
    sim.seed = Rng(options.sim.seed, "episode-estimates", seed).NextU64();
    return std::make_shared<const Scenario>(std::move(workload), cluster, sim, *options.catalogue);
  };
}

}  // namespace allot
