#include "sim/scenario.h"

#include <utility>

#include "core/check.h"
#include "core/error.h"
#include "perf/table_cache.h"

namespace allot {

Scenario::Scenario(Workload workload, ClusterSpec cluster, SimOptions options,
                   const Catalogue& catalogue)
    : workload_(std::move(workload)), cluster_(std::move(cluster)), options_(options) {
  if (workload_.jobs.empty()) throw DataError("workload '{}' has no job", workload_.name);
  if (!(options_.interval > 0)) {
    throw UsageError("the decision interval must be > 0 s, got {}", options_.interval);
  }
  if (!(options_.restart_cost >= 0)) {
    throw UsageError("the restart cost must be >= 0 s, got {}", options_.restart_cost);
  }
  if (!(options_.speedup > 0)) {
    throw UsageError("the speed-up of progress must be > 0, got {}", options_.speedup);
  }
  TableCache tables(catalogue, cluster_.types(), cluster_.type_capacity());
  facts_.reserve(workload_.jobs.size());
  for (const Job& job : workload_.jobs) {
    JobFacts facts;
    facts.table = tables.TableFor(workload_, job);
    facts.work = tables.WorkOf(workload_, job);
    facts.estimate = options_.lengths.Of(job, facts.work, options_.seed);
    facts.requested = tables.RequestedOf(workload_, job);
    facts_.push_back(std::move(facts));
  }
}

Scenario::Scenario(Workload workload, ClusterSpec cluster, SimOptions options,
                   std::vector<JobFacts> facts)
    : workload_(std::move(workload)),
      cluster_(std::move(cluster)),
      options_(options),
      facts_(std::move(facts)) {
  ALLOT_CHECK_EQ(workload_.jobs.size(), facts_.size());
}

}  // namespace allot
