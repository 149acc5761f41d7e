#include "solve/multiple_choice.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/check.h"
#include "core/error.h"
#include "core/index.h"
#include "solve/choice_prices.h"

namespace allot {
namespace {

constexpr std::int32_t kNothing = -1;

void CheckOptions(const MultipleChoiceProblem& problem) {
  if (problem.capacity.empty() || problem.capacity.size() > kMostChoiceTypes) {
    throw DataError("a choice of options is over one to {} GPU types, got {}", kMostChoiceTypes,
                    problem.capacity.size());
  }
  for (std::size_t job = 0; job < problem.jobs(); ++job) {
    for (const ChoiceOption& option : problem.of(job)) {
      const bool known = option.type >= 0 && At(option.type) < problem.capacity.size();
      if (known && option.gpus > 0 && std::isfinite(option.gain)) continue;
      throw DataError(
          "an option has a GPU type below {}, at least one GPU and a finite gain, got type {}, {} "
          "GPUs, gain {} (job {})",
          problem.capacity.size(), option.type, option.gpus, option.gain, job);
    }
  }
}

// GPUs by type, used more than in the incumbent, of solutions that keep to the capacities: equally
// many bits for each type, enough for the largest capacity where 64 of them are.
class Difference {
 public:
  explicit Difference(const std::vector<std::int32_t>& capacity) {
    const std::int32_t most = std::max(*std::max_element(capacity.begin(), capacity.end()), 0);
    const auto needed = At(std::bit_width(static_cast<std::uint32_t>(most))) + 1;
    bits_ = std::min(64 / capacity.size(), needed);
    narrow_ = bits_ < needed;
    bias_ = std::int64_t{1} << (bits_ - 1);
    for (std::size_t t = 0; t < capacity.size(); ++t) {
      none_ |= static_cast<std::uint64_t>(bias_) << bits_ * t;
    }
  }
  bool narrow() const { return narrow_; }  // what does not fit may have been a solution
  std::uint64_t none() const { return none_; }
  int Of(std::uint64_t packed, std::size_t type) const {
    const std::uint64_t mask = (std::uint64_t{1} << bits_) - 1;
    return static_cast<int>(static_cast<std::int64_t>((packed >> bits_ * type) & mask) - bias_);
  }
  // False: it does not fit.
  bool Add(std::size_t type, int gpus, std::uint64_t* packed) const {
    const std::int64_t sum = std::int64_t{1} * Of(*packed, type) + gpus;
    if (sum < -bias_ || sum >= bias_) return false;
    *packed += static_cast<std::uint64_t>(static_cast<std::int64_t>(gpus)) << bits_ * type;
    return true;
  }

 private:
  std::size_t bits_ = 0;
  bool narrow_ = false;
  std::int64_t bias_ = 0;
  std::uint64_t none_ = 0;
};

// A partial solution of the enumeration.
struct Label {
  std::uint64_t difference;
  double shortfall;
  std::int32_t before;  // label of the layer before
  std::int32_t ranked;  // of the layer's job
};

// What an enumeration takes most memory for. Kept from one problem to the next: pages that are new
// at every decision cost much of its time.
struct ChoiceMemory {
  static constexpr std::size_t kKept = 2'000'000;  // labels
  std::vector<Label> labels;
  std::vector<std::int32_t> table;

  void Trim() {
    if (labels.capacity() > kKept) labels = {};
    if (table.capacity() > 4 * kKept) table = {};
  }
};

class ChoiceSolver {
 public:
  ChoiceSolver(const MultipleChoiceProblem& problem, double tolerance, std::size_t most_labels,
               ChoiceMemory* memory)
      : problem_(problem),
        types_(problem.capacity.size()),
        difference_(problem.capacity),
        tolerance_(tolerance),
        most_labels_(most_labels),
        labels_(memory->labels),
        table_(memory->table) {}

  MultipleChoiceAnswer Solve() {
    const ChoicePrices prices = FindChoicePrices(problem_);
    price_ = prices.price;
    bound_ = prices.bound;
    RankOptions();
    FindIncumbent();
    bool complete = true;
    double within = std::max(accepted(), 1e-4 * worst_ / static_cast<double>(problem_.jobs() + 1));
    while (off_ > accepted() && complete) {
      const double limit = std::min(within, off_);
      complete = Enumerate(limit);
      // All that falls short by at most the limit was looked at.
      if (complete && (off_ <= limit || within >= off_)) break;
      within *= 3;
    }
    MultipleChoiceAnswer answer;
    answer.chosen = chosen_;
    for (std::size_t job = 0; job < problem_.jobs(); ++job) {
      if (chosen_[job] >= 0) answer.gain += problem_.of(job)[At(chosen_[job])].gain;
    }
    // Whoever is within the tolerance needs no enumeration.
    answer.proved = off_ <= accepted() || (complete && !left_out_);
    answer.bound = answer.proved ? answer.gain + (off_ <= accepted() ? off_ : 0) : bound_;
    answer.prices = std::move(price_);
    return answer;
  }

 private:
  // What an option falls short of its job's best at the prices; waiting is an option.
  struct Ranked {
    double shortfall;
    std::int32_t option;
    std::int32_t type;
    std::int32_t gpus;
  };
  double accepted() const { return tolerance_ * std::max(bound_, 1e-300); }

  void RankOptions() {
    ranked_.reserve(problem_.options.size() + problem_.jobs());
    first_.assign(1, 0);
    for (std::size_t job = 0; job < problem_.jobs(); ++job) {
      const auto options = problem_.of(job);
      const std::size_t begin = ranked_.size();
      ranked_.push_back({0, kNothing, 0, 0});
      double best = 0;
      for (std::size_t i = 0; i < options.size(); ++i) {
        const ChoiceOption& o = options[i];
        if (!(o.gain > 0) || o.gpus > problem_.capacity[At(o.type)]) continue;
        const double worth = o.gain - price_[At(o.type)] * o.gpus;
        best = std::max(best, worth);
        ranked_.push_back({worth, static_cast<std::int32_t>(i), o.type, o.gpus});
      }
      for (std::size_t i = begin; i < ranked_.size(); ++i) {
        ranked_[i].shortfall = best - ranked_[i].shortfall;
      }
      std::sort(ranked_.begin() + static_cast<std::ptrdiff_t>(begin), ranked_.end(),
                [](const Ranked& a, const Ranked& b) {
                  if (a.shortfall != b.shortfall) return a.shortfall < b.shortfall;
                  return a.option < b.option;
                });
      worst_ += best;
      first_.push_back(ranked_.size());
    }
  }
  std::span<const Ranked> of(std::size_t job) const {
    return std::span(ranked_).subspan(first_[job], first_[job + 1] - first_[job]);
  }

  // Who has most to lose first: its best option that still fits. Then whoever gains most takes what
  // is left, alone and, where GPUs are left, by pairs.
  void FindIncumbent() {
    room_ = problem_.capacity;
    chosen_at_.assign(problem_.jobs(), 0);
    std::vector<std::size_t> order(problem_.jobs());
    std::iota(order.begin(), order.end(), 0);
    std::vector<double> loses(problem_.jobs(), 0);
    for (const std::size_t job : order) {
      loses[job] = of(job).size() > 1 ? of(job)[1].shortfall : 0;
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return loses[a] > loses[b]; });
    for (const std::size_t job : order) {
      const auto options = of(job);
      std::size_t at = 0;
      while (options[at].gpus > room_[At(options[at].type)]) ++at;
      Take(job, at);
    }
    for (int pass = 0; pass < 3; ++pass) {
      bool better = false;
      for (const std::size_t job : order) better = TakeBetter(job) || better;
      if (!better) break;
    }
    off_ = Off();
    Publish();
  }
  void Take(std::size_t job, std::size_t at) {
    chosen_at_[job] = static_cast<std::int32_t>(at);
    room_[At(of(job)[at].type)] -= of(job)[at].gpus;
  }
  bool TakeBetter(std::size_t job) {
    const auto options = of(job);
    const std::size_t before = At(chosen_at_[job]);
    room_[At(options[before].type)] += options[before].gpus;
    const auto gain = [&](std::size_t i) {
      return options[i].option < 0 ? 0 : problem_.of(job)[At(options[i].option)].gain;
    };
    std::size_t best = before;
    for (std::size_t i = 0; i < options.size(); ++i) {
      if (options[i].gpus <= room_[At(options[i].type)] && gain(i) > gain(best)) best = i;
    }
    Take(job, best);
    return best != before;
  }
  // What the incumbent is off the bound.
  double Off() const {
    double off = 0;
    for (std::size_t job = 0; job < problem_.jobs(); ++job) {
      off += of(job)[At(chosen_at_[job])].shortfall;
    }
    for (std::size_t t = 0; t < types_; ++t) off += price_[t] * room_[t];
    return off;
  }
  void Publish() {
    chosen_.resize(problem_.jobs());
    for (std::size_t job = 0; job < problem_.jobs(); ++job) {
      chosen_[job] = of(job)[At(chosen_at_[job])].option;
    }
  }

  struct Reach {
    std::array<int, kMostChoiceTypes> least{};
    std::array<int, kMostChoiceTypes> most{};
  };

  // All solutions that fall short by at most `limit`. False: too many.
  bool Enumerate(double limit) {
    core_.clear();
    for (std::size_t job = 0; job < problem_.jobs(); ++job) {
      const auto options = of(job);
      const auto near = static_cast<std::size_t>(
          std::upper_bound(options.begin(), options.end(), limit,
                           [](double most, const Ranked& r) { return most < r.shortfall; }) -
          options.begin());
      if (near > 1 || chosen_at_[job] != 0) core_.push_back({job, near});
    }
    // Jobs that hardly move come first: few labels until late, when what can still be reached rules
    // most out.
    std::stable_sort(core_.begin(), core_.end(), [&](const Core& a, const Core& b) {
      const double of_a = a.near > 1 ? of(a.job)[1].shortfall : limit;
      const double of_b = b.near > 1 ? of(b.job)[1].shortfall : limit;
      return of_a > of_b;
    });
    FindReach();
    labels_.assign(1, {difference_.none(), 0, -1, 0});
    layer_.assign(1, 0);
    std::size_t begin = 0;
    for (std::size_t at = 0; at < core_.size(); ++at) {
      const std::size_t end = labels_.size();
      layer_.push_back(end);
      OpenTable(end - begin);
      for (std::size_t label = begin; label < end; ++label) {
        if (!Extend(at, label, limit)) return false;
      }
      if (labels_.size() == end) return true;  // nothing within the limit
      begin = end;
    }
    std::size_t best = labels_.size();
    double best_off = std::min(off_, limit * (1 + 1e-12));
    for (std::size_t label = begin; label < labels_.size(); ++label) {
      double off = labels_[label].shortfall;
      for (std::size_t t = 0; t < types_; ++t) {
        off += price_[t] * (room_[t] - difference_.Of(labels_[label].difference, t));
      }
      if (off < best_off) {
        best_off = off;
        best = label;
      }
    }
    if (best == labels_.size()) return true;
    for (std::size_t at = core_.size(); at-- > 0;) {
      const Label& label = labels_[best];
      chosen_at_[core_[at].job] = label.ranked;
      best = At(label.before);
    }
    room_ = problem_.capacity;
    for (std::size_t job = 0; job < problem_.jobs(); ++job) {
      const Ranked& r = of(job)[At(chosen_at_[job])];
      room_[At(r.type)] -= r.gpus;
    }
    off_ = Off();
    Publish();
    return true;
  }

  // What the jobs from each place of the core on can add to the incumbent's use.
  void FindReach() {
    reach_.assign(core_.size() + 1, {});
    for (std::size_t at = core_.size(); at-- > 0;) {
      const auto options = of(core_[at].job);
      const Ranked& now = options[At(chosen_at_[core_[at].job])];
      for (std::size_t t = 0; t < types_; ++t) {
        const int held = At(now.type) == t ? now.gpus : 0;
        int least = std::numeric_limits<int>::max();
        int most = std::numeric_limits<int>::min();
        for (std::size_t i = 0; i < core_[at].near; ++i) {
          const int uses = At(options[i].type) == t ? options[i].gpus : 0;
          least = std::min(least, uses - held);
          most = std::max(most, uses - held);
        }
        reach_[at].least[t] = reach_[at + 1].least[t] + least;
        reach_[at].most[t] = reach_[at + 1].most[t] + most;
      }
    }
  }

  bool Extend(std::size_t at, std::size_t from, double limit) {
    const std::size_t job = core_[at].job;
    const auto options = of(job);
    const Ranked& now = options[At(chosen_at_[job])];
    const Label label = labels_[from];
    for (std::size_t i = 0; i < core_[at].near; ++i) {
      const double shortfall = label.shortfall + options[i].shortfall;
      if (shortfall > limit) break;
      std::uint64_t difference = label.difference;
      if (!difference_.Add(At(now.type), -now.gpus, &difference) ||
          !difference_.Add(At(options[i].type), options[i].gpus, &difference)) {
        left_out_ = difference_.narrow();
        continue;
      }
      if (!CanEnd(at + 1, difference, limit - shortfall)) continue;
      std::size_t slot = Slot(difference);
      if (table_[slot] < 0) {
        if (labels_.size() >= most_labels_) return false;
        table_[slot] = static_cast<std::int32_t>(labels_.size());
        labels_.push_back(
            {difference, shortfall, static_cast<std::int32_t>(from), static_cast<std::int32_t>(i)});
        if (2 * ++entries_ > table_.size()) Grow(layer_.back());
      } else if (Label& known = labels_[At(table_[slot])]; shortfall < known.shortfall) {
        known = {difference, shortfall, static_cast<std::int32_t>(from),
                 static_cast<std::int32_t>(i)};
      }
    }
    return true;
  }

  // Whether the jobs that follow can bring the use within the capacities, and leave no more GPUs
  // free than `spare` pays for.
  bool CanEnd(std::size_t at, std::uint64_t difference, double spare) const {
    for (std::size_t t = 0; t < types_; ++t) {
      const int left = room_[t] - difference_.Of(difference, t);
      if (left < reach_[at].least[t]) return false;
      if (const int free = left - reach_[at].most[t]; free > 0) spare -= price_[t] * free;
    }
    return spare >= -1e-12 * bound_;
  }

  // A hash table of the layer's labels.
  void OpenTable(std::size_t labels) {
    std::size_t size = 64;
    while (size < 4 * labels) size *= 2;
    table_.assign(size, -1);
    entries_ = 0;
  }
  void Grow(std::size_t begin) {
    table_.assign(2 * table_.size(), -1);
    for (std::size_t label = begin; label < labels_.size(); ++label) {
      table_[Slot(labels_[label].difference)] = static_cast<std::int32_t>(label);
    }
  }
  std::size_t Slot(std::uint64_t difference) const {
    const std::size_t mask = table_.size() - 1;
    const std::uint64_t mixed = (difference ^ (difference >> 32)) * 0x9e3779b97f4a7c15ULL;
    std::size_t slot = static_cast<std::size_t>(mixed >> 32) & mask;
    while (table_[slot] >= 0 && labels_[At(table_[slot])].difference != difference) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  struct Core {
    std::size_t job;
    std::size_t near;  // options within the limit
  };

  const MultipleChoiceProblem& problem_;
  std::size_t types_;
  Difference difference_;
  bool left_out_ = false;  // labels whose difference does not fit its bits
  double tolerance_;
  std::size_t most_labels_;
  std::vector<double> price_;
  double bound_ = 0;
  double worst_ = 0;  // sum of the best worths
  std::vector<Ranked> ranked_;
  std::vector<std::size_t> first_;
  std::vector<std::int32_t> room_;       // of the incumbent, by type
  std::vector<std::int32_t> chosen_at_;  // of the incumbent: place among the ranked
  std::vector<std::int32_t> chosen_;
  double off_ = 0;  // of the incumbent
  std::vector<Core> core_;
  std::vector<Reach> reach_;
  std::vector<Label>& labels_;
  std::vector<std::size_t> layer_;
  std::vector<std::int32_t>& table_;
  std::size_t entries_ = 0;
};

}  // namespace

MultipleChoiceAnswer SolveMultipleChoice(const MultipleChoiceProblem& problem, double tolerance,
                                         std::size_t most_labels) {
  CheckOptions(problem);
  static thread_local ChoiceMemory memory;
  MultipleChoiceAnswer answer = ChoiceSolver(problem, tolerance, most_labels, &memory).Solve();
  memory.Trim();
  return answer;
}

}  // namespace allot
