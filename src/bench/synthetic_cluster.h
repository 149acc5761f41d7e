#pragma once
// A synthetic cluster as a daemon observes it: jobs of many models, each with its own measured
// table. Between two decisions some jobs end, others arrive, and some get new measurements. Used by
// 'allot bench serve'.

#include <deque>
#include <memory>
#include <vector>

#include "cluster/allocation.h"
#include "cluster/observation.h"
#include "core/rng.h"
#include "perf/table_cache.h"

namespace allot {

class SyntheticCluster {
 public:
  // Two GPU types, eight GPUs per node and one GPU per job.
  explicit SyntheticCluster(int jobs);

  const Observation& Observe();
  // Applies the decision, then an interval of progress.
  void Apply(const Allocation& allocation);

 private:
  struct Job {
    JobIndex number;
    Seconds submit;
    std::unique_ptr<ConfigurationTable> table;
    std::int32_t requested;
    std::int32_t running = -1;
    std::int32_t changes = 0;
    double done = 0;
    double total;
    double gpu_seconds = 0;
    Seconds seconds = 0;
    Seconds waiting_since;
    bool estimated;
    std::vector<NodeShare> shares;
  };

  Job NewJob();
  void MeasureAnew(Job* job);

  ClusterSpec cluster_;
  Workload models_;
  std::unique_ptr<TableCache> tables_;
  Rng rng_;
  std::deque<Job> jobs_;
  JobIndex next_ = 0;
  Observation o_;
};

}  // namespace allot
