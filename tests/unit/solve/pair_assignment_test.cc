#include "solve/pair_assignment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/index.h"
#include "core/rng.h"

namespace allot::pair_assignment_test {
namespace {

struct Instance {
  std::vector<std::int32_t> capacity;
  std::vector<std::int32_t> gpus;
  std::vector<double> values;
  std::size_t by_order = 0;
  std::vector<std::int32_t> on;
  std::vector<std::int32_t> partner;
  std::vector<double> stay;
  std::vector<std::int32_t> kind;
  std::size_t kinds = 0;
  std::vector<double> beside;

  std::size_t jobs() const { return gpus.size(); }
  std::size_t types() const { return capacity.size(); }
  PairAssignmentProblem problem() const {
    return {{capacity, gpus, values, by_order}, on, partner, stay, kind, kinds, beside};
  }
  double share(std::size_t job, std::size_t other, std::size_t type) const {
    return beside[(At(kind[job]) * kinds + At(kind[other])) * types() + type];
  }
  double worth(std::size_t job, std::size_t type) const {
    const double value = values[job * types() + type];
    return on[job] == static_cast<std::int32_t>(type) ? value / stay[job] : value;
  }
  double alone(std::size_t job, std::size_t type) const {
    return partner[job] < 0 ? values[job * types() + type] : worth(job, type);
  }
  // 0: they cannot share.
  double together(std::size_t a, std::size_t b, std::size_t type) const {
    double of_a = worth(a, type) * share(a, b, type);
    double of_b = worth(b, type) * share(b, a, type);
    if (gpus[a] != gpus[b] || !(of_a > 0) || !(of_b > 0)) return 0;
    if (partner[a] == static_cast<std::int32_t>(b) && on[a] == static_cast<std::int32_t>(type)) {
      of_a *= stay[a];
      of_b *= stay[b];
    }
    return of_a + of_b;
  }
};

Instance Draw(Rng* rng, std::size_t jobs, std::size_t types, const std::vector<int>& sizes) {
  Instance drawn;
  drawn.kinds = 4;
  for (std::size_t type = 0; type < types; ++type) {
    drawn.capacity.push_back(static_cast<std::int32_t>(rng->Below(3)) * sizes.back());
  }
  for (std::size_t job = 0; job < jobs; ++job) {
    drawn.gpus.push_back(sizes[rng->Below(sizes.size())]);
    drawn.kind.push_back(static_cast<std::int32_t>(rng->Below(drawn.kinds)));
    for (std::size_t type = 0; type < types; ++type) {
      drawn.values.push_back(rng->Below(8) == 0 ? 0 : rng->Uniform(0.1, 1));
    }
  }
  drawn.on.assign(jobs, kWaits);
  drawn.partner.assign(jobs, -1);
  drawn.stay.assign(jobs, 1);
  for (std::size_t i = 0; i < drawn.kinds * drawn.kinds * types; ++i) {
    drawn.beside.push_back(rng->Below(6) == 0 ? 0 : rng->Uniform(0.3, 1));
  }
  return drawn;
}

// Sum and feasibility of an answer, from the instance alone.
double Checked(const Instance& instance, const PairAssigner& assigner) {
  std::vector<std::int32_t> room = instance.capacity;
  double sum = 0;
  for (std::size_t job = 0; job < instance.jobs(); ++job) {
    const std::int32_t type = assigner.types()[job];
    const std::int32_t other = assigner.partners()[job];
    if (other >= 0) {
      EXPECT_EQ(assigner.partners()[At(other)], static_cast<std::int32_t>(job));
      EXPECT_EQ(assigner.types()[At(other)], type);
      EXPECT_NE(type, kWaits);
      if (At(other) < job) continue;
    }
    if (type == kWaits) continue;
    const double value =
        other < 0 ? instance.alone(job, At(type)) : instance.together(job, At(other), At(type));
    EXPECT_GT(value, 0) << "job " << job;
    room[At(type)] -= instance.gpus[job];
    sum += value;
  }
  for (const std::int32_t left : room) EXPECT_GE(left, 0);
  return sum;
}

// By trying all.
double Search(const Instance& instance, std::vector<std::int32_t>* room, std::vector<bool>* done,
              std::size_t job) {
  while (job < instance.jobs() && (*done)[job]) ++job;
  if (job == instance.jobs()) return 0;
  double best = Search(instance, room, done, job + 1);
  for (std::size_t type = 0; type < instance.types(); ++type) {
    if ((*room)[type] < instance.gpus[job]) continue;
    (*room)[type] -= instance.gpus[job];
    if (const double value = instance.alone(job, type); value > 0) {
      best = std::max(best, value + Search(instance, room, done, job + 1));
    }
    for (std::size_t other = job + 1; other < instance.jobs(); ++other) {
      const double value = instance.together(job, other, type);
      if ((*done)[other] || !(value > 0)) continue;
      (*done)[other] = true;
      best = std::max(best, value + Search(instance, room, done, job + 1));
      (*done)[other] = false;
    }
    (*room)[type] += instance.gpus[job];
  }
  return best;
}
double Exhaustive(const Instance& instance) {
  std::vector<std::int32_t> room = instance.capacity;
  std::vector<bool> done(instance.jobs(), false);
  return Search(instance, &room, &done, 0);
}

// Of the largest sum there is, on average and at worst.
struct Gap {
  double mean = 0;
  double worst = 0;
};
Gap GapOver(std::uint64_t seed, int trials, const std::vector<int>& sizes, bool running) {
  Rng rng(seed, "pair-assignment");
  PairAssigner assigner;
  Gap gap;
  for (int trial = 0; trial < trials; ++trial) {
    Instance instance = Draw(&rng, 2 + rng.Below(6), 1 + rng.Below(3), sizes);
    if (running) {  // what was the answer runs, and staying is worth something
      assigner.Solve(instance.problem());
      for (std::size_t job = 0; job < instance.jobs(); ++job) {
        const std::int32_t type = assigner.types()[job];
        if (type == kWaits) continue;
        instance.on[job] = type;
        instance.partner[job] = assigner.partners()[job];
        instance.stay[job] = 1.1;
      }
      for (std::size_t job = 0; job < instance.jobs(); ++job) {
        for (std::size_t type = 0; type < instance.types(); ++type) {
          double& value = instance.values[job * instance.types() + type];
          value = std::min(1.0, value * rng.Uniform(0.8, 1.2));
          if (instance.on[job] == static_cast<std::int32_t>(type)) value *= 1.1;
        }
      }
    }
    assigner.Solve(instance.problem());
    const double sum = Checked(instance, assigner);
    EXPECT_NEAR(sum, assigner.value(), 1e-9) << "trial " << trial;
    const double best = Exhaustive(instance);
    EXPECT_LE(sum, best + 1e-9) << "trial " << trial;
    const double lacks = best > 0 ? 1 - sum / best : 0;
    gap.mean += lacks / trials;
    gap.worst = std::max(gap.worst, lacks);
  }
  return gap;
}

TEST(PairAssignerTest, IsNearTheBestOfAllForJobsOfOneGpu) {
  const Gap gap = GapOver(1, 1000, {1, 1}, false);
  EXPECT_LT(gap.mean, 0.01);
  EXPECT_LT(gap.worst, 0.15);
}

TEST(PairAssignerTest, IsNearTheBestOfAllWhereJobsRun) {
  const Gap gap = GapOver(2, 1000, {1, 1}, true);
  EXPECT_LT(gap.mean, 0.01);
  EXPECT_LT(gap.worst, 0.15);
}

TEST(PairAssignerTest, IsNearTheBestOfAllForJobsOfSeveralGpus) {
  const Gap gap = GapOver(3, 1000, {1, 2}, false);
  EXPECT_LT(gap.mean, 0.02);
  EXPECT_LT(gap.worst, 0.35);
}

// Without pairs it is the type assignment; with pairs never less.
TEST(PairAssignerTest, IsNeverBelowTheTypeAssignment) {
  Rng rng(4, "pair-assignment");
  PairAssigner assigner;
  TypeAssigner alone;
  for (int trial = 0; trial < 50; ++trial) {
    Instance instance = Draw(&rng, 60, 3, {1, 1});
    instance.capacity = {12, 12, 12};
    alone.Solve(instance.problem().alone);
    assigner.Solve(instance.problem());
    Checked(instance, assigner);
    EXPECT_GE(assigner.value(), alone.value() - 1e-9) << "trial " << trial;
    std::fill(instance.beside.begin(), instance.beside.end(), 0.0);
    assigner.Solve(instance.problem());
    EXPECT_NEAR(assigner.value(), alone.value(), 1e-9) << "trial " << trial;
    EXPECT_EQ(std::vector<std::int32_t>(assigner.types().begin(), assigner.types().end()),
              std::vector<std::int32_t>(alone.types().begin(), alone.types().end()));
  }
}

// Round after round, as values change and what was the answer runs.
TEST(PairAssignerTest, AnswersAreSoundFromWhatRuns) {
  Rng rng(6, "pair-assignment");
  PairAssigner assigner;
  Instance instance = Draw(&rng, 40, 3, {1, 1});
  instance.capacity = {6, 6, 6};
  const std::vector<double> worth = instance.values;
  for (int round = 0; round < 30; ++round) {
    assigner.Solve(instance.problem());
    EXPECT_NEAR(Checked(instance, assigner), assigner.value(), 1e-9) << "round " << round;
    instance.on.assign(assigner.types().begin(), assigner.types().end());
    instance.partner.assign(assigner.partners().begin(), assigner.partners().end());
    for (std::size_t job = 0; job < instance.jobs(); ++job) {
      instance.stay[job] = instance.on[job] == kWaits ? 1 : 1.05;
      for (std::size_t type = 0; type < instance.types(); ++type) {
        const bool here = instance.on[job] == static_cast<std::int32_t>(type);
        const std::size_t at = job * instance.types() + type;
        instance.values[at] = worth[at] * rng.Uniform(0.8, 1.2) * (here ? instance.stay[job] : 1);
      }
    }
  }
}

TEST(PairAssignerTest, ThoseByOrderGetInAndAreAlone) {
  Rng rng(5, "pair-assignment");
  PairAssigner assigner;
  for (int trial = 0; trial < 200; ++trial) {
    Instance instance = Draw(&rng, 8, 2, {1, 1});
    instance.capacity = {2, 2};
    std::fill(instance.values.begin(), instance.values.begin() + 4, 1e-3);
    instance.by_order = 2;
    assigner.Solve(instance.problem());
    Checked(instance, assigner);
    for (std::size_t job = 0; job < 2; ++job) {
      EXPECT_NE(assigner.types()[job], kWaits) << "trial " << trial;
      EXPECT_EQ(assigner.partners()[job], -1) << "trial " << trial;
    }
  }
}

}  // namespace
}  // namespace allot::pair_assignment_test
