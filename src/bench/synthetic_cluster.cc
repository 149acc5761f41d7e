#include "bench/synthetic_cluster.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/index.h"

namespace allot {
namespace {

constexpr Seconds kInterval = 10;
constexpr double kMeasured = 0.01;  // fraction of jobs whose table changes between two decisions

}  // namespace

SyntheticCluster::SyntheticCluster(int jobs) : rng_(1, "live-crowd") {
  const int nodes = std::max(1, jobs / 16);
  cluster_.AddNodes(nodes, {.gpus = 8, .cpus = 64}, "v100");
  cluster_.AddNodes(nodes, {.gpus = 8, .cpus = 64}, "k80");
  for (const ModelPtr& model : Catalogue::Embedded().models()) {
    if (model->kinds().size() == 1) models_.models.Intern(model->name());
  }
  tables_ = std::make_unique<TableCache>(Catalogue::Embedded(), cluster_.type_specs());
  o_.interval = kInterval;
  for (int i = 0; i < jobs; ++i) jobs_.push_back(NewJob());
}

SyntheticCluster::Job SyntheticCluster::NewJob() {
  allot::Job asked;
  asked.model = static_cast<std::int32_t>(rng_.Below(models_.models.size()));
  asked.gpus = 1 << rng_.Below(3);
  asked.min_gpus = 1;
  asked.max_gpus = 16;
  Job job{.number = next_++,
          .submit = o_.now,
          .table = std::make_unique<ConfigurationTable>(*tables_->TableFor(models_, asked)),
          .requested = tables_->RequestedOf(models_, asked),
          .total = 0,
          .waiting_since = o_.now,
          .estimated = rng_.Below(3) > 0,
          .shares = {}};
  job.total = kInterval * (100 + rng_.Exponential(2000)) * (*job.table)[job.requested].rate;
  MeasureAnew(&job);
  return job;
}

void SyntheticCluster::MeasureAnew(Job* job) {
  const double ratio = rng_.Uniform(0.9, 1.1);
  std::vector<double> rates;
  for (const Configuration& c : job->table->configurations()) rates.push_back(ratio * c.rate);
  job->table = std::make_unique<ConfigurationTable>(job->table->WithRates(rates));
}

const Observation& SyntheticCluster::Observe() {
  Observation& o = o_;
  o.cluster = &cluster_;
  o.ClearJobs();
  for (const Job& job : jobs_) {
    o.Append({.job = job.number,
              .submit = job.submit,
              .table = job.table.get(),
              .requested = job.requested,
              .running = job.running,
              .done_work = job.done,
              .estimated_work = job.estimated ? job.total : kUnknown,
              .attained_gpu_seconds = job.gpu_seconds,
              .attained_seconds = job.seconds,
              .restart_cost = 1,
              .changes = job.changes,
              .waiting_since = job.running < 0 ? job.waiting_since : o.now,
              .tenant = job.number % 10,
              .user = job.number % 200},
             job.shares);
  }
  return o;
}

void SyntheticCluster::Apply(const Allocation& allocation) {
  std::vector<const Allocation::Entry*> given(jobs_.size(), nullptr);
  for (const Allocation::Entry& entry : allocation.entries()) {
    const auto at = std::lower_bound(jobs_.begin(), jobs_.end(), entry.job,
                                     [](const Job& job, JobIndex n) { return job.number < n; });
    given[static_cast<std::size_t>(at - jobs_.begin())] = &entry;
  }
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    Job& job = jobs_[i];
    if (given[i] == nullptr) {
      if (job.running >= 0) job.waiting_since = o_.now;
      job.running = -1;
      job.shares.clear();
      continue;
    }
    const auto shares = allocation.shares(*given[i]);
    if (!std::equal(shares.begin(), shares.end(), job.shares.begin(), job.shares.end())) {
      ++job.changes;
    }
    job.running = given[i]->configuration;
    job.shares.assign(shares.begin(), shares.end());
    const Configuration& c = (*job.table)[job.running];
    job.done += kInterval * c.rate;
    job.seconds += kInterval;
    job.gpu_seconds += kInterval * c.demand.gpus;
    if (rng_.Uniform() < kMeasured) MeasureAnew(&job);
  }
  o_.now += kInterval;
  ++o_.decision;
  const std::size_t before = jobs_.size();
  std::erase_if(jobs_, [](const Job& job) { return job.done >= job.total; });
  while (jobs_.size() < before) jobs_.push_back(NewJob());
}

}  // namespace allot
