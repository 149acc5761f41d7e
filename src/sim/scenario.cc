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
  TableCache tables(catalogue, cluster_.types(), cluster_.type_capacity());
  facts_.reserve(workload_.jobs.size());
  for (const Job& job : workload_.jobs) {
    JobFacts facts;
    facts.table = tables.TableFor(workload_, job);
    facts.work = tables.WorkOf(workload_, job);
    facts.estimate = options_.lengths.Of(job, facts.work, options_.seed);
    UnitCounts units{};
    units[0] = static_cast<std::int16_t>(job.gpus);
    facts.requested = -1;
    for (const GpuTypeIndex type : facts.table->types()) {
      facts.requested = facts.table->Find(units, type);
      if (facts.requested >= 0) break;
    }
    ALLOT_CHECK_GE(facts.requested, 0);
    facts_.push_back(std::move(facts));
  }
}

}  // namespace allot
