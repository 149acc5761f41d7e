#include "perf/elastic.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "core/error.h"
#include "core/rng.h"

namespace allot {
namespace {

const ModelPtr& DrawProfile(const std::vector<ModelPtr>& profiles, GpuCount gpus,
                            double least_efficiency, Rng* rng) {
  const auto rate = [](const ModelPtr& model, GpuCount count) {
    return model->Rate(UnitCounts(count), "");  // "": the reference type
  };
  std::vector<const ModelPtr*> fitting;
  for (const ModelPtr& model : profiles) {
    if (rate(model, gpus) >= least_efficiency * gpus * rate(model, 1)) fitting.push_back(&model);
  }
  if (fitting.empty()) return profiles[rng->Below(profiles.size())];
  return *fitting[rng->Below(fitting.size())];
}

// For people: what profiles of this catalogue are.
std::string SourceOf(const Catalogue& catalogue) {
  if (catalogue.id().empty()) return "the given catalogue";
  return Registry<CatalogueInfo>::Global().Get("catalogue", catalogue.id()).summary;
}

}  // namespace

void KeepRequestedSize(Job* job) { job->min_gpus = job->max_gpus = 0; }

std::string FixedSizesInWords(std::int64_t fixed, std::int64_t jobs) {
  if (fixed == 0) return "";
  return fmt::format(
      "{} of {} jobs may have other numbers of GPUs by their trace (min_gpus, max_gpus), but name "
      "no "
      "throughput model: their speed there is unknown, so they keep the size that they ask for.",
      fixed, jobs);
}

bool MayBecomeElastic(const ElasticityOptions& options, const Workload& workload, const Job& job) {
  if (!options.users) return true;
  return job.user >= 0 && std::find(options.users->begin(), options.users->end(),
                                    workload.users[job.user]) != options.users->end();
}

void MakeElastic(const ElasticityOptions& options, const Catalogue& catalogue, Workload* workload) {
  if (options.growth < 1 || options.cap < 1) {
    throw UsageError("growth and cap of an elastic job must be >= 1, got {} and {}", options.growth,
                     options.cap);
  }
  const auto& profiles = catalogue.models();
  for (Job& job : workload->jobs) {
    if (!MayBecomeElastic(options, *workload, job)) continue;
    if (job.model < 0) {
      Rng rng(options.seed, "elastic", StableHash(job.id));
      job.model = workload->models.Intern(
          DrawProfile(profiles, job.gpus, options.least_efficiency, &rng)->name());
      job.work =
          0;  // was in seconds at rate 1; TableCache::WorkOf derives it in the profile's unit
      ++workload->drawn.jobs;
    }
    if (job.rigid()) {
      const std::int64_t grown = std::int64_t{options.growth} * job.gpus;
      const auto capped = static_cast<GpuCount>(std::min<std::int64_t>(grown, options.cap));
      job.min_gpus = 1;
      job.max_gpus = std::max(job.gpus, capped);
    }
  }
  if (workload->drawn.jobs > 0) workload->drawn.from = SourceOf(catalogue);
}

}  // namespace allot
