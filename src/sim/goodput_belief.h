#pragma once
// What jobs that train applications (perf/application.h) believe of themselves in Pollux's and
// Sia's simulators: they know their gradients' statistics as of now and iteration times as fitted
// to what they ran so far (perf/timing_fits.h). Three regimes:
//   online   each job fits its own times
//   shared   all jobs of an application fit theirs together: a new one begins with what is known
//   known    times are fitted to what was measured of the application before anybody runs
//   learned  as shared, and how far off fits are beyond what was measured is learned from all jobs
//            (perf/timing_book.h), as a spread that says how far they are trusted
// More GPUs than `growth` times the most that it ran on are not trusted (Pollux, OSDI'21, section
// 4.1, footnote: at most twice; all types together, as in Sia).
//
// Before it ran, a job is taken to scale perfectly from its smallest configuration, whose true rate
// is known, as its length estimate would say too. On types where it never ran, it is as fast as on
// the cluster's first one where it did, times the ratio of the samples that one GPU does a second
// with the largest batch of each (Sia's artifact, option project_throughputs).
//
// Other jobs are believed to run as they do, and so are pipelines (perf/pipelines.h).

#include <memory>

#include "sim/belief.h"

namespace allot {

enum class TimingRegime { kOnline, kShared, kKnown, kLearned };

struct GoodputBeliefOptions {
  TimingRegime regime = TimingRegime::kOnline;
  double growth = 2;         // 0: any number of GPUs is trusted
  double trust = 0;          // learned: what has at most this spread is trusted too
  bool users_batch = false;  // believed rates are for batches up to the user's
};
std::unique_ptr<Belief> MakeGoodputBelief(const Scenario& scenario,
                                          const GoodputBeliefOptions& options);

// `growth`: the default.
BeliefInfo GoodputBeliefInfo(const char* id, const char* summary, TimingRegime regime,
                             const char* growth);

}  // namespace allot
