#include "sim/lower_bound.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "core/error.h"
#include "core/index.h"
#include "sim/relaxation.h"

namespace allot {
namespace {

Seconds NextInterval(Seconds time, Seconds interval) {
  const Seconds tick = std::ceil(time / interval) * interval;
  return tick >= time ? tick : tick + interval;
}

double Area(double units, double rate) { return rate > 0 ? units / rate : kNever; }

std::vector<RelaxedJob> JobsOf(const Scenario& scenario) {
  const SimOptions& options = scenario.options();
  std::vector<RelaxedJob> jobs;
  for (const Job& job : scenario.workload().jobs) {
    const Scenario::JobFacts& facts = scenario.facts(static_cast<JobIndex>(jobs.size()));
    RelaxedJob relaxed;
    relaxed.release =
        options.decide_on_events ? job.submit : NextInterval(job.submit, options.interval);
    relaxed.earliest = relaxed.release + facts.work / (facts.table->best_rate() * options.speedup);
    if (options.charge_whole_intervals) {
      relaxed.earliest = NextInterval(
          std::max(relaxed.release, relaxed.earliest - kBoundarySlack * options.interval),
          options.interval);
    }
    jobs.push_back(relaxed);
  }
  return jobs;
}

// The best rate per GPU of each type, relative to the best type's; 0 for types that are of no use.
std::vector<double> RelativeSpeeds(const ConfigurationTable& table, std::size_t types) {
  std::vector<double> speeds(types);
  for (std::int32_t i = 0; i < table.size(); ++i) {
    const Configuration& c = table[i];
    if (c.demand.gpus == 0 || !table.Allocatable(i)) continue;
    double& speed = speeds[static_cast<std::size_t>(c.gpu_type)];
    speed = std::max(speed, c.rate / c.demand.gpus);
  }
  const double best = *std::max_element(speeds.begin(), speeds.end());
  for (double& speed : speeds) speed = best > 0 ? speed / best : 0;
  return speeds;
}

std::vector<ResourceWeights> WeightingsOf(const Scenario& scenario) {
  const std::size_t types = scenario.cluster().types().size();
  const std::vector<double> ones(types, 1.0);
  const std::vector<double> zeros(types, 0.0);
  std::vector<ResourceWeights> weightings{{ones, zeros}, {zeros, ones}};
  if (types == 1) return weightings;
  std::map<const ConfigurationTable*, std::vector<double>> known;
  std::vector<double> mean(types);
  for (std::size_t job = 0; job < scenario.workload().jobs.size(); ++job) {
    const ConfigurationTable* table = scenario.facts(static_cast<JobIndex>(job)).table.get();
    auto& speeds = known[table];
    if (speeds.empty()) speeds = RelativeSpeeds(*table, types);
    for (std::size_t t = 0; t < types; ++t) mean[t] += speeds[t];
  }
  weightings.push_back({mean, zeros});
  return weightings;
}

double CapacityOf(const ClusterSpec& cluster, const ResourceWeights& weights) {
  double capacity = 0;
  for (std::size_t t = 0; t < cluster.types().size(); ++t) {
    const Resources& total = cluster.total_of(static_cast<GpuTypeIndex>(t));
    capacity += weights.gpu[t] * total.gpus + weights.cpu[t] * total.cpus;
  }
  return capacity;
}

}  // namespace

double LeastAreaPerWork(const ConfigurationTable& table, const ResourceWeights& weights) {
  double least = kNever;
  for (std::int32_t i = 0; i < table.size(); ++i) {
    const Configuration& c = table[i];
    if (!table.Allocatable(i)) continue;
    const std::size_t type = At(c.gpu_type);
    least = std::min(
        least, Area(weights.gpu[type] * c.demand.gpus + weights.cpu[type] * c.demand.cpus, c.rate));
  }
  return least;
}

LowerBound MeanJctBound(const Scenario& scenario) {
  for (JobIndex job = 0; scenario.has_processes() && At(job) < scenario.workload().jobs.size();
       ++job) {
    if (scenario.facts(job).process() == nullptr) continue;
    throw UsageError(
        "the lower bound is of rates that do not change while jobs run; those of job '{}' with "
        "profile '{}' do, under progress '{}'",
        scenario.workload().jobs[At(job)].id, scenario.facts(job).table->name(),
        scenario.options().progress);
  }
  std::vector<RelaxedJob> jobs = JobsOf(scenario);
  const auto count = static_cast<double>(jobs.size());
  double submits = 0;
  for (const Job& job : scenario.workload().jobs) submits += job.submit;
  const auto mean_jct = [&](double sum_of_ends) { return (sum_of_ends - submits) / count; };

  LowerBound bound;
  double alone = 0;
  for (const RelaxedJob& job : jobs) alone += job.earliest;
  bound.alone = bound.mean_jct = mean_jct(alone);
  for (const ResourceWeights& weights : WeightingsOf(scenario)) {
    const double capacity = CapacityOf(scenario.cluster(), weights);
    if (!(capacity > 0)) continue;
    std::map<const ConfigurationTable*, double> per_work;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const Scenario::JobFacts& facts = scenario.facts(static_cast<JobIndex>(i));
      const auto [known, added] = per_work.try_emplace(facts.table.get(), 0.0);
      if (added) known->second = LeastAreaPerWork(*facts.table, weights);
      jobs[i].area = known->second * facts.work / scenario.options().speedup;
    }
    const std::vector<Seconds> ends = FluidEnds(jobs, capacity);
    bound.fluid = std::max(bound.fluid, mean_jct(std::accumulate(ends.begin(), ends.end(), 0.0)));
    bound.mean_jct = std::max(bound.mean_jct, mean_jct(EndSumBound(jobs, capacity)));
  }
  return bound;
}

}  // namespace allot
