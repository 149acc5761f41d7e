// Optimus (Peng et al., EuroSys'18) as Pollux is compared with (Qiao et al., OSDI'21, section 5.2
// and artifact): jobs train with the batch that their users asked for, and the scheduler knows
// their true iteration times and how many iterations they have left. Each job gets a GPU, in order
// of submission, while there are some; then one more each time for the job that gains most by it.
// Jobs that train no application have what they asked for, or wait.

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "core/error.h"
#include "core/index.h"
#include "perf/application_model.h"
#include "sched/foresight.h"
#include "sched/policy.h"
#include "sched/stages.h"
#include "stages/fill/capacity.h"

namespace allot {
namespace {

class OptimusOracle : public Policy {
 public:
  explicit OptimusOracle(const PolicyInfo& info)
      : info_(info),
        placement_(MakeStage<Placement>("placement", "emptiest:smallest-first=true")) {}

  const PolicyInfo& info() const override { return info_; }

  void OnEpisodeStart(const EpisodeContext& context) override {
    foresight_ = context.foresight;
    times_.clear();
  }

  void Decide(const Observation& o, Allocation* allocation) override {
    capacity_.Reset(*o.cluster);
    jobs_.assign(At(o.rows()), {});
    order_.resize(jobs_.size());
    std::iota(order_.begin(), order_.end(), 0);
    std::sort(order_.begin(), order_.end(), [&o](std::size_t a, std::size_t b) {
      return o.submit[a] != o.submit[b] ? o.submit[a] < o.submit[b] : o.job[a] < o.job[b];
    });
    for (const std::size_t row : order_) {
      Candidate& job = jobs_[row];
      job.times = &TimesOf(o, row);
      job.configuration = job.times->iteration.empty() ? o.requested[row] : job.times->OnGpus(1);
      if (job.configuration >= 0 && !capacity_.Fits((*o.table[row])[job.configuration])) {
        job.configuration = -1;
      }
      if (job.configuration < 0) continue;
      capacity_.Take((*o.table[row])[job.configuration]);
      job.gpus = 1;
      job.iterations = job.times->IterationsLeft(o.done_work[row]);
    }
    while (Grow(o)) {
    }
    grants_.clear();
    for (const std::size_t row : order_) {
      if (jobs_[row].configuration < 0) continue;
      grants_.push_back({static_cast<std::int32_t>(row), jobs_[row].configuration});
    }
    placement_->Place(o, grants_, allocation);
    allocation->KeepRequestedBatches();
  }

 private:
  // What is known of a job.
  struct Times {
    const Application* application = nullptr;
    double batch = 0;
    // By GPUs, from 1; empty: it trains no application and has what it asked for or nothing.
    std::vector<Seconds> iteration;
    std::vector<std::int32_t> configuration;

    std::int32_t OnGpus(GpuCount gpus) const { return configuration[At(gpus) - 1]; }
    double IterationsLeft(double done) const {
      if (application == nullptr) return 0;
      const std::int32_t epoch = application->EpochAt(done);
      const std::int32_t last = application->epochs() - 1;
      if (epoch >= last) return 1;
      return application->IterationsUntil(last, batch) - application->IterationsUntil(epoch, batch);
    }
  };
  struct Candidate {
    const Times* times = nullptr;
    double iterations = 0;
    GpuCount gpus = 0;
    std::int32_t configuration = -1;  // -1: it waits
    // Seconds that one GPU more saves; not > 0 where it cannot have one.
    double Gain() const {
      const auto& t = times->iteration;
      if (configuration < 0 || At(gpus) >= t.size()) return 0;
      return (t[At(gpus) - 1] - t[At(gpus)]) * iterations;
    }
  };

  // One GPU more for the job that gains most, of equal ones the first; false where none can.
  bool Grow(const Observation& o) {
    Candidate* best = nullptr;
    double most = 0;
    std::size_t its_row = 0;
    for (const std::size_t row : order_) {
      const double gain = jobs_[row].Gain();
      if (!(gain > most)) continue;
      const GpuTypeIndex type = (*o.table[row])[jobs_[row].configuration].gpu_type;
      if (capacity_.free(type).gpus == 0) continue;
      most = gain;
      best = &jobs_[row];
      its_row = row;
    }
    if (best == nullptr) return false;
    const ConfigurationTable& table = *o.table[its_row];
    capacity_.Return(table[best->configuration]);
    best->configuration = best->times->OnGpus(++best->gpus);
    capacity_.Take(table[best->configuration]);
    return true;
  }

  const Times& TimesOf(const Observation& o, std::size_t row) {
    const auto [known, is_new] = times_.try_emplace(o.job[row]);
    Times& times = known->second;
    if (!is_new) return times;
    if (foresight_ == nullptr) {
      throw UsageError("policy '{}' knows the future of simulated episodes, this one has none",
                       info_.id);
    }
    const RequestedTraining asked = foresight_->TrainingOf(o.job[row]);
    if (asked.application == nullptr) return times;
    times.application = asked.application;
    times.batch = asked.batch;
    const ConfigurationTable& table = *o.table[row];
    const GpuTypeIndex type = table.types().front();
    const ApplicationOnType& on = *asked.application->On(o.cluster->types()[At(type)]);
    GpuCount node_gpus = 0;
    for (const Node& node : o.cluster->nodes()) {
      if (node.type == type) node_gpus = std::max(node_gpus, node.capacity.gpus);
    }
    const auto most = static_cast<GpuCount>(asked.batch / on.limits.least_local);
    for (GpuCount gpus = 1; gpus <= most; ++gpus) {
      const std::int32_t configuration = table.Find(UnitCounts(gpus), type);
      if (configuration < 0) break;
      BatchChoice choice = SplitFixedBatch(on.limits, gpus, asked.batch);
      if (gpus == 1 && choice.accumulation == 0) choice = Halved(on.limits, asked.batch);
      const StepTime time = on.times.TimeAt(FewestNodes(gpus, node_gpus, Span{}),
                                            static_cast<std::int32_t>(choice.local_batch));
      if (!time.known()) break;
      times.iteration.push_back(time.Iteration(choice.accumulation));
      times.configuration.push_back(configuration);
    }
    return times;
  }

  // It takes a single GPU to need two passes always.
  static BatchChoice Halved(const BatchLimits& limits, double batch) {
    BatchChoice choice;
    choice.accumulation = 1;
    choice.local_batch = static_cast<std::int64_t>(
        std::min(std::ceil(batch / 2 - 1e-8), std::floor(limits.most / 2)));
    return choice;
  }

  PolicyInfo info_;
  std::unique_ptr<Placement> placement_;
  const Foresight* foresight_ = nullptr;
  TypeCapacity capacity_;
  std::map<JobIndex, Times> times_;
  std::vector<Candidate> jobs_;     // by row
  std::vector<std::size_t> order_;  // rows by submission
  std::vector<Grant> grants_;
};

ALLOT_REGISTER(
    PolicyInfo, ([] {
      PolicyInfo info;
      info.id = "optimus-oracle";
      info.summary = "Optimus with true iteration times and counts, of jobs that keep their batch";
      info.source =
          "Peng et al., EuroSys 2018, as Pollux (OSDI 2021, section 5.2) compares with it";
      info.oracle = true;
      info.time_driven = true;
      info.rates = RatesRead::kNone;
      info.make = [info](const Params&) { return std::make_unique<OptimusOracle>(info); };
      return info;
    }()));

}  // namespace
}  // namespace allot
