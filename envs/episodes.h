#pragma once
// Where episodes come from: seed -> scenario. Training samples windows of a trace at varied loads;
// evaluation walks disjoint weeks. Scenarios are immutable and shared between rollouts.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "perf/elastic.h"
#include "sim/scenario.h"
#include "workload/workload.h"

namespace allot {

using EpisodeSource = std::function<std::shared_ptr<const Scenario>(std::uint64_t seed)>;

struct WindowOptions {
  Seconds from = 0;  // part of the trace that may be used
  Seconds to = kNever;
  Seconds span = 7 * 86400.0;  // of one episode
  bool weekly =
      false;  // true: window k is [from + (k mod n) x span, ...), k = seed; false: random start
  std::vector<double> loads = {1.0};  // offered load, one drawn per episode (weekly: in turn per
                                      // pass); 0: every job of the window
  std::optional<std::uint64_t> first_seed;  // weekly: loads in turn from this seed on; in the end
                                            // every window has had every load
  bool elastic = true;
  ElasticityOptions elasticity;
  const Catalogue* catalogue = &Catalogue::Embedded();
  SimOptions sim;
};

// Samples of `trace` on `cluster`. The trace is shared by reference and must outlive the source.
// DataError when a window cannot offer the load (a random one is drawn again, up to 32 times).
// Sub-samples leave out jobs larger than the cluster's largest type; without a load such a job is a
// DataError.
EpisodeSource WindowEpisodes(const Workload& trace, const ClusterSpec& cluster,
                             WindowOptions options);

// The episode of one seed that such a source gives, where options.weekly, of a trace that nobody
// needs any more: its jobs are moved, not copied.
std::shared_ptr<const Scenario> WeeklyEpisode(Workload&& trace, const ClusterSpec& cluster,
                                              WindowOptions options, std::uint64_t seed);

// Offered loads of spans of the trace, one beginning every half span, the lowest first; 0 where no
// job comes. Of jobs that the cluster can hold.
std::vector<double> LoadsOfSpans(const Workload& trace, const ClusterSpec& cluster,
                                 const WindowOptions& options);

// Of a weekly episode: which of the trace's windows it is drawn from, from 0.
std::int32_t WindowOfSeed(const Workload& trace, const WindowOptions& options, std::uint64_t seed);

}  // namespace allot
