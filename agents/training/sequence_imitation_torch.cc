#include <algorithm>
#include <cmath>
#include <utility>

#include "agents/training/decision_rows.h"
#include "agents/training/sequence_imitation.h"
#include "agents/training/sequence_learner.h"
#include "core/error.h"
#include "core/index.h"
#include "core/interrupt.h"
#include "core/parallel.h"
#include "sched/incremental.h"
#include "sim/ruled_simulation.h"
#include "sim/run.h"

namespace allot {
namespace {

// Whether the action stays within what the teacher gave.
bool LeadsThere(const SequenceDecision& choice, int action,
                const std::vector<std::int32_t>& taught) {
  const std::int32_t row = choice.state().row_of(action / SequenceAction::kKinds);
  if (taught[At(row)] < 0) return false;
  const ConfigurationTable& table = *choice.observation().table[At(row)];
  const Configuration& to = table[choice.state().target(action)];
  const Configuration& goal = table[taught[At(row)]];
  return to.gpu_type == goal.gpu_type && to.units.FitsIn(goal.units);
}

// Calls `seen` at every decision of the episode, with the teacher's answer; applies what it leaves
// in `applied`.
template <typename Seen>
void PlayLesson(const Lesson& lesson, const Seen& seen) {
  constexpr std::int64_t kMostDecisions = 4000;
  RuledSimulation simulation(*lesson.scenario);
  ClusterPort& cluster = simulation.port();
  const std::unique_ptr<Policy> teacher = lesson.teacher();
  EpisodeContext context = ContextOf(*lesson.scenario);
  context.seed = 0;
  teacher->OnEpisodeStart(context);
  Allocation applied;
  RunningUnder running;
  for (std::int64_t decision = 0; decision < kMostDecisions; ++decision) {
    const Observation& o = cluster.Observe();
    teacher->Decide(o, &applied);
    Seconds holds = 0;
    if (lesson.must_follow) holds = HoldsUntil(*teacher, o, running.Of(o, applied));
    seen(o, &applied);
    const ApplyReport report = cluster.Apply(applied);
    if (!report.refused.ok()) throw RunError("at {} s: {}", o.now, report.refused.message());
    ThrowIfInterrupted();
    if (!cluster.WaitForChange(holds)) return;
  }
}

// The correct actions of a choice, if the teacher says anything about it.
bool Label(const SequenceDecision& choice, const std::vector<std::int32_t>& taught,
           double smoothing, std::vector<int>* right, std::vector<float>* labels) {
  const std::vector<std::uint8_t>& mask = choice.mask();
  right->clear();
  double legal = 0;
  for (std::size_t a = 0; a < mask.size(); ++a) {
    if (mask[a] == 0) continue;
    ++legal;
    if (a + 1 < mask.size() && LeadsThere(choice, static_cast<int>(a), taught)) {
      right->push_back(static_cast<int>(a));
    }
  }
  if (right->empty()) {
    if (mask.back() == 0) return false;  // the teacher stops where the network must not
    right->push_back(static_cast<int>(mask.size()) - 1);
  }
  labels->assign(mask.size(), 0.0F);
  for (std::size_t a = 0; a < mask.size(); ++a) {
    if (mask[a] != 0) (*labels)[a] = static_cast<float>(smoothing / legal);
  }
  for (const int a : *right) {
    (*labels)[At(a)] += static_cast<float>((1 - smoothing) / static_cast<double>(right->size()));
  }
  return true;
}

double CrossEntropy(std::span<const float> logits, std::span<const std::uint8_t> mask,
                    std::span<const float> labels, double entropy, std::span<float> gradient) {
  std::vector<double> chances;
  MaskedSoftmax(logits, mask, &chances);
  double loss = 0;
  double h = 0;
  for (const double p : chances) h -= p > 0 ? p * std::log(p) : 0;
  for (std::size_t a = 0; a < chances.size(); ++a) {
    const double p = chances[a];
    if (p <= 0) continue;
    loss -= labels[a] * std::log(p);
    gradient[a] = static_cast<float>(p - labels[a] + entropy * p * (std::log(p) + h));
  }
  return loss - entropy * h;
}

}  // namespace

void Teach(const Lesson& lesson, const Agent& student, bool student_rolls_in, double smoothing,
           Rng rng, TaughtSamples* taught) {
  SequenceDecision decision(student, MakeSequenceNet(student.weights));
  decision.OnEpisodeStart();
  Explorer explorer({.share = 0});
  std::vector<std::int32_t> goal;
  std::vector<int> right;
  std::vector<float> labels;
  Allocation own;
  PlayLesson(lesson, [&](const Observation& o, Allocation* applied) {
    ConfigurationsByRow(o, *applied, &goal);
    decision.Play(
        o,
        [&](const SequenceDecision& choice) {
          if (!Label(choice, goal, smoothing, &right, &labels)) {
            return choice.state().done_action();
          }
          const DrawnAction drawn = student_rolls_in
                                        ? explorer.Draw(choice, &rng)
                                        : DrawnAction{right[rng.Below(right.size())], 0};
          taught->samples.Append(choice, drawn, 0, false);
          taught->labels.insert(taught->labels.end(), labels.begin(), labels.end());
          return drawn.action;
        },
        &own);
    if (student_rolls_in && !lesson.must_follow) *applied = own;
  });
}

NetWeights ImitateIncrements(const std::vector<Lesson>& lessons,
                             const SequenceImitationOptions& options, const NetWeights& start,
                             const std::function<void(const SequenceImitationReport&)>& on_epoch) {
  SequenceLearner learner(start, {}, {.max_gradient_norm = 5}, options.threads);
  TaughtSamples all;
  const int epochs = options.epochs * options.passes;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    if (epoch % options.epochs == 0) {
      const auto pass = static_cast<std::uint64_t>(epoch / options.epochs);
      const Agent student{learner.weights(), options.lengths};
      std::vector<TaughtSamples> taught(lessons.size());
      ParallelFor(lessons.size(), options.threads, [&](std::size_t i) {
        Teach(lessons[i], student, pass > 0, options.smoothing,
              Rng(options.seed, "lesson", pass, i), &taught[i]);
      });
      for (const TaughtSamples& one : taught) {
        all.samples.Append(one.samples, EveryIndex(one.samples.size()));
        all.labels.insert(all.labels.end(), one.labels.begin(), one.labels.end());
      }
      if (all.samples.size() == 0) throw DataError("the teacher left no choice to learn from");
    }
    const double rate =
        LearningRateAt(epoch, epochs, options.learning_rate, options.final_learning_rate);
    const auto order = ShuffledIndices(all.samples.size(), Rng(options.seed, "imitation-order",
                                                               static_cast<std::uint64_t>(epoch)));
    std::vector<double> losses(all.samples.size());
    const auto size = static_cast<std::size_t>(options.minibatch);
    for (std::size_t begin = 0; begin < order.size(); begin += size) {
      ThrowIfInterrupted();
      const auto part = std::span(order).subspan(begin, std::min(size, order.size() - begin));
      learner.Step(
          all.samples, part,
          [&](std::size_t i, std::span<const float> logits, std::span<float> gradient) {
            const auto first = static_cast<std::size_t>(all.samples.first_action[i]);
            return losses[i] = CrossEntropy(logits, all.samples.mask_of(i),
                                            std::span(all.labels).subspan(first, logits.size()),
                                            options.entropy, gradient);
          },
          rate);
    }
    SequenceImitationReport report;
    report.epoch = epoch + 1;
    for (const double loss : losses) report.loss += loss / static_cast<double>(losses.size());
    report.weights = learner.weights();
    on_epoch(report);
  }
  return learner.weights();
}

double IncrementAgreement(const std::vector<Lesson>& lessons, const Agent& student, int threads) {
  std::vector<double> same(lessons.size(), 0.0);
  std::vector<double> given(lessons.size(), 0.0);
  ParallelFor(lessons.size(), threads, [&](std::size_t i) {
    const auto policy = MakeLearnedPolicy(student);
    policy->OnEpisodeStart({.seed = 0, .cluster = &lessons[i].scenario->cluster()});
    Allocation own;
    std::vector<std::int32_t> taught;
    std::vector<std::int32_t> chosen;
    PlayLesson(lessons[i], [&](const Observation& o, Allocation* applied) {
      policy->Decide(o, &own);
      ConfigurationsByRow(o, *applied, &taught);
      ConfigurationsByRow(o, own, &chosen);
      for (std::size_t r = 0; r < taught.size(); ++r) {
        if (taught[r] < 0) continue;
        const double cost = (*o.table[r])[taught[r]].cost;
        given[i] += cost;
        if (chosen[r] >= 0) same[i] += std::min(cost, (*o.table[r])[chosen[r]].cost);
      }
    });
  });
  double sum = 0;
  double total = 0;
  for (std::size_t i = 0; i < lessons.size(); ++i) {
    sum += same[i];
    total += given[i];
  }
  return sum / total;
}

}  // namespace allot
