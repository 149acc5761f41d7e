#include <algorithm>
#include <cmath>
#include <numeric>

#include "agents/learned/agent.h"
#include "agents/training/decision_rows.h"
#include "agents/training/imitation.h"
#include "core/error.h"
#include "core/index.h"
#include "core/interrupt.h"
#include "core/rng.h"
#include "models/torch/index_trainer.h"
#include "sched/driver.h"
#include "sim/run.h"

namespace allot {
namespace {

// True when some job would take more than is left: only then does the log show a preference.
bool Contended(const Observation& o, const std::vector<std::int32_t>& configurations) {
  double used = 0;
  double wanted = 0;
  for (std::size_t r = 0; r < configurations.size(); ++r) {
    if (configurations[r] >= 0) used += (*o.table[r])[configurations[r]].demand.gpus;
    wanted += o.table[r]->max_hull_cost();
  }
  const double gpus = o.cluster->total().gpus;
  return used >= 0.95 * gpus && wanted > gpus;
}

class PartListener : public DecisionListener {
 public:
  explicit PartListener(const Part& part) : part_(part) {}

  void OnDecision(const Observation& o, const Allocation& allocation) final {
    OnSeen(o);
    if (!part_.Holds(seen_++) || o.job.empty()) return;
    ConfigurationsByRow(o, allocation, &configurations_);
    if (Contended(o, configurations_)) OnContended(o, configurations_);
  }

 protected:
  virtual void OnSeen(const Observation& o) = 0;  // every decision
  virtual void OnContended(const Observation& o,
                           const std::vector<std::int32_t>& configurations) = 0;

 private:
  Part part_;
  std::int64_t seen_ = 0;
  std::vector<std::int32_t> configurations_;
};

class DataBuilder : public PartListener {
 public:
  DataBuilder(const NetWeights& network, const Part& part, int stride, ImitationData* data)
      : PartListener(part),
        stride_(stride),
        data_(data),
        policy_(MakeNumbersPolicy({network, {}})) {
    if (data_->first_row.empty()) data_->first_row.push_back(0);
  }

 protected:
  void OnSeen(const Observation& o) override { policy_->Observe(o); }
  void OnContended(const Observation& o, const std::vector<std::int32_t>& configurations) override {
    if (contended_++ % stride_ != 0) return;
    const FeatureBatch& features = policy_->Look(o);
    data_->jobs.insert(data_->jobs.end(), features.jobs.begin(), features.jobs.end());
    data_->contexts.insert(data_->contexts.end(), features.context.begin(), features.context.end());
    for (std::int32_t row = 0; row < o.rows(); ++row) {
      MarginStep taken;
      MarginStep untaken;
      policy_->Margin(o, row, configurations[At(row)], &taken, &untaken);
      data_->taken.push_back(taken);
      data_->untaken.push_back(untaken);
      data_->decision_of_job.push_back(data_->decisions());
    }
    data_->first_row.push_back(static_cast<std::int64_t>(data_->taken.size()));
  }

 private:
  int stride_;
  ImitationData* data_;
  std::int64_t contended_ = 0;
  std::unique_ptr<NumbersPolicy> policy_;
};

class AgreementListener : public PartListener {
 public:
  AgreementListener(const Part& part, const NetWeights& weights)
      : PartListener(part), policy_(MakeLearnedPolicy({weights, {}})) {}
  const AgreedGpus& sum() const { return sum_; }

 protected:
  void OnSeen(const Observation& o) override { policy_->Observe(o); }
  void OnContended(const Observation& o, const std::vector<std::int32_t>& configurations) override {
    policy_->Decide(o, &own_);
    ConfigurationsByRow(o, own_, &own_configurations_);
    for (std::size_t r = 0; r < configurations.size(); ++r) {
      if (configurations[r] < 0) continue;
      const double logged = (*o.table[r])[configurations[r]].cost;
      sum_.logged += logged;
      if (own_configurations_[r] >= 0) {
        sum_.same += std::min(logged, (*o.table[r])[own_configurations_[r]].cost);
      }
    }
  }

 private:
  std::unique_ptr<LearnedPolicy> policy_;
  Allocation own_;
  std::vector<std::int32_t> own_configurations_;
  AgreedGpus sum_;
};

constexpr std::size_t kOutputs = kIndexOutputs;

double Key(const MarginStep& step, const float* out) {
  return out[0] + step.log_gain - out[1] * step.log_mid + step.kappa_sign * out[2];
}

void AddKeyGradient(const MarginStep& step, double g, float* gradient) {
  gradient[0] += static_cast<float>(g);
  gradient[1] -= static_cast<float>(g * step.log_mid);
  gradient[2] += static_cast<float>(g * step.kappa_sign);
}

// Loss of one decision's rows, averaged over its taken steps; adds weight x its gradient.
double DecisionLoss(std::span<const MarginStep> taken, std::span<const MarginStep> untaken,
                    const float* out, double tau, double weight, float* gradient) {
  double largest = -1e300;
  std::size_t count = 0;
  for (std::size_t i = 0; i < taken.size(); ++i) {
    if (taken[i].present) {
      largest = std::max(largest, Key(taken[i], out + i * kOutputs));
      ++count;
    }
    if (untaken[i].present) largest = std::max(largest, Key(untaken[i], out + i * kOutputs));
  }
  double losers = 0;
  for (std::size_t i = 0; i < untaken.size(); ++i) {
    if (untaken[i].present)
      losers += std::exp((Key(untaken[i], out + i * kOutputs) - largest) / tau);
  }
  if (count == 0 || losers == 0) return 0;
  const double share = weight / static_cast<double>(count);
  double loss = 0;
  double pressure = 0;  // sum over taken of 1 / (winner + losers)
  for (std::size_t i = 0; i < taken.size(); ++i) {
    if (!taken[i].present) continue;
    const double winner = std::exp((Key(taken[i], out + i * kOutputs) - largest) / tau);
    const double total = winner + losers;
    loss += (std::log(total) - std::log(std::max(winner, 1e-300))) / static_cast<double>(count);
    pressure += 1.0 / total;
    AddKeyGradient(taken[i], -share * losers / total / tau, gradient + i * kOutputs);
  }
  for (std::size_t i = 0; i < untaken.size(); ++i) {
    if (!untaken[i].present) continue;
    const double loser = std::exp((Key(untaken[i], out + i * kOutputs) - largest) / tau);
    AddKeyGradient(untaken[i], share * loser * pressure / tau, gradient + i * kOutputs);
  }
  return loss;
}

// A minibatch of decisions, gathered.
struct Gathered {
  std::vector<float> jobs;
  std::vector<float> contexts;
  std::vector<std::int64_t> decision_of_job;
  std::vector<MarginStep> taken;
  std::vector<MarginStep> untaken;
  std::vector<std::size_t> first_row{0};

  Gathered(const ImitationData& data, const IndexNetShape& shape,
           std::span<const std::int64_t> decisions) {
    const std::ptrdiff_t inputs = shape.job_features;
    const std::ptrdiff_t of_moment = shape.context_features;
    for (const std::int64_t d : decisions) {
      const auto begin = static_cast<std::ptrdiff_t>(data.first_row[static_cast<std::size_t>(d)]);
      const auto end = static_cast<std::ptrdiff_t>(data.first_row[static_cast<std::size_t>(d) + 1]);
      jobs.insert(jobs.end(), data.jobs.begin() + begin * inputs, data.jobs.begin() + end * inputs);
      contexts.insert(contexts.end(), data.contexts.begin() + d * of_moment,
                      data.contexts.begin() + (d + 1) * of_moment);
      taken.insert(taken.end(), data.taken.begin() + begin, data.taken.begin() + end);
      untaken.insert(untaken.end(), data.untaken.begin() + begin, data.untaken.begin() + end);
      decision_of_job.insert(decision_of_job.end(), static_cast<std::size_t>(end - begin),
                             static_cast<std::int64_t>(first_row.size()) - 1);
      first_row.push_back(taken.size());
    }
  }

  double Loss(std::span<const float> out, double tau, std::span<float> gradient) const {
    const std::size_t decisions = first_row.size() - 1;
    double loss = 0;
    for (std::size_t d = 0; d < decisions; ++d) {
      const std::size_t begin = first_row[d];
      const std::size_t rows = first_row[d + 1] - begin;
      loss +=
          DecisionLoss(std::span(taken).subspan(begin, rows),
                       std::span(untaken).subspan(begin, rows), out.data() + begin * kOutputs, tau,
                       1.0 / static_cast<double>(decisions), gradient.data() + begin * kOutputs);
    }
    return loss / static_cast<double>(decisions);
  }
};

std::vector<std::int64_t> Shuffled(std::int64_t count, Rng rng) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.Below(i)]);
  return order;
}

}  // namespace

bool Part::Holds(std::int64_t decision) const {
  constexpr std::int64_t kBlock = 48;
  if (hold_out_share <= 0) return !held_out;
  const auto blocks = std::max<std::int64_t>(2, std::llround(1.0 / hold_out_share));
  const bool last = (decision / kBlock) % blocks == blocks - 1;
  return last == held_out;
}

void AppendImitationData(const Playback& play, const NetWeights& network, const Part& part,
                         int stride, ImitationData* data) {
  DataBuilder builder(network, part, stride, data);
  play(&builder);
}

void AppendImitationData(const Scenario& scenario, const DecisionLog& log,
                         const NetWeights& network, const Part& part, int stride,
                         ImitationData* data) {
  AppendImitationData(InSimulator(scenario, log), network, part, stride, data);
}

AgreedGpus Agreement(const Playback& play, const Part& part, const NetWeights& weights) {
  AgreementListener listener(part, weights);
  play(&listener);
  return listener.sum();
}

AgreedGpus Agreement(const Scenario& scenario, const DecisionLog& log, const Part& part,
                     const NetWeights& weights) {
  return Agreement(InSimulator(scenario, log), part, weights);
}

IndexNetWeights Imitate(const ImitationData& data, const ImitationData& held_out,
                        const ImitationOptions& options, const IndexNetWeights& start,
                        const std::function<void(const ImitationReport&)>& on_epoch) {
  if (data.first_row.size() < 2) {
    throw DataError("the log holds no contended decision to learn from (needs demand > GPUs)");
  }
  IndexTrainer trainer(start, AdamOptions{.max_gradient_norm = 5.0});
  const auto batch = static_cast<std::size_t>(options.batch_decisions);
  for (int epoch = 0; epoch < options.epochs; ++epoch) {
    const double done =
        options.epochs > 1 ? static_cast<double>(epoch) / (options.epochs - 1) : 1.0;
    const double rate =
        options.learning_rate * std::pow(options.final_learning_rate / options.learning_rate, done);
    const auto order = Shuffled(
        data.decisions(), Rng(options.seed, "imitation-order", static_cast<std::uint64_t>(epoch)));
    ImitationReport report;
    report.epoch = epoch + 1;
    for (std::size_t begin = 0; begin < order.size(); begin += batch) {
      ThrowIfInterrupted();
      const std::size_t size = std::min(batch, order.size() - begin);
      const Gathered gathered(data, start.shape, std::span(order).subspan(begin, size));
      const Gradient gradient =
          trainer.ComputeGradient({gathered.jobs, gathered.contexts, gathered.decision_of_job},
                                  [&](std::span<const float> out, std::span<float> g) {
                                    return gathered.Loss(out, options.tau, g);
                                  });
      trainer.Step(gradient.tensors, rate);
      report.loss += gradient.loss * static_cast<double>(size) / static_cast<double>(order.size());
    }
    if (held_out.first_row.size() > 1) {
      const auto all = Shuffled(held_out.decisions(), Rng(options.seed, "held-out-order"));
      const Gathered gathered(held_out, start.shape, all);
      std::vector<float> out(gathered.taken.size() * kOutputs);
      std::vector<float> unused(out.size());
      out = IndexModule(trainer.weights())
                .Forward({gathered.jobs, gathered.contexts, gathered.decision_of_job});
      report.held_out_loss = gathered.Loss(out, options.tau, unused);
    }
    report.weights = trainer.weights();
    on_epoch(report);
  }
  return trainer.weights();
}

}  // namespace allot
