#pragma once
// How long a job that trains an application would take alone on a fair share of the cluster, as
// Sia's artifact computes finish-time fairness (Jayaram Subramanya et al., SOSP'23, section 4.2;
// its share is Themis', NSDI'20): played on so many GPUs of each type, packed, with the best
// batches, from its start on; of a share that is not whole the line between the whole ones; the
// mean over types, each weighing as many as it has GPUs. Less than a GPU takes as many times as
// long; so do fewer GPUs than a job needs, that has one size only.

#include <map>
#include <tuple>
#include <vector>

#include "sim/scenario.h"

namespace allot {

// The scenario lives on. Not thread-safe.
class AloneTimes {
 public:
  explicit AloneTimes(const Scenario& scenario)
      : scenario_(scenario), specs_(scenario.cluster().type_specs()) {}

  // Of `gpus` > 0 of any type; kUnknown for jobs that train no application, and where it was
  // measured on no type. What was measured on fewer GPUs only counts as on the most. O(epochs) for
  // each new (application, type, whole number), then O(types log).
  Seconds Of(JobIndex job, double gpus);

 private:
  Seconds OnWhole(JobIndex job, GpuCount gpus);
  Seconds Play(JobIndex job, const GpuTypeSpec& type, GpuCount gpus) const;

  const Scenario& scenario_;
  std::vector<GpuTypeSpec> specs_;
  std::map<std::tuple<const ApplicationModel*, std::size_t, GpuCount>, Seconds> known_;
};

}  // namespace allot
