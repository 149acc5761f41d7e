#include "envs/application_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/index.h"
#include "core/rng.h"
#include "perf/application_model.h"

namespace allot {
namespace {

constexpr GpuCount kMostGpus = 64;

std::size_t Draw(const std::vector<double>& weights, Rng* rng) {
  double sum = 0;
  for (const double weight : weights) sum += weight;
  double at = rng->Uniform(0, sum);
  std::size_t i = 0;
  while (i + 1 < weights.size() && at >= weights[i]) at -= weights[i++];
  return i;
}

// Its run time at the requested GPUs, packed, on the first of the cluster's types it was measured
// on.
Seconds DurationOf(const ApplicationModel& model, GpuCount gpus, const ClusterSpec& cluster) {
  for (const GpuTypeSpec& type : cluster.type_specs()) {
    const std::vector<UnitCounts> nodes = FewestNodes(gpus, type.node_gpus, {1, Span::kAny});
    if (nodes.empty()) continue;
    Seconds seconds = 0;
    double done = 0;
    while (done < model.total_work()) {
      const double rate = model.Rate({type.name, nodes, {}}, {done, kUnknown});
      if (!(rate > 0)) break;
      const double until = std::min(model.ConstantUntil(done), model.total_work());
      seconds += (until - done) / rate;
      done = until;
    }
    if (done >= model.total_work()) return seconds;
  }
  throw DataError("application '{}' was measured with {} GPUs on no type of the cluster",
                  model.name(), gpus);
}

}  // namespace

std::vector<double> UsualHours() { return {110, 110, 62, 114, 140, 214, 116, 94}; }

Workload DrawApplicationJobs(const ApplicationJobs& law, const Catalogue& catalogue,
                             const ClusterSpec& cluster, const std::string& name,
                             std::uint64_t seed) {
  Rng rng(seed, "application-jobs");
  std::vector<double> weights;
  for (const ApplicationRequest& request : law.requests) weights.push_back(request.weight);
  std::vector<Seconds> submits;
  const auto count = static_cast<std::size_t>(std::max(1.0, std::round(law.jobs)));
  for (std::size_t i = 0; i < count; ++i) {
    const auto hour = static_cast<double>(Draw(law.hours, &rng));
    submits.push_back(std::floor(3600 * (hour + rng.Uniform())));
  }
  std::sort(submits.begin(), submits.end());
  Workload workload;
  workload.name = name;
  for (std::size_t i = 0; i < count; ++i) {
    const ApplicationRequest& request = law.requests[Draw(weights, &rng)];
    const ApplicationModel* model = AsApplication(*catalogue.Get(request.application));
    if (model == nullptr) {
      throw DataError("'{}' must be an application, and is another profile", request.application);
    }
    GpuCount most = 0;
    for (const ApplicationOnType& type : model->application()->types()) {
      most = std::max(most, static_cast<GpuCount>(type.limits.most / type.limits.least_local));
    }
    Job job;
    job.id = fmt::format("{}-{}", request.application, i);
    job.submit = submits[i];
    job.gpus = request.gpus;
    job.batch = static_cast<float>(request.batch);
    job.model = workload.models.Intern(request.application);
    job.group = workload.groups.Intern(request.application);
    job.min_gpus = 1;
    job.max_gpus = std::max(request.gpus, std::min(most, kMostGpus));
    job.duration = DurationOf(*model, job.gpus, cluster);
    job.work = model->total_work();
    workload.jobs.push_back(std::move(job));
  }
  workload.Finish();
  return workload;
}

}  // namespace allot
