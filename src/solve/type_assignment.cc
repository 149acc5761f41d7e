#include "solve/type_assignment.h"

#include <algorithm>

#include "core/check.h"
#include "core/index.h"

namespace allot {
namespace {

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

}  // namespace allot
