#include "sim/stepped_training.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "perf/fixed_batch.h"

namespace allot {
namespace {

// A tree in which every node is a domain, so that jobs on several nodes use its uplink.
Topology EachNodeADomain(const ClusterSpec& cluster) {
  std::vector<Topology::Domain> nodes(cluster.nodes().size());
  std::iota(nodes.begin(), nodes.end(), 0);
  return Topology({{.name = "adapter", .uplink = 1}}, {std::move(nodes)}, 1, 1, cluster);
}

// How much is all the same: who shares a node is asked.
constexpr Communication kSomeCommunication{0.5F, CommunicationPattern::kRing};

}  // namespace

SteppedTraining::SteppedTraining(const Scenario& scenario, ShownRates* rates)
    : scenario_(scenario), rates_(rates), runs_(scenario.workload().jobs.size()) {
  if (scenario.options().training.interference > 0) {
    topology_.emplace(EachNodeADomain(scenario.cluster()));
    network_.emplace(*topology_, runs_.size());
  }
  for (std::size_t j = 0; j < runs_.size(); ++j) {
    const ApplicationModel* const application =
        scenario.facts(static_cast<JobIndex>(j)).application();
    if (application == nullptr) continue;
    runs_[j] = std::make_unique<TrainingRun>(*application, scenario.options().training);
  }
}

TrainingRun::Chooser SteppedTraining::ChooserOf(JobIndex job) const {
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
  TrainingBelief* const belief = rates_ == nullptr ? nullptr : rates_->training();
  if (belief == nullptr) {
    return
        [&model](const RunShape& shape, std::int32_t epoch) { return model.Choose(shape, epoch); };
  }
  return [belief, job](const RunShape& shape, std::int32_t) {
    return belief->Choose(
        job, {shape.gpu_type, static_cast<std::int32_t>(shape.nodes.size()), shape.units().of(0)});
  };
}

void SteppedTraining::Place(const SimulatedJobs& jobs, std::span<const Holdings::Change> changes,
                            bool requested_batches) {
  requested_batches_ = requested_batches;
  const Observation& o = jobs.observation;
  std::vector<UnitCounts> nodes;
  for (const Holdings::Change& change : changes) {
    const std::size_t row = At(change.row);
    const JobIndex job = o.job[row];
    if (o.running[row] < 0) {
      Stop(job);
      continue;
    }
    if (network_) network_->Place(job, kSomeCommunication, o.shares_of(change.row));
    if (runs_[At(job)] == nullptr) continue;
    nodes.clear();
    for (const NodeShare& share : o.shares_of(change.row)) nodes.push_back(share.units);
    const GpuTypeIndex type = jobs.TrueConfiguration(row).gpu_type;
    runs_[At(job)]->Place(o.cluster->types()[At(type)], nodes, ChooserOf(job));
  }
}

void SteppedTraining::Stop(JobIndex job) {
  if (network_) network_->Remove(job);
  if (runs_[At(job)] != nullptr) runs_[At(job)]->Stop();
}

void SteppedTraining::Advance(Seconds time, SimulatedJobs* jobs) {
  const SimOptions& options = scenario_.options();
  const double lost = options.training.interference;
  // What is measured is of no use where rates are not shown and no batch is chosen.
  const bool measures = rates_ != nullptr && rates_->training() != nullptr &&
                        (rates_->shown() || !requested_batches_);
  for (std::size_t slot = 0; slot < jobs->running.size(); ++slot) {
    const JobIndex job = jobs->JobIn(slot);
    TrainingRun* const training = runs_[At(job)].get();
    if (training == nullptr) continue;
    RunningJob& run = jobs->running[slot];
    const Seconds begin = std::max(jobs->observation.now, run.ready);
    if (!(begin < time)) continue;
    TrainingRun::Meter measure;
    if (measures) {
      measure = [&](const TrainingMeasurement& measured) { rates_->Learn(job, measured); };
    }
    const double factor =
        options.speedup * (network_ && network_->SharesUplink(job) ? 1 - lost : 1);
    const Seconds took = training->Advance(time - begin, factor, ChooserOf(job), measure);
    run.rate = training->rate();
    if (training->finished()) run.finish = begin + took;
  }
}

}  // namespace allot
