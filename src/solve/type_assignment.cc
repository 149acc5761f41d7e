#include "solve/type_assignment.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/check.h"
#include "core/index.h"

namespace allot {
namespace {

// Attempts near the last prices:
constexpr std::size_t kFewJobs = 64;  // of fewer, all are inserted
constexpr std::int32_t kMostFailures = 6;
constexpr double kNearest = 1e-3;
constexpr double kFarthest = 4;
constexpr double kNearlyAll = 0.02;  // of the GPUs: prices ask for so many more or fewer
// Exchanges:
constexpr int kPasses = 4;
constexpr std::size_t kMostTries = 256;  // of a pass

// Of equal losses, who is named last leaves.
template <typename One>
bool LosesMore(const One& a, const One& b) {
  return a.loss != b.loss ? a.loss > b.loss : a.job < b.job;
}

// Of equal gains, who is named last moves.
bool Worse(const auto& a, const auto& b) {
  return a.gain != b.gain ? a.gain < b.gain : a.job < b.job;
}

}  // namespace

void TypeAssigner::Solve(const TypeAssignmentProblem& problem) {
  problem_ = problem;
  const std::size_t types = types_count();
  const std::size_t jobs = problem.gpus.size();
  ALLOT_CHECK_EQ(problem.values.size(), jobs * types);
  ReadValues();
  if (!InsertNearPrices()) {
    Clear();
    for (std::size_t job = 0; job < jobs; ++job) Insert(job);
    FindPrices();
  }
  type_.assign(jobs, kWaits);
  bound_ = 0;
  for (std::size_t job = 0; job < jobs; ++job) {
    for (std::size_t type = 0; type < types; ++type) {
      const std::int32_t gpus = Flow(job, type);
      if (gpus > 0) bound_ += gpus * ValuePerGpu(job, type);
      if (gpus == problem.gpus[job]) type_[job] = static_cast<std::int32_t>(type);
    }
  }
  value_ = bound_;
  if (!whole_) MakeWhole();
}

void TypeAssigner::ReadValues() {
  const std::size_t types = types_count();
  per_gpu_.resize(problem_.values.size());
  scale_ = 0;
  whole_ = true;
  const double* value = problem_.values.data();
  double* per_gpu = per_gpu_.data();
  for (const std::int32_t gpus : problem_.gpus) {
    whole_ = whole_ && gpus == 1;
    for (std::size_t type = 0; type < types; ++type) {
      *per_gpu = *value++ / gpus;
      scale_ = std::max(scale_, *per_gpu++);
    }
  }
}

// Nobody is anywhere.
void TypeAssigner::Clear() {
  const std::size_t types = types_count();
  const std::size_t jobs = problem_.gpus.size();
  room_.assign(problem_.capacity.begin(), problem_.capacity.end());
  flow_.assign(jobs * types, 0);
  offered_.assign(types, 0);
  jobs_.resize(types);
  moves_.resize(types * (types + 1));
  // Few jobs come to a type twice: room for that, so that smaller problems take no more memory.
  for (auto& listed : jobs_) {
    listed.clear();
    listed.reserve(2 * jobs);
  }
  for (auto& heap : moves_) {
    heap.clear();
    heap.reserve(2 * jobs);
  }
  leavers_.resize(kMostLists);
  for (Leavers& list : leavers_) {
    list.ones.reserve(jobs);
    list.alone.reserve(kUsualSizes);
  }
  uncertain_.reserve(jobs);
  wants_.reserve(jobs);
  parent_.reserve(types + 1);
  divided_.reserve(jobs);
  spare_.reserve(types);
  chosen_.reserve(jobs * types);
  tries_.reserve(jobs * types);
}

void TypeAssigner::Insert(std::size_t job) {
  std::size_t best = 0;
  std::int32_t rooms = 0;
  for (std::size_t type = 0; type < types_count(); ++type) {
    if (Value(job, type) > Value(job, best)) best = type;
    rooms += room_[type];
  }
  if (types_count() == 0 || !Allowed(job, best)) return;
  std::int32_t left = problem_.gpus[job];
  // Nobody need move: no path is worth more than the job's best type.
  if (room_[best] >= left) {
    room_[best] -= left;
    Put(job, best, left);
    return;
  }
  // Those by order get in whole or not at all.
  if (job < problem_.by_order && rooms < left) return;
  while (left > 0 && Augment(job, &left)) {
  }
}

// Along the best path; false when there is none that is worth it.
bool TypeAssigner::Augment(std::size_t job, std::int32_t* left) {
  FindPaths(job);
  const bool must = job < problem_.by_order;
  double worth = must ? kNone : kEqual * scale_;
  std::int32_t end = -1;
  std::int32_t out = -1;  // who leaves there; -1: a GPU is free
  for (std::size_t type = 0; type < types_count(); ++type) {
    if (distance_[type] == kNone) continue;
    Move leaves{0, -1};
    if (room_[type] == 0 && (must || !Best(type, types_count(), &leaves))) continue;
    if (distance_[type] + leaves.gain <= worth) continue;
    worth = distance_[type] + leaves.gain;
    end = static_cast<std::int32_t>(type);
    out = leaves.job;
  }
  if (end < 0) return false;
  std::int32_t gpus = std::min(*left, out < 0 ? room_[At(end)] : Flow(At(out), At(end)));
  for (std::int32_t at = end; previous_[At(at)] >= 0; at = previous_[At(at)]) {
    gpus = std::min(gpus, Flow(At(mover_[At(at)]), At(previous_[At(at)])));
  }
  if (out < 0) {
    room_[At(end)] -= gpus;
  } else {
    Flow(At(out), At(end)) -= gpus;
  }
  std::int32_t at = end;
  for (; previous_[At(at)] >= 0; at = previous_[At(at)]) {
    Flow(At(mover_[At(at)]), At(previous_[At(at)])) -= gpus;
    Put(At(mover_[At(at)]), At(at), gpus);
  }
  Put(job, At(at), gpus);
  *left -= gpus;
  return true;
}

// Longest paths from the job over full types (Bellman and Ford): there are no cycles that gain.
void TypeAssigner::FindPaths(std::size_t job) {
  const std::size_t types = types_count();
  distance_.assign(types, kNone);
  previous_.assign(types, -1);
  mover_.assign(types, -1);
  for (std::size_t type = 0; type < types; ++type) {
    if (Allowed(job, type)) distance_[type] = ValuePerGpu(job, type);
  }
  const auto passes = [this](std::int32_t type, std::size_t through) {
    for (; type >= 0; type = previous_[At(type)]) {
      if (At(type) == through) return true;
    }
    return false;
  };
  bool changed = true;
  for (std::size_t round = 1; round < types && changed; ++round) {
    changed = false;
    for (std::size_t from = 0; from < types; ++from) {
      if (room_[from] > 0 || distance_[from] == kNone) continue;
      for (std::size_t to = 0; to < types; ++to) {
        Move move{};
        if (to == from || !Best(from, to, &move)) continue;
        if (distance_[from] + move.gain <= distance_[to] + kEqual * scale_) continue;
        if (passes(static_cast<std::int32_t>(from), to)) continue;
        distance_[to] = distance_[from] + move.gain;
        previous_[to] = static_cast<std::int32_t>(from);
        mover_[to] = move.job;
        changed = true;
      }
    }
  }
}

// The best move between two types, or out of one; false: there is none.
bool TypeAssigner::Best(std::size_t from, std::size_t to, Move* best) {
  if (offered_[from] == 0) OfferAll(from);
  std::vector<Move>& heap = moves_[from * (types_count() + 1) + to];
  while (!heap.empty() && Flow(At(heap.front().job), from) == 0) {
    std::pop_heap(heap.begin(), heap.end(), Worse<Move, Move>);
    heap.pop_back();
  }
  if (heap.empty()) return false;
  *best = heap.front();
  return true;
}

void TypeAssigner::OfferAll(std::size_t type) {
  offered_[type] = 1;
  for (const std::int32_t job : jobs_[type]) Offer(At(job), type);
}

void TypeAssigner::Offer(std::size_t job, std::size_t type) {
  const auto add = [&](std::size_t to, double gain) {
    std::vector<Move>& heap = moves_[type * (types_count() + 1) + to];
    heap.push_back({gain, static_cast<std::int32_t>(job)});
    std::push_heap(heap.begin(), heap.end(), Worse<Move, Move>);
  };
  const double here = ValuePerGpu(job, type);
  for (std::size_t to = 0; to < types_count(); ++to) {
    if (to != type && Allowed(job, to)) add(to, ValuePerGpu(job, to) - here);
  }
  if (job >= problem_.by_order) add(types_count(), -here);
}

void TypeAssigner::Put(std::size_t job, std::size_t type, std::int32_t gpus) {
  std::int32_t& flow = Flow(job, type);
  if (flow == 0) {
    jobs_[type].push_back(static_cast<std::int32_t>(job));
    if (offered_[type] != 0) Offer(job, type);
  }
  flow += gpus;
}

// What the cheapest path from a type to a free GPU, or to somebody who waits, loses.
void TypeAssigner::FindPrices() {
  const std::size_t types = types_count();
  // Those by order never wait: their way out costs more than any path.
  const double most = 8 * static_cast<double>(types) * scale_;
  price_.assign(types, most);
  gain_.assign(types * types, kNone);
  for (std::size_t job = 0; job < problem_.gpus.size(); ++job) {
    for (std::size_t from = 0; from < types; ++from) {
      if (Flow(job, from) == 0) continue;
      const double here = ValuePerGpu(job, from);
      if (job >= problem_.by_order) price_[from] = std::min(price_[from], here);
      double* const gain = &gain_[from * types];
      for (std::size_t to = 0; to < types; ++to) {
        if (to != from && Allowed(job, to))
          gain[to] = std::max(gain[to], ValuePerGpu(job, to) - here);
      }
    }
  }
  for (std::size_t type = 0; type < types; ++type) {
    if (room_[type] > 0) {
      price_[type] = 0;
    } else if (problem_.capacity[type] == 0) {
      price_[type] = scale_;
    }
  }
  for (std::size_t round = 1; round < types; ++round) {
    for (std::size_t from = 0; from < types; ++from) {
      if (room_[from] > 0) continue;
      for (std::size_t to = 0; to < types; ++to) {
        const double gain = gain_[from * types + to];
        if (gain == kNone) continue;
        price_[from] = std::min(price_[from], std::max(0.0, price_[to] - gain));
      }
    }
  }
}

// ---- from the prices of the problem before: most jobs are far from indifferent at them and are
// placed at once, the others are inserted; whether that is the answer is then proved ----

bool TypeAssigner::InsertNearPrices() {
  const std::size_t jobs = problem_.gpus.size();
  if (problem_.by_order > 0 || price_.size() != types_count() || jobs < kFewJobs) return false;
  if (waits_ > 0) {
    --waits_;
    return false;
  }
  Clear();
  bool found = PlaceCertain(PriceFactor());
  if (found) {
    for (const std::int32_t job : uncertain_) Insert(At(job));
    FindPrices();
    found = IsOnlySolution();
    near_ = std::clamp(near_ * (uncertain_.size() > jobs / 8 ? 0.9 : 1.0), kNearest, kFarthest);
  }
  if (found) {
    failures_ = 0;
    return true;
  }
  near_ = std::clamp(near_ * 1.5, kNearest, kFarthest);
  waits_ = (1 << failures_) - 1;
  failures_ = std::min(failures_ + 1, kMostFailures);
  return false;
}

// Values of one problem may be a multiple of those of the one before: what the last prices are to
// be multiplied by so that jobs ask for as many GPUs as there are.
double TypeAssigner::PriceFactor() {
  const std::size_t types = types_count();
  std::int64_t capacity = 0;
  for (const std::int32_t gpus : problem_.capacity) capacity += gpus;
  wants_.clear();
  std::int64_t asked = 0;
  for (std::size_t job = 0; job < problem_.gpus.size(); ++job) {
    double most = 0;
    for (std::size_t type = 0; type < types; ++type) {
      // Where a GPU costs nothing, everybody wants it.
      const double want = price_[type] > 0 ? ValuePerGpu(job, type) / price_[type] : 1e300;
      if (Allowed(job, type)) most = std::max(most, want);
    }
    wants_.emplace_back(most, problem_.gpus[job]);
    if (most > 1) asked += problem_.gpus[job];
  }
  const double off = static_cast<double>(asked - capacity);
  if (std::abs(off) <= kNearlyAll * static_cast<double>(capacity)) return 1;
  // The price at which the last GPU is asked for.
  std::sort(wants_.begin(), wants_.end(), std::greater<>());
  for (const auto& [want, gpus] : wants_) {
    capacity -= gpus;
    if (capacity < 0) return want < 1e299 ? want : 1;
  }
  return 1;
}

// Those who lose much by any other choice go where the prices say; the others into uncertain_.
// False: that cannot be.
bool TypeAssigner::PlaceCertain(double factor) {
  const std::size_t types = types_count();
  double most = 0;
  for (double& price : price_) {
    price *= factor;
    most = std::max(most, price);
  }
  const double near = near_ * std::min(most, scale_);
  uncertain_.clear();
  for (std::size_t job = 0; job < problem_.gpus.size(); ++job) {
    double best = 0;
    double second = kNone;
    std::int32_t where = kWaits;
    for (std::size_t type = 0; type < types; ++type) {
      if (!Allowed(job, type)) continue;
      const double surplus = ValuePerGpu(job, type) - price_[type];
      if (surplus > best) {
        second = best;
        best = surplus;
        where = static_cast<std::int32_t>(type);
      } else {
        second = std::max(second, surplus);
      }
    }
    if (best - second <= near) {
      uncertain_.push_back(static_cast<std::int32_t>(job));
    } else if (where >= 0) {
      Flow(job, At(where)) = problem_.gpus[job];
      room_[At(where)] -= problem_.gpus[job];
    }
  }
  return std::all_of(room_.begin(), room_.end(), [](std::int32_t room) { return room >= 0; });
}

// By complementary slackness (Ahuja, Magnanti, Orlin, section 9.3): at the prices each job has only
// what is best for it. No other solution is as good if the choices between which jobs are
// indifferent form a forest over types and waiting, as GPUs could only be exchanged along a cycle.
// Choices that differ by less than the insertions could have overlooked count as equal.
bool TypeAssigner::IsOnlySolution() {
  const std::size_t types = types_count();
  const double equal = 8 * kEqual * scale_ * static_cast<double>(problem_.gpus.size());
  const std::size_t waiting = types;
  parent_.resize(types + 1);
  for (std::size_t node = 0; node <= types; ++node) parent_[node] = node;
  for (std::size_t type = 0; type < types; ++type) {
    // To leave a GPU free costs nothing.
    if (price_[type] <= equal) Join(type, waiting);
  }
  for (std::size_t job = 0; job < problem_.gpus.size(); ++job) {
    double best = 0;
    for (std::size_t type = 0; type < types; ++type) {
      if (Allowed(job, type)) best = std::max(best, ValuePerGpu(job, type) - price_[type]);
    }
    std::int32_t left = problem_.gpus[job];
    std::size_t first = best <= equal ? waiting : types + 1;
    for (std::size_t type = 0; type < types; ++type) {
      if (!Allowed(job, type) || problem_.capacity[type] == 0) continue;
      const std::int32_t gpus = Flow(job, type);
      left -= gpus;
      if (best - (ValuePerGpu(job, type) - price_[type]) > equal) {
        if (gpus > 0) return false;
      } else if (first > types) {
        first = type;
      } else if (!Join(first, type)) {
        return false;
      }
    }
    if (left > 0 && best > equal) return false;
  }
  return true;
}

// False: they were joined before.
bool TypeAssigner::Join(std::size_t a, std::size_t b) {
  while (parent_[a] != a) a = parent_[a];
  while (parent_[b] != b) b = parent_[b];
  parent_[a] = b;
  return a != b;
}

// ---- jobs of several GPUs that the transport problem left divided are made whole ----

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
