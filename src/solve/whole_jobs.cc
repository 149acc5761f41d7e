// The second half of TypeAssigner: jobs of several GPUs that the transport problem left divided are
// made whole.

#include <algorithm>

#include "core/index.h"
#include "solve/type_assignment.h"

namespace allot {
namespace {

constexpr int kPasses = 4;
constexpr std::size_t kMostTries = 256;  // of a pass

// Of equal losses, who is named last leaves.
template <typename One>
bool LosesMore(const One& a, const One& b) {
  return a.loss != b.loss ? a.loss > b.loss : a.job < b.job;
}

}  // namespace

void TypeAssigner::Occupy(std::size_t job, std::int32_t type) {
  ++moved_;
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
  ++moved_;  // lists of the problem before name its jobs
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

// Where a job that leaves goes with the room that is spare now. Of the first ones, so many stay.
TypeAssigner::Leaver TypeAssigner::Leave(std::size_t job, std::size_t type,
                                         std::size_t stay) const {
  const auto number = static_cast<std::int32_t>(job);
  Leaver result{job < stay ? -kNone : Value(job, type), number, kWaits};
  for (std::size_t to = 0; to < types_count(); ++to) {
    if (to == type || spare_[to] < problem_.gpus[job] || !Allowed(job, to)) continue;
    const double loss = Value(job, type) - Value(job, to);
    if (loss < result.loss) result = {loss, number, static_cast<std::int32_t>(to)};
  }
  return result;
}

const TypeAssigner::Leavers::One& TypeAssigner::Leavers::Next(std::size_t i) {
  for (; sorted <= i; ++sorted) {
    std::pop_heap(ones.begin(), ones.end() - static_cast<std::ptrdiff_t>(sorted), LosesMore<One>);
  }
  return ones[ones.size() - 1 - i];
}

// A list serves all who would come from the same type with as many GPUs, until somebody moves.
TypeAssigner::Leavers& TypeAssigner::LeaversOf(std::size_t type, std::int32_t now,
                                               std::int32_t gpus, std::size_t stay) {
  for (Leavers& known : leavers_) {
    if (known.moves == moved_ && known.type == type && known.now == now && known.gpus == gpus &&
        known.stay == stay) {
      return known;
    }
  }
  replaced_ = (replaced_ + 1) % kMostLists;
  Leavers& made = leavers_[replaced_];
  made.type = type;
  made.now = now;
  made.gpus = gpus;
  made.stay = stay;
  made.moves = moved_;
  List(&made);
  return made;
}

void TypeAssigner::List(Leavers* leavers) const {
  leavers->ones.clear();
  leavers->sorted = 0;
  leavers->alone.clear();
  for (const std::int32_t job : jobs_[leavers->type]) {
    const Leaver one = Leave(At(job), leavers->type, leavers->stay);
    if (one.loss == -kNone) continue;
    const std::int32_t gpus = problem_.gpus[At(job)];
    leavers->ones.push_back({one.loss / gpus, job});
    const auto same = std::find_if(leavers->alone.begin(), leavers->alone.end(),
                                   [&](const Leavers::Alone& other) { return other.gpus == gpus; });
    const auto place = static_cast<std::int32_t>(leavers->ones.size());
    if (same == leavers->alone.end()) {
      leavers->alone.push_back({gpus, place, one});
    } else if (one.loss < same->who.loss) {
      *same = {gpus, place, one};
    }
  }
  std::make_heap(leavers->ones.begin(), leavers->ones.end(), LosesMore<Leavers::One>);
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
  // Jobs by order stay, but for those behind one that would wait otherwise.
  const std::size_t stay = now >= 0 ? problem_.by_order : std::min(job, problem_.by_order);
  Leavers& leavers = LeaversOf(type, now, now >= 0 ? problem_.gpus[job] : 0, stay);
  const Leavers::Alone* alone = nullptr;  // enough by itself
  for (const Leavers::Alone& one : leavers.alone) {
    if (one.gpus < missing) continue;
    if (alone == nullptr || one.who.loss < alone->who.loss ||
        (one.who.loss == alone->who.loss && one.place < alone->place)) {
      alone = &one;
    }
  }
  std::int32_t freed = 0;
  double lost = 0;
  for (std::size_t i = 0; i < leavers.ones.size() && freed < missing; ++i) {
    const Leaver one = Leave(At(leavers.Next(i).job), type, stay);  // others have taken room since
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
  if (alone != nullptr && (freed < missing || alone->who.loss < lost)) {
    chosen_.assign(1, alone->who);
    return own - alone->who.loss;
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
