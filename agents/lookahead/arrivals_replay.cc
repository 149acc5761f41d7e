#include "agents/lookahead/arrivals_replay.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/index.h"
#include "length_model/remaining.h"
#include "sched/driver.h"
#include "sim/simulated_cluster.h"

namespace allot {

void ArrivalsReplay::OnEpisodeStart() {
  events_.Reset();
  jobs_.clear();
  tables_.clear();
  ended_count_ = 0;
}

// Live, a table can be where another one was that is no more.
std::shared_ptr<const ConfigurationTable> ArrivalsReplay::Copy(const ConfigurationTable* table) {
  auto& copy = tables_[table];
  if (copy == nullptr || copy->fingerprint() != table->fingerprint()) {
    copy = std::make_shared<const ConfigurationTable>(*table);
  }
  return copy;
}

void ArrivalsReplay::Observe(const Observation& o) {
  if (events_.Follow(o.events) != EventCursor::Step::kAgain) {
    for (const EndedJob& ended : o.events.ended) {
      const auto found = jobs_.find(ended.job);
      if (found == jobs_.end()) continue;
      Seen& seen = found->second;
      seen.work = ended.requested_seconds() * (*seen.table)[seen.requested].rate;
      seen.end = ended.end;
      ++ended_count_;
    }
  }
  if (jobs_.size() > memory_) Begin(o);
  for (std::int32_t row = 0; row < o.rows(); ++row) {
    const std::size_t r = At(row);
    const auto [at, is_new] = jobs_.try_emplace(o.job[r]);
    Seen& seen = at->second;
    if (is_new) {
      seen = {.submit = o.submit[r],
              .table = nullptr,
              .requested = o.requested[r],
              .estimate = o.estimated_work[r]};
    }
    seen.table = Copy(o.table[r]);  // its rates may have been measured since
    seen.work = o.done_work[r] + AssumedRemaining(o, row);
  }
}

void ArrivalsReplay::Begin(const Observation& o) {
  jobs_.clear();
  tables_.clear();
  ended_count_ = 0;
  for (std::int32_t row = 0; row < o.rows(); ++row) {
    const std::size_t r = At(row);
    jobs_[o.job[r]] = {.submit = o.now,
                       .table = Copy(o.table[r]),
                       .requested = o.requested[r],
                       .done_before = o.done_work[r],
                       .work = 0,
                       .estimate = o.estimated_work[r]};
  }
}

double ArrivalsReplay::MeasuredMeanJct(const Observation& now) const {
  double sum = 0;
  for (const auto& [job, seen] : jobs_) sum += std::min(seen.end, now.now) - seen.submit;
  return sum / static_cast<double>(jobs_.size());
}

double ArrivalsReplay::SimulatedMeanJct(const Observation& now, Policy& policy) const {
  std::vector<const Seen*> by_submit;
  for (const auto& [job, seen] : jobs_) by_submit.push_back(&seen);
  std::stable_sort(by_submit.begin(), by_submit.end(),
                   [](const Seen* a, const Seen* b) { return a->submit < b->submit; });
  Workload workload;
  workload.name = "arrivals";
  std::vector<Scenario::JobFacts> facts;
  for (const Seen* seen : by_submit) {
    Scenario::JobFacts known;
    known.table = seen->table;
    known.requested = seen->requested;
    const double least = 1e-9 * seen->table->reference_rate();
    known.work = std::max(least, seen->work - seen->done_before);
    known.estimate = std::max(least, seen->estimate - seen->done_before);
    if (std::isnan(seen->estimate)) known.estimate = kUnknown;
    Job job;
    job.id = std::to_string(facts.size());
    job.submit = seen->submit;
    job.gpus = (*known.table)[known.requested].demand.gpus;
    job.duration = known.work / (*known.table)[known.requested].rate;
    workload.jobs.push_back(std::move(job));
    facts.push_back(std::move(known));
  }
  SimOptions rules = rules_;
  rules.interval = now.interval;
  if (now.rows() > 0) rules.restart_cost = now.restart_cost.front();
  const Scenario scenario(std::move(workload), *now.cluster, rules, std::move(facts));
  SimulatedCluster cluster(scenario);
  Drive(cluster, policy, {.seed = rules.seed, .cluster = &scenario.cluster()}, {},
        {.time_decisions = false, .enough = [&] { return cluster.Observe().now >= now.now; }});
  double sum = 0;
  for (const JobRecord& record : cluster.records()) {
    sum += std::min(record.finish, now.now) - record.submit;
  }
  return sum / static_cast<double>(cluster.records().size());
}

}  // namespace allot
