#include "solve/pair_assignment.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/check.h"
#include "core/index.h"

namespace allot {
namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();
constexpr float kNoGain = 0;
constexpr double kStep = 0.5;  // of the way to new prices
constexpr double kEqual = 1e-9;
constexpr int kMatchPasses = 3;

}  // namespace

void PairAssigner::Solve(const PairAssignmentProblem& problem) {
  problem_ = problem;
  const std::size_t jobs = problem.alone.gpus.size();
  ALLOT_CHECK_EQ(problem.kind.size(), jobs);
  ReadValues();
  best_.value = kNone;
  partner_.assign(jobs, -1);
  Assign(partner_);
  Part();
  Keep();
  FindCandidates();
  // Nobody can gain where all run where they are worth the most.
  double most = 0;
  for (std::size_t job = 0; job < jobs; ++job) {
    double best = 0;
    for (std::size_t type = 0; type < types_count(); ++type)
      best = std::max(best, Alone(job, type));
    most += best;
  }
  if (candidates_.size() < 2 || best_.value >= most * (1 - kEqual)) return;
  bool any = false;
  for (const std::int32_t job : candidates_) {
    const std::int32_t other = problem.partner[At(job)];
    if (other < 0 || other == job || problem.partner[At(other)] != job) continue;
    if (problem.on[At(job)] < 0) continue;
    if (Together(At(job), At(other), At(problem.on[At(job)])) == kNone) continue;
    partner_[At(job)] = other;
    any = true;
  }
  for (std::size_t job = 0; job < jobs; ++job) {  // both or none
    if (partner_[job] >= 0 && partner_[At(partner_[job])] < 0) partner_[job] = -1;
  }
  if (any) {
    Assign(partner_);
    price_.assign(assigner_.prices().begin(), assigner_.prices().end());
    Part();
    Join();
    Keep();
  } else {
    price_.assign(assigner_.prices().begin(), assigner_.prices().end());
  }
  const std::size_t turns =
      std::clamp(kPairs / (candidates_.size() * candidates_.size()), kFewestTurns, kMostTurns);
  for (std::size_t turn = 0; turn < turns; ++turn) {
    const std::vector<std::int32_t> before = partner_;
    FindSurplus();
    FindGains();
    Match(&partner_);
    if (partner_ == before) break;
    Assign(partner_);
    for (std::size_t type = 0; type < types_count(); ++type) {
      price_[type] += kStep * (assigner_.prices()[type] - price_[type]);
    }
    Part();
    Join();
    Keep();
  }
}

void PairAssigner::ReadValues() {
  const std::size_t types = types_count();
  alone_.assign(problem_.alone.values.begin(), problem_.alone.values.end());
  worth_ = alone_;
  for (std::size_t job = 0; job < problem_.on.size(); ++job) {
    if (problem_.on[job] < 0) continue;
    const std::size_t at = job * types + At(problem_.on[job]);
    worth_[at] /= problem_.stay[job];
    if (problem_.partner[job] >= 0) alone_[at] = worth_[at];
  }
}

double PairAssigner::Together(std::size_t a, std::size_t b, std::size_t type) const {
  const double of_a = worth_[a * types_count() + type] * Share(a, b, type);
  const double of_b = worth_[b * types_count() + type] * Share(b, a, type);
  if (!(of_a > 0) || !(of_b > 0)) return kNone;
  const bool stays = problem_.partner[a] == static_cast<std::int32_t>(b) &&
                     problem_.partner[b] == static_cast<std::int32_t>(a) &&
                     problem_.on[a] == static_cast<std::int32_t>(type);
  return stays ? of_a * problem_.stay[a] + of_b * problem_.stay[b] : of_a + of_b;
}

void PairAssigner::FindCandidates() {
  candidates_.clear();
  for (std::size_t job = problem_.alone.by_order; job < problem_.alone.gpus.size(); ++job) {
    candidates_.push_back(static_cast<std::int32_t>(job));
  }
  if (candidates_.size() > kMostJobs) DropCandidates();
  position_.assign(problem_.alone.gpus.size(), -1);
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    position_[At(candidates_[i])] = static_cast<std::int32_t>(i);
  }
}

void PairAssigner::DropCandidates() {
  std::vector<double> per_gpu(problem_.alone.gpus.size(), 0);
  for (std::size_t job = 0; job < per_gpu.size(); ++job) {
    for (std::size_t type = 0; type < types_count(); ++type) {
      per_gpu[job] = std::max(per_gpu[job], Alone(job, type) / problem_.alone.gpus[job]);
    }
  }
  const auto better = [&](std::int32_t a, std::int32_t b) {
    return per_gpu[At(a)] != per_gpu[At(b)] ? per_gpu[At(a)] > per_gpu[At(b)] : a < b;
  };
  std::nth_element(candidates_.begin(), candidates_.begin() + kMostJobs, candidates_.end(), better);
  candidates_.resize(kMostJobs);
  std::sort(candidates_.begin(), candidates_.end());
}

// The best types for these pairs and the other jobs alone.
void PairAssigner::Assign(const std::vector<std::int32_t>& partner) {
  const std::size_t types = types_count();
  unit_first_.clear();
  unit_gpus_.clear();
  unit_values_.clear();
  for (std::size_t job = 0; job < partner.size(); ++job) {
    const std::int32_t other = partner[job];
    if (other >= 0 && At(other) < job) continue;
    unit_first_.push_back(static_cast<std::int32_t>(job));
    unit_gpus_.push_back(problem_.alone.gpus[job]);
    for (std::size_t type = 0; type < types; ++type) {
      const double value = other < 0 ? Alone(job, type) : Together(job, At(other), type);
      unit_values_.push_back(std::max(0.0, value));
    }
  }
  // Jobs by order come first and are alone, so that units are in their order too.
  assigner_.Solve({problem_.alone.capacity, unit_gpus_, unit_values_, problem_.alone.by_order});
  answer_.partner.assign(partner.begin(), partner.end());
  answer_.type.assign(partner.size(), kWaits);
  answer_.value = assigner_.value();
  room_.assign(problem_.alone.capacity.begin(), problem_.alone.capacity.end());
  for (std::size_t unit = 0; unit < unit_first_.size(); ++unit) {
    const std::size_t job = At(unit_first_[unit]);
    const std::int32_t type = assigner_.types()[unit];
    const std::int32_t other = partner[job];
    answer_.type[job] = type;
    if (other >= 0) answer_.type[At(other)] = type;
    if (type >= 0) {
      room_[At(type)] -= unit_gpus_[unit];
    } else if (other >= 0) {
      answer_.partner[job] = answer_.partner[At(other)] = -1;
    }
  }
}

void PairAssigner::FindSurplus() {
  surplus_.assign(problem_.alone.gpus.size(), 0);
  for (const std::int32_t job : candidates_) {
    for (std::size_t type = 0; type < types_count(); ++type) {
      const double value = Alone(At(job), type);
      if (!(value > 0)) continue;
      surplus_[At(job)] =
          std::max(surplus_[At(job)], value - price_[type] * problem_.alone.gpus[At(job)]);
    }
  }
}

// What a pair is worth at these prices beyond both alone.
void PairAssigner::FindGains() {
  const std::size_t types = types_count();
  const std::size_t count = candidates_.size();
  gain_.assign(count * count, kNoGain);
  most_gain_.assign(count, kNoGain);
  own_part_.resize(problem_.kinds * types);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t a = At(candidates_[i]);
    const std::size_t kind = At(problem_.kind[a]);
    const std::int32_t gpus = problem_.alone.gpus[a];
    // What the first of a pair adds, whoever of a kind is the second.
    for (std::size_t at = 0; at < own_part_.size(); ++at) {
      const std::size_t type = at % types;
      const double part = worth_[a * types + type] * problem_.beside[kind * own_part_.size() + at];
      own_part_[at] = part > 0 ? part - price_[type] * gpus - surplus_[a] : kNone;
    }
    for (std::size_t j = i + 1; j < count; ++j) {
      const std::size_t b = At(candidates_[j]);
      if (problem_.alone.gpus[b] != gpus) continue;
      const std::size_t other = At(problem_.kind[b]);
      const double* const of_a = &own_part_[other * types];
      const double* const of_b = &problem_.beside[(other * problem_.kinds + kind) * types];
      double best = 0;
      for (std::size_t type = 0; type < types; ++type) {
        const double part = worth_[b * types + type] * of_b[type];
        if (part > 0) best = std::max(best, of_a[type] + part - surplus_[b]);
      }
      SetGain(i, j, best);
    }
    const std::int32_t beside = problem_.partner[a];
    if (beside < 0 || At(beside) == a || position_[At(beside)] < 0 || problem_.on[a] < 0) continue;
    const std::size_t type = At(problem_.on[a]);
    const double stays = Together(a, At(beside), type) - price_[type] * gpus - surplus_[a];
    const std::size_t j = At(position_[At(beside)]);
    SetGain(i, j, std::max(stays - surplus_[At(beside)], static_cast<double>(Gain(i, j))));
  }
}

void PairAssigner::SetGain(std::size_t i, std::size_t j, double gain) {
  if (!(gain > kEqual)) return;
  const auto rounded = static_cast<float>(gain);
  Gain(i, j) = Gain(j, i) = rounded;
  most_gain_[i] = std::max(most_gain_[i], rounded);
  most_gain_[j] = std::max(most_gain_[j], rounded);
}

// Whoever may gain most takes the best partner that is left; then exchanges.
void PairAssigner::Match(std::vector<std::int32_t>* partner) {
  const std::size_t count = candidates_.size();
  mate_.assign(count, -1);
  in_turn_.resize(count);
  std::iota(in_turn_.begin(), in_turn_.end(), 0);
  std::sort(in_turn_.begin(), in_turn_.end(), [&](std::int32_t i, std::int32_t j) {
    return most_gain_[At(i)] != most_gain_[At(j)] ? most_gain_[At(i)] > most_gain_[At(j)] : i < j;
  });
  for (const std::int32_t i : in_turn_) {
    if (mate_[At(i)] >= 0) continue;
    float best = kNoGain;
    std::int32_t taken = -1;
    for (std::size_t j = 0; j < count; ++j) {
      if (Gain(At(i), j) <= best || mate_[j] >= 0) continue;
      best = Gain(At(i), j);
      taken = static_cast<std::int32_t>(j);
    }
    if (taken < 0) continue;
    mate_[At(i)] = taken;
    mate_[At(taken)] = i;
  }
  Improve();
  partner->assign(problem_.alone.gpus.size(), -1);
  for (std::size_t i = 0; i < count; ++i) {
    if (mate_[i] >= 0) (*partner)[At(candidates_[i])] = candidates_[At(mate_[i])];
  }
}

// Of the two new pairs of an exchange that gains, one is better for somebody than what it has.
void PairAssigner::Improve() {
  const auto has = [this](std::size_t a) { return mate_[a] < 0 ? kNoGain : Gain(a, At(mate_[a])); };
  for (int pass = 0; pass < kMatchPasses; ++pass) {
    bool changed = false;
    for (std::size_t a = 0; a < mate_.size(); ++a) {
      float own = has(a);
      if (most_gain_[a] <= own) continue;
      for (std::size_t c = 0; c < mate_.size(); ++c) {
        if (Gain(a, c) <= own || !ExchangePartners(a, c)) continue;
        own = has(a);
        changed = true;
      }
    }
    if (!changed) return;
  }
}

// Puts two together, and those whom they leave, if that gains.
bool PairAssigner::ExchangePartners(std::size_t a, std::size_t c) {
  const std::int32_t b = mate_[a];
  const std::int32_t d = mate_[c];
  const float before = (b >= 0 ? Gain(a, At(b)) : kNoGain) + (d >= 0 ? Gain(c, At(d)) : kNoGain);
  const float left = b >= 0 && d >= 0 ? Gain(At(b), At(d)) : kNoGain;
  if (Gain(a, c) + left <= before + static_cast<float>(kEqual)) return false;
  mate_[a] = static_cast<std::int32_t>(c);
  mate_[c] = static_cast<std::int32_t>(a);
  if (b >= 0) mate_[At(b)] = left > kNoGain ? d : -1;
  if (d >= 0) mate_[At(d)] = left > kNoGain ? b : -1;
  return true;
}

// Free GPUs: jobs that wait, or one of a pair, go there while that gains.
void PairAssigner::Part() {
  const std::size_t jobs = answer_.type.size();
  while (true) {
    double most = kEqual;
    std::size_t goes = jobs;
    std::size_t to = 0;
    for (std::size_t type = 0; type < types_count(); ++type) {
      if (room_[type] == 0) continue;
      for (std::size_t job = 0; job < jobs; ++job) {
        if (room_[type] < problem_.alone.gpus[job] || !(Alone(job, type) > 0)) continue;
        const std::int32_t other = answer_.partner[job];
        double gain = 0;
        if (answer_.type[job] == kWaits) {
          gain = Alone(job, type);
        } else if (other >= 0) {
          const std::size_t now = At(answer_.type[job]);
          gain = Alone(job, type) + Alone(At(other), now) - Together(job, At(other), now);
        }
        if (gain <= most) continue;
        most = gain;
        goes = job;
        to = type;
      }
    }
    if (goes == jobs) return;
    const std::int32_t other = answer_.partner[goes];
    if (other >= 0) answer_.partner[At(other)] = answer_.partner[goes] = -1;
    answer_.type[goes] = static_cast<std::int32_t>(to);
    answer_.value += most;
    room_[to] -= problem_.alone.gpus[goes];
  }
}

// Jobs that wait run beside others where that gains.
void PairAssigner::Join() {
  hosts_.clear();
  for (const std::int32_t runs : candidates_) {
    if (answer_.type[At(runs)] != kWaits && answer_.partner[At(runs)] < 0) hosts_.push_back(runs);
  }
  for (const std::int32_t waits : candidates_) {
    const std::size_t job = At(waits);
    if (answer_.type[job] != kWaits) continue;
    double most = kEqual;
    std::int32_t beside = -1;
    for (const std::int32_t runs : hosts_) {
      const std::size_t other = At(runs);
      if (answer_.partner[other] >= 0) continue;
      if (problem_.alone.gpus[job] != problem_.alone.gpus[other]) continue;
      const std::size_t type = At(answer_.type[other]);
      const double gain = Together(job, other, type) - Alone(other, type);
      if (gain <= most) continue;
      most = gain;
      beside = runs;
    }
    if (beside < 0) continue;
    answer_.type[job] = answer_.type[At(beside)];
    answer_.partner[job] = beside;
    answer_.partner[At(beside)] = waits;
    answer_.value += most;
  }
}

void PairAssigner::Keep() {
  if (answer_.value <= best_.value * (1 + kEqual)) return;
  std::swap(best_, answer_);
}

}  // namespace allot
