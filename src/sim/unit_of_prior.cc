#include "sim/unit_of_prior.h"

#include "core/index.h"

namespace allot {

double UnitOfPrior(const Scenario& scenario, JobIndex job, const RateFit& fit) {
  if (fit.measured()) return 1;
  const Scenario::JobFacts& facts = scenario.facts(job);
  const Configuration& asked = (*facts.table)[facts.requested];
  const std::string& type = scenario.cluster().types()[At(asked.gpu_type)];
  return asked.rate / fit.Rate(asked.demand.gpus, type, asked.span);
}

}  // namespace allot
