// Jobs of SimulatedCluster that train applications in steps (TrainingRules::stepped).

#include <algorithm>

#include "core/index.h"
#include "perf/fixed_batch.h"
#include "sim/simulated_cluster.h"
#include "sim/training_belief.h"

namespace allot {

TrainingRun* SimulatedCluster::TrainingOf(JobIndex job) const {
  return training_.empty() ? nullptr : training_[At(job)].get();
}

void SimulatedCluster::BeginTraining() {
  if (!scenario_.options().training.stepped) return;
  training_.resize(records_.size());
  for (std::size_t j = 0; j < training_.size(); ++j) {
    const ApplicationModel* const application =
        scenario_.facts(static_cast<JobIndex>(j)).application();
    if (application == nullptr) continue;
    training_[j] = std::make_unique<TrainingRun>(*application, scenario_.options().training);
  }
}

void SimulatedCluster::ShowRates(RatesRead rates) {
  // Autoscalers read them too.
  if (autoscaler_ != nullptr || training_.empty() || belief_ == nullptr ||
      scenario_.cluster().types().size() > 1)
    return;
  if (rates == RatesRead::kTrusted) belief_->LeaveOutUntrusted();
  if (rates != RatesRead::kNone) return;
  shows_rates_ = false;
  measured_at_.clear();
  Observation& o = observation_;
  for (std::size_t row = 0; row < o.job.size(); ++row) {
    const Scenario::JobFacts& facts = scenario_.facts(o.job[row]);
    o.table[row] = facts.table.get();
    o.requested[row] = facts.requested;
  }
}

TrainingRun::Chooser SimulatedCluster::ChooserOf(JobIndex job) const {
  const Job& asked = scenario_.workload().jobs[At(job)];
  const ApplicationModel& model = *scenario_.facts(job).application();
  if (model.fixed_batch() > 0 || requested_batches_) {
    double batch = model.fixed_batch();
    if (requested_batches_ && asked.batch > 0) batch = asked.batch;
    if (!(batch > 0)) batch = model.application()->initial_batch();
    return [&model, batch](const RunShape& shape, std::int32_t) {
      const ApplicationOnType& on = *model.application()->On(shape.gpu_type);
      return FixedBatchOn(on, on.times.PlaceOf(CanonicalPlacement(shape.nodes)), batch);
    };
  }
  TrainingBelief* const belief = belief_ == nullptr ? nullptr : belief_->training();
  if (belief == nullptr) {
    return
        [&model](const RunShape& shape, std::int32_t epoch) { return model.Choose(shape, epoch); };
  }
  return [belief, job](const RunShape& shape, std::int32_t) {
    return belief->Choose(
        job, {shape.gpu_type, static_cast<std::int32_t>(shape.nodes.size()), shape.units().of(0)});
  };
}

void SimulatedCluster::PlaceTraining() {
  const Observation& o = observation_;
  std::vector<UnitCounts> nodes;
  for (const Holdings::Change& change : holdings_.changes()) {
    const std::size_t row = At(change.row);
    TrainingRun* const run = TrainingOf(o.job[row]);
    if (run == nullptr) continue;
    if (o.running[row] < 0) {
      run->Stop();
      continue;
    }
    nodes.clear();
    for (const NodeShare& share : o.shares_of(change.row)) nodes.push_back(share.units);
    const Configuration& held = (*scenario_.facts(o.job[row]).table)[o.running[row]];
    run->Place(o.cluster->types()[At(held.gpu_type)], nodes, ChooserOf(o.job[row]));
  }
}

// By slot, whether a job on several nodes has one of them together with another such job.
std::vector<bool> SimulatedCluster::Interfered() const {
  const Observation& o = observation_;
  std::vector<int> distributed(o.cluster->nodes().size(), 0);
  const auto each_node = [&](const auto& visit) {
    for (std::size_t slot = 0; slot < runs_.size(); ++slot) {
      const auto shares = o.shares_of(running_rows_[slot]);
      if (shares.size() < 2) continue;
      for (const NodeShare& share : shares) visit(slot, At(share.node));
    }
  };
  each_node([&](std::size_t, std::size_t node) { ++distributed[node]; });
  std::vector<bool> interfered(runs_.size(), false);
  each_node([&](std::size_t slot, std::size_t node) {
    if (distributed[node] > 1) interfered[slot] = true;
  });
  return interfered;
}

void SimulatedCluster::StepTraining(Seconds time) {
  const Observation& o = observation_;
  const SimOptions& options = scenario_.options();
  const double lost = options.training.interference;
  const std::vector<bool> interfered = lost > 0 ? Interfered() : std::vector<bool>();
  TrainingBelief* const belief = belief_ == nullptr ? nullptr : belief_->training();
  for (std::size_t slot = 0; slot < runs_.size(); ++slot) {
    const JobIndex job = o.job[At(running_rows_[slot])];
    TrainingRun* const training = TrainingOf(job);
    if (training == nullptr) continue;
    Run& run = runs_[slot];
    const Seconds begin = std::max(o.now, run.ready);
    if (!(begin < time)) continue;
    TrainingRun::Meter measure;
    // Nobody looks at what is measured where rates are not shown and no batch is chosen.
    if (belief != nullptr && (shows_rates_ || !requested_batches_)) {
      measure = [&](const TrainingMeasurement& measured) {
        if (belief->Measure(job, measured) && shows_rates_) renewed_.push_back(job);
      };
    }
    const double factor = options.speedup * (lost > 0 && interfered[slot] ? 1 - lost : 1);
    const Seconds took = training->Advance(time - begin, factor, ChooserOf(job), measure);
    run.rate = training->rate();
    if (training->finished()) run.finish = begin + took;
  }
}

void SimulatedCluster::ShowRenewed() {
  if (belief_ != nullptr && shows_rates_) belief_->TakeAlsoRenewed(&renewed_);
  if (renewed_.empty()) return;
  // A job measures itself at the end of each epoch, several times in an interval.
  std::sort(renewed_.begin(), renewed_.end());
  renewed_.erase(std::unique(renewed_.begin(), renewed_.end()), renewed_.end());
  std::vector<std::int32_t>& changed = observation_.events.table_changed;
  for (const JobIndex job : renewed_) {
    const std::int32_t row = row_of_job_[At(job)];
    if (row < 0) continue;
    ShowTable(At(row));
    changed.push_back(row);
  }
  renewed_.clear();
  std::sort(changed.begin(), changed.end());
  changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
}

// Interval by interval, until something has happened or the answer does not hold any more.
void SimulatedCluster::PassSteps(Seconds holds_until) {
  const Events& events = observation_.events;
  do {
    CheckNotStuck(runs_.empty() ? NextEvent() : observation_.now, holds_until);
    AdvanceTo(IntervalAfterNow());
    ShowRenewed();
    if (!measured_at_.empty()) MeasureRates();
  } while (observation_.rows() > 0 && events.arrived.empty() && events.ended.empty() &&
           events.table_changed.empty() && observation_.now < NextInterval(holds_until));
}

}  // namespace allot
