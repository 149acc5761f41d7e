// Gavel as Sia is compared with (Jayaram Subramanya et al., SOSP'23, section 4 and artifact): jobs
// keep the GPUs and the batch that their users asked for, and the scheduler knows their true
// iteration times. Time shares maximise the sum of iterations per second (Narayanan et al.,
// OSDI'20, section 4.2: max-sum-throughput, not normalised), in rounds of an interval. Jobs that
// train no application count with their rates.

#include <memory>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/index.h"
#include "perf/application.h"
#include "perf/configuration_key.h"
#include "perf/fixed_batch.h"
#include "sched/foresight.h"
#include "stages/rounds/share_rows.h"
#include "stages/rounds/shared_policy.h"

namespace allot {
namespace {

class IterationSum : public Sharing {
 public:
  void OnEpisodeStart(const EpisodeContext& context) override { foresight_ = context.foresight; }

  void Share(const Observation& o, std::span<const std::int32_t> rows,
             std::vector<TimeShare>* shares) override {
    if (rows.empty()) return;
    if (foresight_ == nullptr) {
      throw UsageError(
          "policy 'gavel-oracle' knows the future of simulated episodes, this one has none");
    }
    const ShareRows read = ReadShareRows(o, rows);
    const ShareProblem& problem = read.problem;
    std::vector<double> gain = problem.rate;
    for (std::size_t i = 0; i < read.jobs(); ++i) {
      const RequestedTraining asked = foresight_->TrainingOf(o.job[At(read.row[i])]);
      if (asked.application == nullptr) continue;
      for (std::size_t t = 0; t < problem.types(); ++t) {
        double& of = gain[i * problem.types() + t];
        if (of > 0) of = IterationsPerSecond(o, asked, problem.gpus[i], t);
      }
    }
    AppendShares(read, MaxSumShares(problem, gain).of, shares);
  }
  bool reads_lengths() const override { return false; }

 private:
  static double IterationsPerSecond(const Observation& o, const RequestedTraining& asked,
                                    double gpus, std::size_t type) {
    constexpr double kNotMeasured = 0.1;  // as in the artifact
    const ApplicationOnType* on = asked.application->On(o.cluster->types()[type]);
    if (on == nullptr) return 0;
    GpuCount node_gpus = 0;
    for (const Node& node : o.cluster->nodes()) {
      if (At(node.type) == type) node_gpus = std::max(node_gpus, node.capacity.gpus);
    }
    const auto whole = static_cast<GpuCount>(gpus);
    const ProfiledTimes::Place place =
        on->times.PlaceOf(CanonicalPlacement(FewestNodes(whole, node_gpus, {1, Span::kAny})));
    const BatchChoice choice = FixedBatchOn(*on, place, asked.batch);
    const StepTime time = StepTimeOn(*on, place, choice.local_batch);
    return time.known() ? 1 / time.Iteration(choice.accumulation) : kNotMeasured;
  }

  const Foresight* foresight_ = nullptr;
};

class GavelOracle : public Policy {
 public:
  GavelOracle(const PolicyInfo& info, const Params& params)
      : info_(info), shared_(MakeSharedPolicy(info, params, std::make_unique<IterationSum>())) {}

  const PolicyInfo& info() const override { return info_; }
  void OnEpisodeStart(const EpisodeContext& context) override { shared_->OnEpisodeStart(context); }
  void Decide(const Observation& o, Allocation* allocation) override {
    shared_->Decide(o, allocation);
    allocation->KeepRequestedBatches();
  }

 private:
  PolicyInfo info_;
  std::unique_ptr<Policy> shared_;
};

ALLOT_REGISTER(
    PolicyInfo, ([] {
      PolicyInfo info = SharedPolicyInfo(
          "gavel-oracle", "Gavel with true iteration times, of jobs that keep their GPUs and batch",
          {});
      info.source = "Narayanan et al., OSDI 2020, section 4.2, as Sia (SOSP 2023) compares with it";
      std::erase_if(info.params, [](const ParamSpec& p) { return p.name == "sharing"; });
      info.oracle = true;
      info.time_driven = true;
      info.make = [info](const Params& params) -> std::unique_ptr<Policy> {
        return std::make_unique<GavelOracle>(info, params);
      };
      return info;
    }()));

}  // namespace
}  // namespace allot
