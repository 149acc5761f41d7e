#include <algorithm>
#include <cmath>
#include <utility>

#include "agents/training/policy_gradient_trainer.h"
#include "agents/training/state_baseline.h"
#include "agents/training/weight_average.h"
#include "core/check.h"
#include "core/error.h"
#include "core/parallel.h"
#include "core/rng.h"
#include "models/adam.h"
#include "models/torch/index_module.h"

namespace allot {
namespace {

// Everything of one workload's rollouts, its gradient included.
struct WorkloadResult {
  std::string world;
  std::vector<Rollout> rollouts;
  std::vector<std::vector<double>> advantages;
  double scale = 1;  // 1 / |teacher's total|
  double ratio = 0;
};

// All values, tensor after tensor by name.
std::vector<double> Flat(const TensorMap& tensors) {
  std::vector<double> values;
  for (const auto& [name, tensor] : tensors) {
    values.insert(values.end(), tensor.data.begin(), tensor.data.end());
  }
  return values;
}

void AddFlat(const std::vector<double>& values, TensorMap* sum) {
  std::size_t at = 0;
  for (auto& [name, tensor] : *sum) {
    for (float& value : tensor.data) value += static_cast<float>(values[at++]);
  }
}

}  // namespace

struct PolicyGradientTrainer::Impl {
  PolicyGradientOptions own;
  TrainerOptions options;
  EpisodeSource episodes;
  TrainerState state;
  NetWeights last;  // that training continues from

  Impl(PolicyGradientOptions p, TrainerOptions o, EpisodeSource e, TrainerState s)
      : own(std::move(p)),
        options(std::move(o)),
        episodes(std::move(e)),
        state(std::move(s)),
        last(LastWeights(state)) {}

  // Of this process's share of the iteration's workloads; the others stay empty.
  std::vector<WorkloadResult> Collect() {
    const auto workloads = static_cast<std::size_t>(options.workloads);
    const auto per_workload = static_cast<std::size_t>(own.rollouts);
    const auto iteration = static_cast<std::uint64_t>(state.iteration);
    const std::vector<std::size_t> share = ShareOf(*options.team, workloads);
    std::vector<std::shared_ptr<const Scenario>> scenarios(workloads);
    std::vector<EpisodeWorld> worlds(workloads);
    std::vector<double> teacher(workloads);
    std::vector<WorkloadResult> results(workloads);
    ParallelFor(share.size(), options.threads, [&](std::size_t i) {
      const std::size_t w = share[i];
      const std::uint64_t seed = Rng(options.seed, "training-episode", iteration, w).NextU64();
      scenarios[w] = episodes(seed);
      worlds[w] = options.WorldOf(seed);
      teacher[w] = EpisodeReward(scenarios[w], *worlds[w].teacher(), own.rollout);
      results[w].world = worlds[w].name;
      results[w].rollouts.resize(per_workload);
    });
    ParallelFor(share.size() * per_workload, options.threads, [&](std::size_t i) {
      const std::size_t w = share[i / per_workload];
      const std::size_t k = i % per_workload;
      results[w].rollouts[k] = RunRollout(scenarios[w], last, own.rollout, options.seed, iteration,
                                          w * per_workload + k, worlds[w].name);
    });
    for (const std::size_t w : share) {
      WorkloadResult& result = results[w];
      const double discount =
          std::pow(0.5, scenarios[w]->options().interval / own.discount_half_life);
      std::vector<std::vector<double>> returns;
      for (const Rollout& rollout : result.rollouts) {
        returns.push_back(ReturnsFrom(rollout.reward_of_tick, discount));
        result.ratio += rollout.total_reward / teacher[w] / static_cast<double>(per_workload);
      }
      result.advantages = own.rollout.backlogs ? StateAdvantages(returns, BacklogsOf(result))
                                               : LeaveOneOutAdvantages(returns);
      result.scale = 1.0 / std::max(1e-9, std::abs(teacher[w]));
      if (own.each_workload) {
        const Sums sums = SumsOf(result);
        result.scale /= std::max(1e-12, std::sqrt(sums.squares / std::max(1.0, sums.decisions)));
      }
    }
    return results;
  }

  static std::vector<std::vector<Backlog>> BacklogsOf(const WorkloadResult& result) {
    std::vector<std::vector<Backlog>> backlogs;
    for (const Rollout& rollout : result.rollouts) backlogs.push_back(rollout.backlog_of_tick);
    return backlogs;
  }

  // Of the scaled advantages over all kept decisions.
  struct Sums {
    double squares = 0;
    double decisions = 0;
  };
  static Sums SumsOf(const WorkloadResult& result) {
    Sums sums;
    for (std::size_t k = 0; k < result.rollouts.size(); ++k) {
      for (const std::int32_t tick : result.rollouts[k].tick_of_decision) {
        const double a = result.advantages[k][static_cast<std::size_t>(tick)] * result.scale;
        sums.squares += a * a;
        ++sums.decisions;
      }
    }
    return sums;
  }

  // In the layout of the weights: a world's own part is a term of the sum that the net is
  // (NetworkInfo::in_world), so that its gradient is the net's.
  TensorMap GradientOf(const WorkloadResult& result, double unit) const {
    std::vector<float> jobs;
    std::vector<float> contexts;
    std::vector<std::int64_t> decision_of_job;
    std::vector<float> coefficients;
    std::int64_t offset = 0;
    for (std::size_t k = 0; k < result.rollouts.size(); ++k) {
      const Rollout& rollout = result.rollouts[k];
      jobs.insert(jobs.end(), rollout.jobs.begin(), rollout.jobs.end());
      contexts.insert(contexts.end(), rollout.contexts.begin(), rollout.contexts.end());
      for (std::size_t row = 0; row < rollout.decision_of_job.size(); ++row) {
        const std::int64_t decision = rollout.decision_of_job[row];
        const std::int32_t tick = rollout.tick_of_decision[static_cast<std::size_t>(decision)];
        const double advantage =
            result.advantages[k][static_cast<std::size_t>(tick)] * result.scale * unit;
        decision_of_job.push_back(decision + offset);
        for (std::size_t output = 0; output < kOutputs; ++output) {
          coefficients.push_back(
              static_cast<float>(advantage * rollout.score_gradient[row * kOutputs + output]));
        }
      }
      offset += static_cast<std::int64_t>(rollout.tick_of_decision.size());
    }
    const IndexModule net{IndexNetWeights(WeightsIn(last, result.world))};
    const Gradient gradient =
        net.ComputeGradient({jobs, contexts, decision_of_job}, LinearSurrogate(coefficients));
    TensorMap whole = ZerosLike(last.tensors);
    for (const auto& [name, tensor] : gradient.tensors) {
      whole.at(name) = tensor;
      const auto own_part = whole.find(OwnTensor(name, result.world));
      if (own_part != whole.end()) own_part->second = tensor;
    }
    return whole;
  }

  static constexpr std::size_t kOutputs = 3;
};

bool NeedsBacklogs(const std::string& baseline) {
  if (baseline == "state") return true;
  if (baseline == "arrivals") return false;
  throw UsageError("baseline must be state or arrivals, got '{}'", baseline);
}

Exploration ExplorationOf(const std::string& text, const NetWeights& weights) {
  if (text.empty()) return weights.kind == kIndexKind ? Exploration::kFill : Exploration::kValues;
  if (text == "fill") return Exploration::kFill;
  if (text == "values") return Exploration::kValues;
  throw UsageError("exploration must be fill or values, got '{}'", text);
}

PolicyGradientTrainer::PolicyGradientTrainer(PolicyGradientOptions own, TrainerOptions options,
                                             EpisodeSource episodes, TrainerState state) {
  const int least = own.rollout.backlogs ? 3 : 2;
  if (own.rollouts < least) {
    throw UsageError("baseline={} needs rollouts >= {}, got {}",
                     own.rollout.backlogs ? "state" : "arrivals", least, own.rollouts);
  }
  CheckAverageBegun(state, own.average);
  own.rollout.max_decisions = options.max_decisions;
  own.rollout.lengths = options.lengths;
  impl_ = std::make_unique<Impl>(std::move(own), std::move(options), std::move(episodes),
                                 std::move(state));
}

PolicyGradientTrainer::~PolicyGradientTrainer() = default;

const TrainerState& PolicyGradientTrainer::state() const { return impl_->state; }

IterationReport PolicyGradientTrainer::Step() {
  Impl& m = *impl_;
  const auto workloads = static_cast<std::size_t>(m.options.workloads);
  const std::vector<WorkloadResult> results = m.Collect();
  double ratio = 0;
  Impl::Sums all;
  for (const std::vector<double>& of_one :
       ComputeShared(*m.options.team, workloads, m.options.threads, [&](std::size_t w) {
         const Impl::Sums sums = Impl::SumsOf(results[w]);
         return std::vector<double>{results[w].ratio, sums.squares, sums.decisions};
       })) {
    ratio += of_one[0] / static_cast<double>(workloads);
    all.squares += of_one[1];
    all.decisions += of_one[2];
  }
  const double decisions = std::max(1.0, all.decisions);
  const double rms = std::sqrt(all.squares / decisions);
  const double unit = 1.0 / (std::max(rms, 1e-12) * decisions);

  // One gradient per workload, summed in their order: the same bytes on any number of threads and
  // processes.
  TensorMap total = ZerosLike(m.state.weights.tensors);
  for (const std::vector<double>& gradient :
       ComputeShared(*m.options.team, workloads, m.options.threads,
                     [&](std::size_t w) { return Flat(m.GradientOf(results[w], unit)); })) {
    AddFlat(gradient, &total);
  }

  IterationReport report;
  report.learning_rate = LearningRateAt(m.state.iteration, m.options.iterations,
                                        m.own.learning_rate, m.own.final_learning_rate);
  report.gradient_norm = AdamStep(total, report.learning_rate, {.max_gradient_norm = 1.0},
                                  &m.last.tensors, &m.state.adam);
  report.signal = rms;
  report.ratio_to_teacher = ratio;
  AverageWeights(m.last, m.own.average, &m.state);
  m.state.episodes += m.options.workloads * m.own.rollouts;
  report.iteration = ++m.state.iteration;
  report.episodes = m.state.episodes;
  return report;
}

namespace {

ALLOT_REGISTER(
    TrainerInfo,
    (TrainerInfo{
        "policy-gradient",
        "REINFORCE on sampled allocations; rollouts with equal arrivals are the baseline",
        {"index", "numbers"},
        {{"rollouts", "8",
          "rollouts of each workload (equal arrivals), at least 3; baseline=arrivals: 2", 1, 10000},
         {"exploration", "",
          "what is drawn: fill (the order of the hull fill, networks index) or values (normal "
          "noise "
          "on each job's numbers); empty: fill where it can be"},
         {"tau", "0.1", "temperature of exploration; values: standard deviation of the noise on u",
          1e-6, 100},
         {"noise-interval", "12", "intervals for which the exploration noise stays the same", 1,
          1e6},
         {"scale-per-workload", "true",
          "divide advantages by their root mean square in each workload, not in all"},
         {"sample-share", "1", "share of decisions that enter the gradient", 1e-6, 1},
         {"reward", "jct", "see 'allot list rewards'"},
         {"baseline", "state",
          "arrivals: mean of the other rollouts; state: that, and a fit on the backlog"},
         {"average-decay", "0.9",
          "decay per iteration of the moving average of the weights (0: none)", 0, 0.9999},
         {"half-life", "1e18", "seconds after which a reward counts half", 1, 1e300},
         {"learning-rate", "0.001", "of Adam, in the first iteration", 1e-9, 10},
         {"final-learning-rate", "0.0001", "of Adam, in the last iteration", 1e-9, 10}},
        [](const Params& params, TrainerOptions options, EpisodeSource episodes,
           TrainerState state) -> std::unique_ptr<Trainer> {
          PolicyGradientOptions own;
          own.rollouts = params.Integer("rollouts");
          own.rollout.exploration = ExplorationOf(params.Text("exploration"), state.weights);
          own.rollout.tau = params.Number("tau");
          own.rollout.noise_interval = params.Integer("noise-interval");
          own.each_workload = params.Flag("scale-per-workload");
          own.rollout.keep = params.Number("sample-share");
          own.rollout.backlogs = NeedsBacklogs(params.Text("baseline"));
          own.average = params.Number("average-decay");
          own.rollout.reward = params.Text("reward");
          own.discount_half_life = params.Number("half-life");
          own.learning_rate = params.Number("learning-rate");
          own.final_learning_rate = params.Number("final-learning-rate");
          return std::make_unique<PolicyGradientTrainer>(std::move(own), std::move(options),
                                                         std::move(episodes), std::move(state));
        },
        true}));

}  // namespace
}  // namespace allot
