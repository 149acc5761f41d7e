// Rounds: who gets what in the round that begins.

#include <algorithm>
#include <bit>
#include <utility>

#include "core/error.h"
#include "core/index.h"
#include "core/strings.h"
#include "perf/catalogue.h"
#include "stages/rounds.h"

namespace allot {
namespace {

// One order may serve several clusters: a type that is not here must be known elsewhere.
void CheckIsGpuType(const std::string& name, std::vector<std::string> known) {
  const std::vector<std::string>& measured = Catalogue::Embedded().gpu_types();
  if (std::find(measured.begin(), measured.end(), name) != measured.end()) return;
  for (const std::string& type : measured) {
    if (std::find(known.begin(), known.end(), type) == known.end()) known.push_back(type);
  }
  throw UsageError("'order' must name GPU types of the cluster or the catalogue ({}), got '{}'",
                   Join(known, ", "), name);
}

}  // namespace

void Rounds::OrderTypes(const Observation& o) {
  const std::vector<std::string>& names = o.cluster->types();
  if (order_.size() != types_ || options_.shuffle) {
    order_.clear();
    for (const std::string& name : options_.order) {
      const auto found = std::find(names.begin(), names.end(), name);
      if (found == names.end()) {
        CheckIsGpuType(name, names);
        continue;
      }
      order_.push_back(static_cast<GpuTypeIndex>(found - names.begin()));
    }
    for (std::size_t t = 0; t < types_; ++t) {
      const auto type = static_cast<GpuTypeIndex>(t);
      if (std::find(order_.begin(), order_.end(), type) == order_.end()) order_.push_back(type);
    }
    if (random_) random_->Shuffle(&order_);
    rank_.resize(types_);
    for (std::size_t i = 0; i < types_; ++i) {
      rank_[At(order_[i])] = static_cast<std::int32_t>(i);
    }
  }
}

double Rounds::Priority(const Cell& cell, const Entry& entry, GpuTypeIndex type) const {
  constexpr double kNothingYet = 1e9;
  if (!entry.known || cell.share == 0) return 0;
  const Seconds all = received_[At(type)];
  const double part = all == 0 ? 0 : cell.received / all;
  return part > 0 ? cell.share / part : cell.share * kNothingYet;
}

bool Rounds::Leased(const Observation& o, const Entry& entry, GpuTypeIndex type) const {
  if (!(options_.lease > 0) || entry.on != type || entry.round < round_ - 1) return false;
  Seconds cost = o.restart_cost[At(jobs_[At(entry.job)].row)];
  if (entry.partner != kAlone) {
    cost = std::max(cost, o.restart_cost[At(jobs_[At(entry.partner)].row)]);
  }
  return o.now - entry.since < options_.lease * cost;
}

// Whether a job of it has a place.
bool Rounds::Served(const Entry& entry) const {
  return jobs_[At(entry.job)].taken == stamp_ ||
         (entry.partner != kAlone && jobs_[At(entry.partner)].taken == stamp_);
}

// Entries that could run on these types now, each with the types in its order of preference.
void Rounds::AddCandidates(const Observation& o, std::span<const GpuTypeIndex> types) {
  using Leftovers = RoundsOptions::Leftovers;
  const bool with_share_only = options_.leftovers != Leftovers::kInTurn;
  candidates_.clear();
  turns_.clear();
  for (std::size_t e = 0; e < entries_.size(); ++e) {
    const Entry& entry = entries_[e];
    if (Served(entry)) continue;
    const std::size_t first = candidates_.size();
    for (const GpuTypeIndex type : types) {
      const Cell& cell = CellOf(e, At(type));
      if (cell.configuration < 0 || left_[At(type)].gpus == 0) continue;
      const double priority = Priority(cell, entry, type);
      if (with_share_only && !(priority > 0)) continue;
      candidates_.push_back({priority > 0 && Leased(o, entry, type), priority, cell.deficit,
                             entry.known ? cell.share : 0.0, static_cast<std::int32_t>(e), type});
    }
    if (candidates_.size() > first) AddTurn(first);
  }
}

// A lease before all priorities, which are >= 0: their bits ascend as they do.
Rounds::Turn Rounds::TurnOf(std::int32_t candidate, std::int32_t end) const {
  const Candidate& c = candidates_[At(candidate)];
  constexpr std::uint64_t kLeased = std::uint64_t{1} << 63;
  return {std::bit_cast<std::uint64_t>(c.priority + 0.0) | (c.leased ? kLeased : 0), c.deficit,
          candidate, end};
}

bool Rounds::Before(const Turn& x, const Turn& y) const {
  if (x.key != y.key) return x.key > y.key;
  if (x.deficit != y.deficit) return x.deficit > y.deficit;
  const Candidate& a = candidates_[At(x.candidate)];
  const Candidate& b = candidates_[At(y.candidate)];
  if (a.share != b.share) return a.share > b.share;
  if (a.type != b.type) return rank_[At(a.type)] < rank_[At(b.type)];
  return a.entry < b.entry;
}

// Of the candidates from `first` on, which are those of one entry, few and put in order.
void Rounds::AddTurn(std::size_t first) {
  const auto end = static_cast<std::int32_t>(candidates_.size());
  for (std::size_t i = first + 1; i < candidates_.size(); ++i) {
    for (std::size_t k = i; k > first; --k) {
      const auto at = static_cast<std::int32_t>(k);
      if (!Before(TurnOf(at, end), TurnOf(at - 1, end))) break;
      std::swap(candidates_[k], candidates_[k - 1]);
    }
  }
  turns_.push_back(TurnOf(static_cast<std::int32_t>(first), end));
}

void Rounds::TakeCandidates(const Observation& o, std::span<const GpuTypeIndex> types,
                            std::vector<Given>* given) {
  const auto before = [this](const Turn& a, const Turn& b) { return Before(a, b); };
  const auto after = [&before](const Turn& a, const Turn& b) { return before(b, a); };
  // Whoever found no room has another turn where its next candidate comes.
  later_.clear();
  const auto try_one = [&](const Turn& turn) {
    const Candidate& candidate = candidates_[At(turn.candidate)];
    const bool room = left_[At(candidate.type)].gpus > 0;
    if (room && Take(o, candidate.entry, candidate.type, given)) return;
    if (turn.candidate + 1 == turn.end || Served(entries_[At(candidate.entry)])) return;
    later_.push_back(TurnOf(turn.candidate + 1, turn.end));
    std::push_heap(later_.begin(), later_.end(), after);
  };
  const auto try_later = [&](const Turn* until) {
    while (!later_.empty() && (until == nullptr || before(later_.front(), *until))) {
      std::pop_heap(later_.begin(), later_.end(), after);
      const Turn turn = later_.back();
      later_.pop_back();
      try_one(turn);
    }
  };
  const auto none_left = [&] {
    return std::all_of(types.begin(), types.end(),
                       [this](GpuTypeIndex type) { return left_[At(type)].gpus == 0; });
  };
  // Piece by piece: who comes late finds no GPU, and pairs are many.
  std::ptrdiff_t piece = 256;
  const auto all = static_cast<std::ptrdiff_t>(turns_.size());
  for (std::ptrdiff_t first = 0; first < all && !none_left(); first += piece, piece *= 2) {
    const auto begin = turns_.begin() + first;
    const auto end = turns_.begin() + std::min(all, first + piece);
    if (end != turns_.end()) std::nth_element(begin, end, turns_.end(), before);
    std::sort(begin, end, before);
    for (auto turn = begin; turn != end && !none_left(); ++turn) {
      if (!later_.empty()) try_later(&*turn);
      try_one(*turn);
    }
  }
  try_later(nullptr);
}

bool Rounds::Take(const Observation& o, std::int32_t e, GpuTypeIndex type,
                  std::vector<Given>* given) {
  Entry& entry = entries_[At(e)];
  const Cell& cell = CellOf(At(e), At(type));
  OfJob& job = jobs_[At(entry.job)];
  const bool paired = entry.partner != kAlone;
  OfJob* const partner = paired ? &jobs_[At(entry.partner)] : nullptr;
  if (job.taken == stamp_ || (paired && partner->taken == stamp_)) return false;
  const Configuration& c = (*o.table[At(job.row)])[cell.configuration];
  Resources& left = left_[At(type)];
  Resources demand = c.demand;
  const Configuration* other = nullptr;
  if (paired) {
    // One set of GPUs, but what else both need.
    other = &(*o.table[At(partner->row)])[cell.partner_configuration];
    if (other->demand.gpus != demand.gpus) return false;
    demand += {0, other->demand.cpus, other->demand.memory_mb};
  }
  if (!demand.FitsIn(left)) return false;
  left -= demand;
  job.taken = stamp_;
  if (paired) partner->taken = stamp_;
  if (options_.hold && !entry.known) return true;
  Ran ran{.entry = e, .type = type, .job = entry.job, .partner = entry.partner};
  ran.done = o.done_work[At(job.row)];
  ran.rate = c.rate;
  Given gives{job.row, cell.configuration, entry.known ? static_cast<float>(cell.share) : 0.0F};
  if (paired) {
    ran.partner_done = o.done_work[At(partner->row)];
    ran.partner_rate = other->rate;
    gives.partner_row = partner->row;
    gives.partner_configuration = cell.partner_configuration;
  }
  if (entry.on != type || entry.round < round_ - 1) entry.since = o.now;
  entry.on = type;
  entry.round = round_;
  ran_.push_back(ran);
  given->push_back(gives);
  return true;
}

// Types are filled one after the other, so that one can be left with free GPUs because those with a
// share of it run elsewhere: such a job makes room for one that waits, and takes the free ones.
void Rounds::MakeRoom(const Observation& o, std::vector<Given>* given) {
  for (std::size_t e = 0; e < entries_.size(); ++e) {
    const Entry& waits = entries_[e];
    if (Served(waits)) continue;
    std::size_t mover = ran_.size();
    GpuTypeIndex to = -1;
    double best = 0;
    for (std::size_t i = 0; i < ran_.size(); ++i) {
      const Ran& ran = ran_[i];
      const Cell& place = CellOf(e, At(ran.type));
      if (place.configuration < 0 || !(place.share > 0) || ran.partner != kAlone) continue;
      const ConfigurationTable& table = *o.table[At(jobs_[At(ran.job)].row)];
      const ConfigurationTable& its = *o.table[At(jobs_[At(waits.job)].row)];
      const Resources& given_up = table[(*given)[i].configuration].demand;
      if (!its[place.configuration].demand.FitsIn(given_up)) continue;
      for (std::size_t t = 0; t < types_; ++t) {
        const Cell& free = CellOf(At(ran.entry), t);
        const auto type = static_cast<GpuTypeIndex>(t);
        if (type == ran.type || free.configuration < 0 || !(free.share > 0)) continue;
        if (!table[free.configuration].demand.FitsIn(left_[t])) continue;
        const double gain =
            Priority(free, entries_[At(ran.entry)], type) + Priority(place, waits, ran.type);
        if (gain <= best) continue;
        best = gain;
        mover = i;
        to = type;
      }
    }
    if (mover == ran_.size()) continue;
    Ran& ran = ran_[mover];
    const GpuTypeIndex from = ran.type;
    const Cell& cell = CellOf(At(ran.entry), At(to));
    Entry& entry = entries_[At(ran.entry)];
    const ConfigurationTable& table = *o.table[At(jobs_[At(ran.job)].row)];
    left_[At(from)] += table[(*given)[mover].configuration].demand;
    left_[At(to)] -= table[cell.configuration].demand;
    ran.type = entry.on = to;
    ran.rate = table[cell.configuration].rate;
    entry.since = o.now;
    (*given)[mover].configuration = cell.configuration;
    (*given)[mover].share = static_cast<float>(cell.share);
    Take(o, static_cast<std::int32_t>(e), from, given);
  }
}

void Rounds::FillWhatIsLeft(const Observation& o, std::vector<Given>* given) {
  for (const JobIndex job : present_) {
    const OfJob& of = jobs_[At(job)];
    if (of.taken == stamp_) continue;
    const auto e = At(of.entry);
    const ConfigurationTable& table = *o.table[At(of.row)];
    double best = 0;
    const std::size_t first = candidates_.size();
    for (std::size_t t = 0; t < types_; ++t) {
      const Cell& cell = CellOf(e, t);
      if (cell.configuration < 0) continue;
      const auto type = static_cast<GpuTypeIndex>(t);
      const double rate = table[cell.configuration].rate;
      best = std::max(best, rate);
      candidates_.push_back({.leased = Leased(o, entries_[e], type),
                             .priority = rate,
                             .entry = of.entry,
                             .type = type});
    }
    for (std::size_t i = first; i < candidates_.size(); ++i) candidates_[i].priority /= best;
  }
  std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
    if (a.leased != b.leased) return a.leased;
    if (a.priority != b.priority) return a.priority > b.priority;
    return a.entry != b.entry ? a.entry < b.entry : a.type < b.type;
  });
  for (const Candidate& candidate : candidates_) Take(o, candidate.entry, candidate.type, given);
  candidates_.clear();
}

void Rounds::Fill(const Observation& o, std::vector<Given>* given) {
  ran_.clear();
  left_.clear();
  for (std::size_t t = 0; t < types_; ++t) {
    left_.push_back(o.cluster->total_of(static_cast<GpuTypeIndex>(t)));
  }
  // One queue over all types, or type by type.
  const std::size_t queue = options_.global ? types_ : 1;
  for (std::size_t first = 0; first < types_; first += queue) {
    const auto types = std::span<const GpuTypeIndex>(order_).subspan(first, queue);
    AddCandidates(o, types);
    TakeCandidates(o, types, given);
  }
  candidates_.clear();
  if (options_.leftovers == RoundsOptions::Leftovers::kBest) {
    MakeRoom(o, given);
    FillWhatIsLeft(o, given);
  }
  // Types have no GPU in common; on each, large ones go while whole nodes are free.
  const auto before = [&](const Given& a, const Given& b) {
    const Configuration& x = (*o.table[At(a.row)])[a.configuration];
    const Configuration& y = (*o.table[At(b.row)])[b.configuration];
    if (x.gpu_type != y.gpu_type) {
      return rank_[At(x.gpu_type)] < rank_[At(y.gpu_type)];
    }
    return x.demand.gpus > y.demand.gpus;
  };
  if (!std::is_sorted(given->begin(), given->end(), before)) {
    std::stable_sort(given->begin(), given->end(), before);
  }
}

}  // namespace allot
