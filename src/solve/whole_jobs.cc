// The second half of TypeAssigner: jobs of several GPUs that the transport problem left divided are
// made whole.

#include <algorithm>

#include "core/index.h"
#include "solve/type_assignment.h"

namespace allot {
namespace {

constexpr int kPasses = 4;
constexpr std::size_t kMostTries = 256;  // of a pass

}  // namespace

void TypeAssigner::Occupy(std::size_t job, std::int32_t type) {
  const std::int32_t gpus = problem_.gpus[job];
  const auto number = static_cast<std::int32_t>(job);
  std::int32_t& now = type_[job];
  if (now >= 0) {
    std::vector<std::int32_t>& listed = jobs_[At(now)];
    listed.erase(std::find(listed.begin(), listed.end(), number));
    room_[At(now)] += gpus;
    value_ -= Value(job, At(now));
  }
  now = type;
  if (now < 0) return;
  jobs_[At(now)].push_back(number);
  room_[At(now)] -= gpus;
  value_ += Value(job, At(now));
}

void TypeAssigner::MakeWhole() {
  const std::size_t types = types_count();
  const std::size_t jobs = problem_.gpus.size();
  for (auto& listed : jobs_) listed.clear();
  room_.assign(problem_.capacity.begin(), problem_.capacity.end());
  value_ = 0;
  divided_.clear();
  for (std::size_t job = 0; job < jobs; ++job) {
    const std::int32_t whole_on = type_[job];
    type_[job] = kWaits;
    if (whole_on >= 0) {
      Occupy(job, whole_on);
      continue;
    }
    for (std::size_t type = 0; type < types; ++type) {
      if (Flow(job, type) == 0) continue;
      divided_.push_back(static_cast<std::int32_t>(job));
      break;
    }
  }
  // By price, what a job could gain at best.
  surplus_.assign(jobs, 0);
  for (std::size_t job = 0; job < jobs; ++job) {
    double best = job < problem_.by_order ? kNone : 0;
    for (std::size_t type = 0; type < types; ++type) {
      if (Allowed(job, type)) {
        best = std::max(best, Value(job, type) - price_[type] * problem_.gpus[job]);
      }
    }
    surplus_[job] = best;
  }
  for (const std::int32_t job : divided_) PutBestPlace(At(job));
  FillRooms();
  Improve();
}

// On the type where that is worth the most, whoever must leave counted.
bool TypeAssigner::PutBestPlace(std::size_t job) {
  double best = job < problem_.by_order ? kNone : kEqual * scale_;
  std::int32_t best_type = -1;
  for (std::size_t type = 0; type < types_count(); ++type) {
    if (!Allowed(job, type)) continue;
    const double gain = Consider(job, type);
    if (gain <= best) continue;
    best = gain;
    best_type = static_cast<std::int32_t>(type);
  }
  if (best_type < 0) return false;
  Exchange(job, At(best_type));
  return true;
}

// Who leaves the type so that the job has room there, into chosen_; what the sum gains, kNone: it
// cannot be. Those leave that lose least per GPU, each to the best type with room or to wait; or
// one large enough, if that is better.
double TypeAssigner::Consider(std::size_t job, std::size_t type) {
  chosen_.clear();
  spare_ = room_;
  const std::int32_t now = type_[job];
  if (now >= 0) spare_[At(now)] += problem_.gpus[job];
  const double own = Value(job, type) - (now >= 0 ? Value(job, At(now)) : 0);
  const std::int32_t missing = problem_.gpus[job] - spare_[type];
  if (missing <= 0) return own;
  // Where a job that leaves goes now.
  const auto leave = [&](std::int32_t other) {
    const bool earlier = At(other) < problem_.by_order && (now >= 0 || At(other) < job);
    Leaver result{earlier ? -kNone : Value(At(other), type), other, kWaits};
    for (std::size_t to = 0; to < types_count(); ++to) {
      if (to == type || spare_[to] < problem_.gpus[At(other)] || !Allowed(At(other), to)) continue;
      const double loss = Value(At(other), type) - Value(At(other), to);
      if (loss < result.loss) result = {loss, other, static_cast<std::int32_t>(to)};
    }
    return result;
  };
  leavers_.clear();
  Leaver alone{-kNone, -1, kWaits};  // enough by itself
  for (const std::int32_t other : jobs_[type]) {
    if (At(other) == job) continue;
    Leaver one = leave(other);
    if (one.loss == -kNone) continue;
    if (problem_.gpus[At(other)] >= missing && one.loss < alone.loss) alone = one;
    one.loss /= problem_.gpus[At(other)];
    leavers_.push_back(one);
  }
  std::sort(leavers_.begin(), leavers_.end(), [](const Leaver& a, const Leaver& b) {
    return a.loss != b.loss ? a.loss < b.loss : a.job > b.job;
  });
  std::int32_t freed = 0;
  double lost = 0;
  for (const Leaver& candidate : leavers_) {
    if (freed >= missing) break;
    const Leaver one = leave(candidate.job);  // others have taken room since
    if (one.loss == -kNone) continue;
    if (one.to >= 0) spare_[At(one.to)] -= problem_.gpus[At(one.job)];
    freed += problem_.gpus[At(one.job)];
    lost += one.loss;
    chosen_.push_back(one);
  }
  // Whom nobody needs to leave after all.
  for (std::size_t i = chosen_.size(); i-- > 0;) {
    const std::int32_t gpus = problem_.gpus[At(chosen_[i].job)];
    if (freed - gpus < missing || chosen_[i].loss < 0) continue;
    freed -= gpus;
    lost -= chosen_[i].loss;
    chosen_.erase(chosen_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  if (alone.job >= 0 && (freed < missing || alone.loss < lost)) {
    chosen_.assign(1, alone);
    return own - alone.loss;
  }
  return freed < missing ? kNone : own - lost;
}

void TypeAssigner::Exchange(std::size_t job, std::size_t type) {
  Consider(job, type);
  Occupy(job, kWaits);
  for (const Leaver& leaver : chosen_) Occupy(At(leaver.job), kWaits);
  for (const Leaver& leaver : chosen_) {
    if (leaver.to >= 0) Occupy(At(leaver.job), leaver.to);
  }
  Occupy(job, static_cast<std::int32_t>(type));
}

// Those who wait, on what is free.
void TypeAssigner::FillRooms() {
  if (std::all_of(room_.begin(), room_.end(), [](std::int32_t room) { return room == 0; })) return;
  tries_.clear();
  for (std::size_t job = 0; job < type_.size(); ++job) {
    if (type_[job] != kWaits) continue;
    // By order, then by what they are worth.
    const double before = job < problem_.by_order ? kNone : -surplus_[job] / problem_.gpus[job];
    tries_.emplace_back(before, job);
  }
  std::sort(tries_.begin(), tries_.end());
  for (const auto& [before, job] : tries_) {
    std::int32_t best = -1;
    for (std::size_t type = 0; type < types_count(); ++type) {
      if (!Allowed(job, type) || room_[type] < problem_.gpus[job]) continue;
      if (best < 0 || Value(job, type) > Value(job, At(best)))
        best = static_cast<std::int32_t>(type);
    }
    if (best >= 0) Occupy(job, best);
  }
}

// Exchanges, until none of those gains that the prices leave open: an answer that has a job on a
// type is worth at most the bound less what the job's surplus there lacks of its best.
void TypeAssigner::Improve() {
  const double least = kEqual * scale_;
  for (int pass = 0; pass < kPasses; ++pass) {
    const double gap = bound_ - value_;
    if (gap <= least * static_cast<double>(type_.size())) return;
    tries_.clear();
    for (std::size_t job = 0; job < type_.size(); ++job) {
      for (std::size_t type = 0; type < types_count(); ++type) {
        if (!Allowed(job, type) || type_[job] == static_cast<std::int32_t>(type)) continue;
        if (type_[job] == kWaits && job < problem_.by_order) continue;
        const double lacks = surplus_[job] - (Value(job, type) - price_[type] * problem_.gpus[job]);
        if (lacks < gap) tries_.emplace_back(lacks, job * types_count() + type);
      }
    }
    std::sort(tries_.begin(), tries_.end());
    if (tries_.size() > kMostTries) tries_.resize(kMostTries);
    bool changed = false;
    for (const auto& [lacks, at] : tries_) {
      const std::size_t job = at / types_count();
      const std::size_t type = at % types_count();
      if (type_[job] == static_cast<std::int32_t>(type) || Consider(job, type) <= least) continue;
      Exchange(job, type);
      changed = true;
    }
    FillRooms();
    if (!changed) return;
  }
}

}  // namespace allot
